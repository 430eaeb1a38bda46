#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json with MXNet 1.9.1: numbers, shapes, types and refusals.

    python make_golden.py            needs mxnet==1.9.1 (CPU) and numpy 1.23

The numbers come from MXNet's native kernels (MXNET_MKLDNN_ENABLED=0), computed in one child process; a second child
computes them with oneDNN, and both must agree except where a case says `native_only` (oneDNN lacks the case or treats
special values differently).
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, '..', 'golden')


def u(*shape, low=-1.0, high=1.0, dtype='float32'):
    """Uniform numbers."""
    return dict(shape=shape, low=low, high=high, dtype=dtype)


def v(values, dtype='float32', shape=None):
    """These numbers."""
    return dict(values=values, dtype=dtype, shape=shape or (len(values),))


def conv(add, name, data, kernel, filters, groups=1, bias=True, **attrs):
    """Adds a convolution."""
    attrs = dict(kernel=kernel, num_filter=filters, **attrs)
    if groups != 1:
        attrs['num_group'] = groups
    if not bias:
        attrs['no_bias'] = True
    weight = (filters, data[1] // groups) + kernel
    add('Convolution', name, attrs, u(*data), u(*weight), *([u(filters)] if bias else []))


def ctc(add, name, data, label, data_lengths=None, label_lengths=None, **attrs):
    """Adds a loss of connectionist temporal classification; lengths are inputs where they are given."""
    lengths = [v(x) for x in [data_lengths, label_lengths] if x]
    if data_lengths:
        attrs['use_data_lengths'] = True
    if label_lengths:
        attrs['use_label_lengths'] = True
    add('CTCLoss', name, attrs, u(*data, low=-2, high=2), v(sum(label, []), shape=(len(label), len(label[0]))),
        *lengths)


def cases():
    """(operator, name, attributes, input specs, options); a spec is (shape, low, high[, dtype]) or a list of values."""
    out = []

    def add(op, name, attrs, *specs, **options):
        out.append((op, name, {k: str(v) for k, v in attrs.items()}, list(specs), options))

    special = [0.0, -0.0, 'inf', '-inf', 'nan', 1.0, -1.0, 0.001]

    # Convolution
    conv(add, 'plain', (2, 3, 6, 7), (3, 3), 4)
    conv(add, 'pad_stride', (1, 3, 9, 8), (3, 3), 4, stride=(2, 2), pad=(1, 1))
    conv(add, 'dilate', (1, 2, 9, 9), (3, 2), 3, dilate=(2, 3), pad=(2, 1))
    conv(add, 'groups', (2, 4, 5, 5), (3, 3), 6, groups=2)
    conv(add, 'depthwise', (1, 4, 6, 6), (3, 3), 8, groups=4, pad=(1, 1), bias=False)
    conv(add, 'one_by_one', (1, 5, 4, 4), (1, 1), 3, bias=False, stride=(2, 2))
    conv(add, 'one_axis', (2, 3, 12), (4,), 4, stride=(3,), dilate=(2,), pad=(2,))
    conv(add, 'three_axes', (1, 2, 4, 5, 6), (2, 3, 3), 3, pad=(0, 1, 2), stride=(1, 2, 1))
    conv(add, 'three_axes_groups', (1, 4, 3, 4, 4), (2, 2, 2), 4, groups=2, dilate=(1, 2, 1))
    conv(add, 'rectangular', (1, 2, 5, 11), (1, 7), 2, pad=(0, 3), stride=(1, 2))

    # BatchNorm
    def bn(name, data, channels, train=False, **attrs):
        c = (channels,)
        add('BatchNorm', name, attrs, u(*data, low=-2, high=3), u(*c, low=0.5, high=2), u(*c), u(*c),
            u(*c, low=0.1, high=2), train=train)
    bn('fix_gamma', (2, 3, 4, 5), 3)
    bn('free_gamma', (2, 3, 4, 5), 3, fix_gamma=False)
    bn('eps', (2, 3, 4), 3, fix_gamma=False, eps=0.1)
    bn('matrix', (4, 5), 5, fix_gamma=False, eps=2e-5)
    bn('last_axis', (2, 3, 4, 5), 5, fix_gamma=False, axis=-1)
    bn('axis_0', (3, 4), 3, fix_gamma=False, axis=0)
    bn('mean_var', (2, 3, 4, 5), 3, fix_gamma=False, output_mean_var=True)
    bn('train', (4, 3, 4, 5), 3, train=True, fix_gamma=False)
    bn('train_fix_gamma', (4, 3, 4, 5), 3, train=True)
    bn('train_mean_var', (4, 3, 2, 2), 3, train=True, fix_gamma=False, output_mean_var=True)
    bn('train_global', (4, 3, 2, 2), 3, train=True, fix_gamma=False, use_global_stats=True)

    for act in ['relu', 'sigmoid', 'tanh', 'softrelu', 'softsign']:
        add('Activation', act, dict(act_type=act), u(3, 7, low=-6, high=6))
        add('Activation', act + '_special', dict(act_type=act), v(special), native_only=True)

    # Pooling
    def pool(name, data, native_only=False, **attrs):
        add('Pooling', name, attrs, u(*data, low=-2, high=2), native_only=native_only)
    for kind in ['max', 'avg', 'sum', 'lp']:
        p = dict(p_value=2) if kind == 'lp' else {}
        pool(kind, (2, 3, 7, 8), kernel=(3, 2), stride=(2, 2), pool_type=kind, **p)
        pool(kind + '_pad', (1, 2, 7, 8), kernel=(3, 3), stride=(2, 3), pad=(1, 1), pool_type=kind, **p)
        pool(kind + '_full', (1, 2, 8, 8), kernel=(3, 3), stride=(2, 2), pool_type=kind, pooling_convention='full',
             native_only=True, **p)
        pool(kind + '_full_pad', (1, 2, 8, 7), kernel=(3, 3), stride=(2, 3), pad=(1, 1), pool_type=kind,
             pooling_convention='full', native_only=True, **p)
        pool(kind + '_empty_window', (1, 2, 5), kernel=(1,), stride=(3,), pool_type=kind, pooling_convention='full',
             native_only=True, **p)
        pool(kind + '_padding_window', (1, 2, 5), kernel=(1,), pad=(1,), pool_type=kind, count_include_pad=False,
             native_only=True, **p)
        pool(kind + '_global', (2, 3, 4, 5), global_pool=True, kernel=(2, 2), stride=(2, 2), pad=(1, 1),
             pool_type=kind, **p)
        pool(kind + '_one_axis', (2, 3, 9), kernel=(3,), stride=(2,), pad=(1,), pool_type=kind, **p)
        pool(kind + '_three_axes', (1, 2, 4, 5, 5), kernel=(2, 3, 2), stride=(1, 2, 2), pad=(0, 1, 1), pool_type=kind, **p)
        pool(kind + '_channels_last', (1, 5, 6, 3), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type=kind,
             layout='NHWC', **p)
    pool('lp1', (1, 2, 5, 5), kernel=(2, 2), pool_type='lp', p_value=1)
    pool('lp3', (1, 2, 5, 5), kernel=(2, 2), pool_type='lp', p_value=3)
    pool('avg_no_pad_count', (1, 2, 7, 8), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='avg',
         count_include_pad=False)
    pool('avg_no_pad_count_full', (1, 2, 8, 8), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='avg',
         count_include_pad=False, pooling_convention='full', native_only=True)
    pool('global_without_kernel', (2, 3, 4, 5), global_pool=True, pool_type='avg')
    pool('global_max_without_kernel', (2, 3, 4, 5), global_pool=True)
    pool('global_one_axis', (2, 3, 4), global_pool=True, pool_type='avg')

    # FullyConnected
    add('FullyConnected', 'rows', dict(num_hidden=4), u(3, 5), u(4, 5), u(4))
    add('FullyConnected', 'images', dict(num_hidden=4), u(2, 3, 2, 2), u(4, 12), u(4))
    add('FullyConnected', 'no_bias', dict(num_hidden=4, no_bias=True), u(3, 5), u(4, 5))
    add('FullyConnected', 'not_flat', dict(num_hidden=4, flatten=False), u(2, 3, 5), u(4, 5), u(4))
    add('FullyConnected', 'not_flat_no_bias', dict(num_hidden=3, flatten=False, no_bias=True), u(2, 3, 2, 5), u(3, 5))

    add('Flatten', 'images', {}, u(2, 3, 4, 2))
    add('Flatten', 'vector', {}, u(4))
    add('Concat', 'channels', dict(dim=1), u(2, 3, 2, 2), u(2, 1, 2, 2), u(2, 2, 2, 2))
    add('Concat', 'rows', dict(dim=0), u(2, 3), u(1, 3))
    add('Concat', 'last', dict(dim=-1), u(2, 3, 2), u(2, 3, 4))
    add('Concat', 'default', {}, u(2, 3), u(2, 3))

    add('LRN', 'alexnet', dict(nsize=5), u(1, 8, 3, 3, low=-20, high=20))
    add('LRN', 'strong', dict(nsize=3, alpha=0.5, beta=0.6, knorm=1), u(2, 5, 2, 3, low=-3, high=3))
    add('LRN', 'all_channels', dict(nsize=5, alpha=0.2), u(1, 5, 2, 2, low=-9, high=9))
    add('Dropout', 'inference', {}, u(3, 4))
    add('Dropout', 'axes', dict(axes=(1,), p=0.3), u(3, 4))

    add('SoftmaxOutput', 'rows', {}, u(3, 5, low=-4, high=4), v([0, 1, 2]))
    add('SoftmaxOutput', 'three_axes', {}, u(2, 3, 4, low=-4, high=4), v([0, 1, 2, 0, 1, 2], shape=(2, 3)))
    add('SoftmaxOutput', 'preserve_shape', dict(preserve_shape=True), u(2, 3, 4, low=-4, high=4),
        v([0, 1, 2, 0, 1, 2], shape=(2, 3)))
    add('SoftmaxOutput', 'multi_output', dict(multi_output=True), u(2, 3, 2, 2, low=-4, high=4),
        v([0, 1, 2, 0, 1, 2, 0, 1], shape=(2, 4)))
    add('SoftmaxOutput', 'train', {}, u(3, 5, low=-4, high=4), v([0, 1, 2]), train=True)
    add('SoftmaxOutput', 'large', {}, v([1e4, -1e4, 1e4, 0.0], shape=(1, 4)), v([0]))

    ctc(add, 'first', (7, 3, 5), [[2, 1, 0, 0], [3, 2, 2, 0], [1, 2, 1, 3]])
    ctc(add, 'last', (7, 3, 5), [[1, 0, -1, -1], [2, 1, 1, -1], [0, 1, 0, 2]], blank_label='last')
    ctc(add, 'data_lengths', (7, 2, 4), [[2, 1, 0], [3, 2, 2]], [4, 7])
    ctc(add, 'label_lengths', (6, 2, 4), [[1, 0, 1], [2, 1, 1]], None, [2, 3], blank_label='last')
    ctc(add, 'both_lengths', (6, 2, 4), [[1, 0, 1], [2, 1, 1]], [6, 3], [3, 2], blank_label='last')
    ctc(add, 'impossible', (3, 2, 4), [[1, 1, 1], [1, 2, 0]])
    ctc(add, 'too_short', (5, 2, 4), [[1, 2, 3], [1, 2, 0]], [2, 5])
    ctc(add, 'nothing_said', (3, 2, 4), [[0, 0], [1, 0]])

    add('log_softmax', 'rows', {}, u(3, 5, low=-4, high=4))
    add('log_softmax', 'axis_1', dict(axis=1), u(2, 3, 4, low=-4, high=4))
    add('log_softmax', 'temperature', dict(temperature=0.3), u(3, 5))
    add('log_softmax', 'large', {}, v([1000.0, -1000.0, 998.0], shape=(1, 3)))

    add('pick', 'rows', {}, u(3, 5), v([4, 0, 2]))
    add('pick', 'middle', dict(axis=1), u(2, 3, 4), v([0, 1, 2, 0, 2, 1, 0, 1], 'int32', (2, 4)))
    add('pick', 'kept', dict(axis=0, keepdims=True), u(4, 3), v([3, 0, 1], shape=(1, 3)))
    add('pick', 'kept_in_index', {}, u(3, 5), v([3, 0, 1], shape=(3, 1)))
    add('pick', 'clipped', {}, u(4, 3), v([-2, 7, 1.9, 2]))
    add('pick', 'around', dict(mode='wrap'), u(4, 3), v([-1, 7, -4, 2]))
    add('pick', 'int32', {}, u(3, 5, low=-9, high=9, dtype='int32'), v([4, 0, 2], 'int32'))
    add('softmax', 'rows', {}, u(3, 5, low=-4, high=4))
    add('softmax', 'axis_1', dict(axis=1), u(2, 3, 4, low=-4, high=4))
    add('softmax', 'axis_0', dict(axis=0), u(4, 3, low=-4, high=4))
    add('softmax', 'temperature', dict(temperature=0.3), u(3, 5))
    add('softmax', 'length', dict(use_length=True), u(3, 5, low=-4, high=4), v([5, 2, 1], 'int32'))
    add('softmax', 'length_axis', dict(use_length=True, axis=1), u(2, 4, 3, low=-4, high=4),
        v([1, 2, 3, 4, 1, 2], 'int64', (2, 3)))

    # Elementwise
    pairs = [('elemwise_' + n) for n in ['add', 'sub', 'mul', 'div']]
    for op in pairs:
        add(op, 'matrix', {}, u(3, 4), u(3, 4, low=0.5, high=2))
        add(op, 'special', {}, v(special), v([1.0] * 8), native_only=True)
        add(op, 'int32', {}, u(3, 4, low=-20, high=20, dtype='int32'), u(3, 4, low=1, high=9, dtype='int32'))
        add(op, 'float64', {}, u(3, 4, dtype='float64'), u(3, 4, low=0.5, high=2, dtype='float64'))
    add('_grad_add', 'matrix', {}, u(3, 4), u(3, 4, low=0.5, high=2))
    add('_grad_add', 'special', {}, v(special), v([1.0] * 8), native_only=True)
    add('_grad_add', 'int32', {}, u(3, 4, low=-20, high=20, dtype='int32'), u(3, 4, low=1, high=9, dtype='int32'))
    add('_grad_add', 'float64', {}, u(3, 4, dtype='float64'), u(3, 4, low=0.5, high=2, dtype='float64'))
    for op in [('broadcast_' + n) for n in ['add', 'sub', 'mul', 'div']]:
        add(op, 'row', {}, u(3, 4), u(1, 4, low=0.5, high=2))
        add(op, 'column', {}, u(3, 1), u(3, 4, low=0.5, high=2))
        add(op, 'both', {}, u(2, 1, 3), u(1, 4, 1, low=0.5, high=2))
        add(op, 'same', {}, u(2, 3), u(2, 3, low=0.5, high=2))
        add(op, 'int32', {}, u(3, 4, low=-20, high=20, dtype='int32'), u(1, 4, low=1, high=9, dtype='int32'))
    add('add_n', 'three', dict(num_args=3), u(3, 4), u(3, 4), u(3, 4))
    add('add_n', 'one', dict(num_args=1), u(3, 4))
    for op in ['relu', 'sigmoid', 'tanh', 'exp', 'square', 'abs', 'negative', '_copy', 'zeros_like', 'ones_like']:
        add(op, 'matrix', {}, u(3, 4, low=-4, high=4))
        add(op, 'special', {}, v(special), native_only=True)
        add(op, 'int32', {}, u(3, 4, low=-5, high=5, dtype='int32'))
    for op in ['log', 'sqrt']:
        add(op, 'matrix', {}, u(3, 4, low=0.01, high=9))
        add(op, 'special', {}, v(special), native_only=True)
        add(op, 'int32', {}, u(3, 4, low=1, high=99, dtype='int32'))
    add('clip', 'matrix', dict(a_min=-1, a_max=2.5), u(3, 4, low=-4, high=4))
    add('clip', 'special', dict(a_min=-1, a_max=2.5), v(special), native_only=True)
    add('clip', 'int32', dict(a_min=-1, a_max=2.5), u(3, 4, low=-5, high=5, dtype='int32'))
    for dtype in ['float16', 'float64', 'int32', 'int64', 'uint8', 'int8', 'bool']:
        add('Cast', 'to_' + dtype, dict(dtype=dtype), u(3, 4, low=0.0, high=9))
    add('Cast', 'from_int32', dict(dtype='float32'), u(3, 4, low=-9, high=9, dtype='int32'))
    add('Cast', 'narrow', dict(dtype='int8'), v([1, 127, 128, 255, 256, -129], 'int32'))
    add('Cast', 'halves', dict(dtype='int32'), v([0.5, 1.5, -0.5, -1.5, 2.99, -2.99]))
    for dtype in ['float16', 'float32']:
        add('amp_cast', 'to_' + dtype, dict(dtype=dtype), u(3, 4, low=0.0, high=9))
        add('amp_cast', 'integers_to_' + dtype, dict(dtype=dtype), u(3, 4, low=-9, high=9, dtype='int32'))
    add('amp_multicast', 'alike', dict(num_outputs=2), u(3, 4), u(2, 5))
    add('amp_multicast', 'widest', dict(num_outputs=2), u(3, 4), u(2, 5, dtype='float16'), native_only=True)
    add('amp_multicast', 'narrowest', dict(num_outputs=2, cast_narrow=True), u(3, 4), u(2, 5, dtype='float16'), native_only=True)
    for op in ['_plus_scalar', '_minus_scalar', '_rminus_scalar', '_mul_scalar', '_div_scalar', '_rdiv_scalar',
               '_power_scalar', '_maximum_scalar', '_minimum_scalar']:
        add(op, 'matrix', dict(scalar=0.7), u(3, 4, low=0.2, high=3))
        add(op, 'default', {}, u(5, low=0.2, high=3))
        add(op, 'special', dict(scalar=2), v(special), native_only=True)
        add(op, 'int32', dict(scalar=3), u(3, 4, low=1, high=9, dtype='int32'))
        add(op, 'float64', dict(scalar=0.1), u(3, 4, low=0.2, high=3, dtype='float64'))

    # Shapes
    for name, shape, attrs in [
        ('plain', (2, 3, 4), dict(shape=(4, 6))), ('infer', (2, 3, 4), dict(shape=(-1,))),
        ('copy', (2, 3, 4), dict(shape=(0, -1))), ('copy_2', (2, 3, 4), dict(shape=(4, 0, 2))),
        ('rest', (2, 3, 4), dict(shape=(2, -2))), ('rest_1', (2, 3, 4), dict(shape=(-2, 1, 1))),
        ('join', (2, 3, 4), dict(shape=(-3, 4))), ('join_2', (2, 3, 4, 5), dict(shape=(-3, -3))),
        ('join_rest', (2, 3, 4), dict(shape=(-3, -2))), ('join_0', (2, 3, 4), dict(shape=(0, -3))),
        ('split', (2, 3, 4), dict(shape=(-4, 1, 2, -2))), ('split_infer', (2, 3, 4), dict(shape=(2, -4, -1, 3, -2))),
        ('reverse', (10, 5, 4), dict(shape=(-1, 0), reverse=1)), ('no_reverse', (10, 5, 4), dict(shape=(-1, 0))),
        ('reverse_rest', (2, 3, 4), dict(shape=(-2, 6, 2), reverse=1)),
        ('old', (2, 3, 4), dict(target_shape=(2, 0))), ('old_keep', (2, 3, 4), dict(target_shape=(0, 0), keep_highest=1)),
    ]:
        add('Reshape', name, attrs, u(*shape))
    add('transpose', 'matrix', {}, u(3, 4))
    add('transpose', 'three', dict(axes=(1, 2, 0)), u(2, 3, 4))
    add('transpose', 'nhwc', dict(axes=(0, 2, 3, 1)), u(2, 3, 2, 4))
    add('transpose', 'reversed', {}, u(2, 3, 4))
    add('transpose', 'int64', dict(axes=(1, 0)), u(2, 3, low=-9, high=9, dtype='int64'))
    add('slice_axis', 'rows', dict(axis=0, begin=1, end=3), u(4, 3))
    add('slice_axis', 'to_end', dict(axis=1, begin=2, end='None'), u(2, 5))
    add('slice_axis', 'negative', dict(axis=-1, begin=-3, end=-1), u(2, 3, 5))
    for axis in [0, 1, 2, -1]:
        add('expand_dims', 'axis_%d' % axis, dict(axis=axis), u(2, 3))
    add('squeeze', 'all', {}, u(1, 3, 1, 2))
    add('squeeze', 'one', dict(axis=0), u(1, 3, 1, 2))
    add('squeeze', 'two', dict(axis=(0, 2)), u(1, 3, 1, 2))
    add('squeeze', 'negative', dict(axis=-2), u(1, 3, 1, 2))
    add('squeeze', 'to_one', {}, u(1, 1))

    # Reductions
    for op in ['sum', 'mean', 'max']:
        add(op, 'all', {}, u(3, 4))
        add(op, 'all_kept', dict(keepdims=True), u(3, 4))
        add(op, 'axis_0', dict(axis=0), u(3, 4))
        add(op, 'axis_last', dict(axis=-1), u(2, 3, 4))
        add(op, 'axes', dict(axis=(0, 2)), u(2, 3, 4))
        add(op, 'axes_kept', dict(axis=(2, 3), keepdims=True), u(2, 3, 2, 4))
        add(op, 'exclude', dict(axis=1, exclude=True), u(2, 3, 4))
        add(op, 'every_axis', dict(axis=(0, 1)), u(2, 3))
        add(op, 'empty_axes', dict(axis=()), u(2, 3))
        add(op, 'int32', dict(axis=1), u(3, 4, low=-9, high=9, dtype='int32'))
    add('argmax', 'rows', dict(axis=1), u(3, 5))
    add('argmax', 'flat', {}, u(3, 5))
    add('argmax', 'kept', dict(axis=0, keepdims=True), u(3, 5))
    add('argmax', 'negative', dict(axis=-1), u(2, 3, 4))
    add('argmax', 'ties', dict(axis=0), v([1, 3, 3, 2]))
    add('argmax', 'int32', dict(axis=1), u(3, 5, low=-9, high=9, dtype='int32'))

    for op in ['_zeros', '_ones']:
        add(op, 'float32', dict(shape=(2, 3)))
        add(op, 'int32', dict(shape=(3,), dtype='int32'))
    add('_full', 'float32', dict(shape=(2, 3), value=2.5))
    add('_full', 'int32', dict(shape=(3,), dtype='int32', value=2))
    return out


def shape_cases():
    """(operator, attributes, known input shapes by position): 0 is an unknown size, None an unknown shape.

    MXNet's partial inference lets some impossible calls pass that it refuses to run; those are in golden.rs.
    """
    conv = dict(kernel='(3, 3)', num_filter='8')
    pool = dict(kernel='(3, 3)', stride='(2, 2)')
    fc = dict(num_hidden='4')
    return [
        ('Convolution', conv, [(2, 4, 9, 9), None, None]),
        ('Convolution', conv, [(0, 4, 9, 9), None, None]),
        ('Convolution', conv, [(2, 4, 0, 9), None, None]),
        ('Convolution', dict(conv, num_group='2', dilate='(2, 2)'), [(2, 4, 9, 9), None, None]),
        ('Convolution', dict(conv, no_bias='True', stride='(3, 2)', pad='(1, 2)'), [(2, 4, 9, 9), None]),
        ('Convolution', dict(kernel='(3,)', num_filter='8'), [(2, 4, 9), None, None]),
        ('Convolution', dict(kernel='(3, 3, 3)', num_filter='8'), [(2, 4, 9, 9, 9), None, None]),
        ('Convolution', conv, [(2, 4, 2, 9), None, None]),
        ('Convolution', conv, [(2, 4, 9), None, None]),
        ('Convolution', dict(conv, num_group='3'), [(2, 4, 9, 9), None, None]),
        ('Convolution', conv, [(2, 4, 9, 9), (8, 3, 3, 3), None]),
        ('Convolution', conv, [(2, 4, 9, 9), None, (7,)]),
        ('Convolution', dict(conv, stride='(0, 1)'), [(2, 4, 9, 9), None, None]),
        ('BatchNorm', {}, [(2, 3, 4, 4)] + [None] * 4),
        ('BatchNorm', dict(axis='-1'), [(2, 3, 4, 4)] + [None] * 4),
        ('BatchNorm', {}, [(0, 3, 0, 0)] + [None] * 4),
        ('BatchNorm', dict(axis='4'), [(2, 3, 4, 4)] + [None] * 4),
        ('Activation', dict(act_type='relu'), [(2, 0)]),
        ('Pooling', pool, [(2, 3, 9, 8)]),
        ('Pooling', dict(pool, pooling_convention='full'), [(2, 3, 8, 8)]),
        ('Pooling', dict(pool, pad='(1, 1)'), [(0, 3, 8, 7)]),
        ('Pooling', dict(global_pool='True'), [(2, 3, 9, 8)]),
        ('Pooling', dict(pool, layout='NHWC'), [(2, 9, 8, 3)]),
        ('Pooling', pool, [(2, 3, 2, 8)]),
        ('Pooling', pool, [(2, 3)]),
        ('FullyConnected', fc, [(2, 3, 5), None, None]),
        ('FullyConnected', fc, [(0, 5), None, None]),
        ('FullyConnected', dict(fc, flatten='False'), [(2, 3, 5), None, None]),
        ('FullyConnected', dict(fc, no_bias='True'), [(2, 3, 5), None]),
        ('FullyConnected', fc, [(2, 5), (4, 6), None]),
        ('FullyConnected', fc, [(2, 5), None, (5,)]),
        ('Flatten', {}, [(2, 3, 4)]),
        ('Flatten', {}, [(5,)]),
        ('Concat', dict(num_args='2'), [(2, 3, 4), (2, 5, 4)]),
        ('Concat', dict(num_args='2', dim='0'), [(2, 3), (0, 3)]),
        ('Concat', dict(num_args='2'), [(2, 3, 4), (3, 3, 4)]),
        ('Concat', dict(num_args='2', dim='3'), [(2, 3, 4), (2, 3, 4)]),
        ('LRN', dict(nsize='3'), [(2, 3, 4, 4)]),
        ('Dropout', {}, [(2, 3)]),
        ('SoftmaxOutput', {}, [(2, 3), None]),
        ('SoftmaxOutput', {}, [(2, 3, 4), None]),
        ('SoftmaxOutput', {}, [(2, 3), (2, 3)]),
        ('SoftmaxOutput', {}, [(2, 3), (3,)]),
        ('SoftmaxOutput', dict(multi_output='True'), [(2, 3, 4, 5), None]),
        ('SoftmaxOutput', dict(multi_output='True'), [(2, 3, 4, 5), (2, 4, 5)]),
        ('SoftmaxOutput', dict(multi_output='True'), [(2, 3, 4, 5), (2, 1, 4, 5)]),
        ('softmax', dict(use_length='True', axis='1'), [(2, 3, 4), None]),
        ('log_softmax', {}, [(2, 0, 4)]),
        ('CTCLoss', {}, [(7, 3, 5), (3, 4)]),
        ('CTCLoss', {}, [(7, 3, 5), (3, 8)]),
        ('CTCLoss', {}, [(7, 3, 5), (2, 4)]),
        ('CTCLoss', {}, [(7, 3), (3, 4)]),
        ('pick', {}, [(3, 5), (3,)]),
        ('pick', dict(axis='1', keepdims='True'), [(2, 3, 4), (2, 1, 4)]),
        ('pick', dict(axis='2'), [(3, 5), (3,)]),
        ('pick', {}, [(3, 5), (4,)]),
        ('elemwise_add', {}, [(2, 3), None]),
        ('elemwise_add', {}, [(2, 0), (0, 3)]),
        ('elemwise_add', {}, [(2, 3), (2, 4)]),
        ('elemwise_add', {}, [(2, 3), (1, 3)]),
        ('_grad_add', {}, [(2, 3), None]),
        ('broadcast_add', {}, [(2, 3), (1, 3)]),
        ('broadcast_add', {}, [(2, 1), (1, 3)]),
        ('broadcast_add', {}, [(2, 3), (2, 4)]),
        ('add_n', dict(num_args='2'), [(2, 3), None]),
        ('Reshape', dict(shape='(0, -1)'), [(2, 3, 4)]),
        ('transpose', dict(axes='(1, 0, 2)'), [(2, 3, 4)]),
        ('transpose', dict(axes='(1, 0)'), [(2, 3, 4)]),
        ('slice_axis', dict(axis='1', begin='0', end='9'), [(2, 3)]),
        ('squeeze', dict(axis='0'), [(2, 3)]),
        ('expand_dims', dict(axis='3'), [(2, 3)]),
        ('sum', dict(axis='5'), [(2, 3)]),
        ('argmax', dict(axis='1'), [(2, 3)]),
    ]


def encode(array):
    import numpy as np
    def number(x):
        if array.dtype.kind == 'f' and not np.isfinite(x):
            return str(float(x))
        if array.dtype.kind == 'f':
            return float(repr(x.item()) if array.dtype == np.float64 else str(np.float32(x)))
        return int(x)
    return dict(shape=list(array.shape), dtype=str(array.dtype), data=[number(x) for x in array.ravel()])


def fill(spec, rng):
    import numpy as np
    dtype = np.dtype(spec['dtype'])
    if 'values' in spec:
        return np.array([float(x) for x in spec['values']]).astype(dtype).reshape(spec['shape'])
    if dtype.kind in 'iu':
        return rng.integers(spec['low'], spec['high'], spec['shape']).astype(dtype)
    return rng.uniform(spec['low'], spec['high'], spec['shape']).round(4).astype(dtype)


def function(module, name):
    return getattr(module, name, None) or getattr(module._internal, name)


def compute():
    """Every case's numbers, as a list of documents, in the order of `cases`."""
    import mxnet as mx
    import numpy as np
    results = []
    is_native = os.environ['MXNET_MKLDNN_ENABLED'] == '0'
    for op, name, attrs, specs, options in cases():
        if options.get('native_only') and not is_native:
            results.append((op, None))
            continue
        rng = np.random.default_rng(sum(map(ord, op + name)))
        arrays = [fill(spec, rng) for spec in specs]
        nd = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
        given = {k: x for k, x in attrs.items() if k != 'num_args'}
        scope = mx.autograd.train_mode() if options.get('train') else mx.autograd.predict_mode()
        try:
            with scope:
                outputs = function(mx.nd, op)(*nd, **given)
            outputs = outputs if isinstance(outputs, list) else [outputs]
            mx.nd.waitall()
            [o.asnumpy() for o in outputs]
        except Exception as error:
            sys.exit('%s/%s: %s' % (op, name, error))
        if op == 'Concat' or op == 'add_n':
            attrs = dict(attrs, num_args=str(len(nd)))
        document = dict(name=name, attrs=attrs, is_train=bool(options.get('train')),
                        inputs=[encode(a) for a in arrays], outputs=[encode(o.asnumpy()) for o in outputs])
        results.append((op, document))
    return results


def compute_shapes():
    """Inferred shapes or refusals; `null` where MXNet does not know."""
    import mxnet as mx

    def plain(shape):
        return None if shape is None or len(shape) == 0 else [d or None for d in shape]
    results = []
    for op, attrs, known in shape_cases():
        variables = [mx.sym.Variable('v%d' % i) for i in range(len(known))]
        document = dict(attrs=attrs, given=[plain(k) for k in known])
        try:
            given = {k: x for k, x in attrs.items() if k != 'num_args'}
            symbol = function(mx.sym, op)(*variables, **given)
            shapes = {'v%d' % i: k for i, k in enumerate(known) if k is not None}
            ins, outs, aux = symbol.infer_shape_partial(**shapes)
            document['inputs'] = [plain(s) for s in ins + aux]
            document['outputs'] = [plain(s) for s in outs]
        except mx.base.MXNetError:
            document['is_refused'] = True
        results.append((op, document))
    return results


def describe(op, attrs):
    """Names of the inputs an operator asks for, and outputs it counts in a graph, hidden ones included."""
    import mxnet as mx
    symbol = function(mx.sym, op)(name='node', **attrs)
    graph = json.loads(symbol.tojson())
    rows = graph['node_row_ptr']
    aux = symbol.list_auxiliary_states()
    names = [n[len('node_'):] for n in symbol.list_arguments() + aux]
    return dict(input_names=names, n_aux=len(aux), n_outputs=rows[-1] - rows[-2])


def compute_types():
    """Types of inputs and outputs from the type of the first input."""
    import mxnet as mx
    import numpy as np
    seen, results = set(), []
    for op, _, attrs, specs, _ in cases():
        if op in seen or not specs:
            continue
        seen.add(op)
        for dtype in ['float32', 'float16', 'float64']:
            variables = [mx.sym.Variable('v%d' % i) for i in range(len(specs))]
            given = {k: x for k, x in attrs.items() if k != 'num_args'}
            symbol = function(mx.sym, op)(*variables, **given)
            try:
                ins, outs, aux = symbol.infer_type(v0=dtype)
            except mx.base.MXNetError:  # pick wants to know more
                continue
            if ins is None:
                continue
            if op in ('Concat', 'add_n'):
                attrs = dict(attrs, num_args=str(len(specs)))
            name = lambda t: np.dtype(t).name
            results.append((op, dict(attrs=attrs, given=dtype, inputs=[name(t) for t in ins + aux],
                                     outputs=[name(t) for t in outs])))
    return results


def same(a, b):
    import numpy as np
    if a['shape'] != b['shape'] or a['dtype'] != b['dtype']:
        return False
    x, y = (np.array([float(v) for v in d['data']]) for d in (a, b))
    return np.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == 'child':
        json.dump(compute(), sys.stdout)
        return
    runs = []
    for enabled in ['0', '1']:
        env = dict(os.environ, MXNET_MKLDNN_ENABLED=enabled, MXNET_STORAGE_FALLBACK_LOG_VERBOSE='0')
        child = subprocess.run([sys.executable, os.path.abspath(__file__), 'child'], env=env, check=True,
                               stdout=subprocess.PIPE)
        runs.append(json.loads(child.stdout))
    documents = {}
    for (op, native), (_, onednn) in zip(*runs):
        native.update(describe(op, native['attrs']))
        if onednn and not all(same(a, b) for a, b in zip(native['outputs'], onednn['outputs'])):
            sys.exit('%s/%s: native and oneDNN kernels disagree\n%s\n%s' % (op, native['name'], native, onednn))
        documents.setdefault(op, dict(op=op, mxnet='1.9.1', values=[], shapes=[], types=[]))['values'].append(native)
    for key, results in [('shapes', compute_shapes()), ('types', compute_types())]:
        for op, document in results:
            documents[op][key].append(document)
    os.makedirs(GOLDEN, exist_ok=True)
    for op, document in documents.items():
        with open(os.path.join(GOLDEN, op + '.json'), 'w') as f:
            lines = ['"%s": [%s]' % (k, ''.join('\n  ' + json.dumps(c) + ',' for c in document[k])[:-1])
                     for k in ('values', 'shapes', 'types')]
            f.write('{"op": "%s", "mxnet": "1.9.1",\n%s\n}\n' % (op, ',\n'.join(lines)))


if __name__ == '__main__':
    main()
