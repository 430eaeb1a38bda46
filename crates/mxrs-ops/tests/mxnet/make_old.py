#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of operators that MXNet 1.9.1 deprecates, or has for tensors that are not dense, as
`make_operators.py` does.

    python make_old.py               needs mxnet==1.9.1 (CPU) and numpy 1.23
    python make_old.py _contrib_BatchNormWithReLU      alone, because MXNet has it only with oneDNN
"""
import os
import sys

from make_golden import u, v
from make_operators import record

WITH_RELU = '_contrib_BatchNormWithReLU'
# Importing the other files has set it to 0.
os.environ['MXNET_MKLDNN_ENABLED'] = '1' if sys.argv[1:] == [WITH_RELU] else '0'


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=None, **options):
        if grad is None:
            grad = [i for i, spec in enumerate(specs) if spec['dtype'] == 'float32']
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=grad)))

    statistics = [u(3, low=.5, high=2), u(3), u(3, low=-.5, high=.5), u(3, low=.5, high=2)]
    data = u(2, 3, 4, 5, low=-2, high=3)
    for op in ['BatchNorm_v1', WITH_RELU]:
        for name, attrs in [('plain', {}), ('scaled', dict(fix_gamma=False)), ('global', dict(use_global_stats=True, fix_gamma=False)),
                            ('eps', dict(eps=.1, fix_gamma=False))]:
            add(op, name, attrs, data, *statistics, grad=[])
            add(op, name + '_training', attrs, data, *statistics, grad=[0, 1, 2], train_mode=True)
        shown = dict(output_mean_var=True, fix_gamma=False)
        add(op, 'statistics', shown, data, *statistics, grad=[])
        add(op, 'statistics_training', shown, data, *statistics, grad=[], train_mode=True)
    add('BatchNorm_v1', 'matrix_training', dict(fix_gamma=False), u(6, 3, low=-2, high=3), *statistics, grad=[0, 1, 2], train_mode=True)

    for name, x, w, attrs in [
            ('plain', (2, 3, 6, 7), (4, 3, 3, 3), {}),
            ('pad_stride', (1, 3, 9, 8), (4, 3, 3, 3), dict(stride=(2, 2), pad=(1, 1))),
            ('dilate', (1, 2, 9, 9), (3, 2, 3, 2), dict(dilate=(2, 3), pad=(2, 1))),
            ('groups', (2, 4, 5, 5), (6, 2, 3, 3), dict(num_group=2, no_bias=True)),
            ('layout', (2, 3, 4, 4), (2, 3, 1, 1), dict(layout='NCHW'))]:
        specs = [u(*x), u(*w)] + ([] if 'no_bias' in attrs else [u(w[0])])
        add('Convolution_v1', name, dict(attrs, kernel=w[2:], num_filter=w[0]), *specs)

    ties = v([1, 1, 0, 2, 2, 0, 1, 2, 1, 0, 0, 0, 2, 2, 1, 0, 0, -1, -1, -2], shape=(1, 1, 4, 5))
    for kind in ['max', 'avg', 'sum']:
        for name, x, attrs in [
                ('plain', (2, 3, 7, 8), dict(kernel=(3, 2), stride=(2, 3))),
                ('pad', (1, 2, 7, 8), dict(kernel=(3, 3), stride=(2, 2), pad=(1, 1))),
                ('padding_windows', (1, 1, 3, 4), dict(kernel=(2, 2), stride=(2, 2), pad=(2, 2))),
                ('full', (1, 2, 8, 8), dict(kernel=(3, 3), stride=(2, 2), pooling_convention='full')),
                ('full_pad', (1, 2, 8, 7), dict(kernel=(3, 3), stride=(2, 3), pad=(1, 1), pooling_convention='full')),
                ('empty_window', (1, 2, 5, 5), dict(kernel=(1, 1), stride=(3, 3), pooling_convention='full')),
                ('global', (2, 3, 4, 5), dict(kernel=(2, 2), stride=(2, 2), pad=(1, 1), global_pool=True)),
                ('global_without_kernel', (2, 3, 4, 5), dict(global_pool=True))]:
            add('Pooling_v1', kind + '_' + name, dict(attrs, pool_type=kind), u(*x, low=-2, high=1))
        add('Pooling_v1', kind + '_float64', dict(kernel=(2, 2), pool_type=kind), u(1, 2, 3, 3, dtype='float64'))
    add('Pooling_v1', 'max_ties', dict(kernel=(2, 3), stride=(1, 2), pad=(1, 1)), ties)

    one, two = dict(count='num_args'), dict(count='num_args')
    add('Crop', 'rectangle', dict(h_w=(2, 3), offset=(1, 2)), u(2, 3, 4, 5), **one)
    add('Crop', 'beginning', dict(h_w=(3, 1)), u(1, 2, 4, 5), **one)
    add('Crop', 'middle', dict(h_w=(2, 3), center_crop=True), u(1, 2, 5, 5), **one)
    add('Crop', 'middle_without_offset', dict(h_w=(2, 2), center_crop=True, offset=(9, 9)), u(1, 2, 5, 4), **one)
    add('Crop', 'like', dict(offset=(1, 1)), u(2, 2, 4, 5), u(1, 3, 2, 3), **two)
    add('Crop', 'like_without_size', dict(h_w=(1, 1)), u(1, 2, 4, 5), u(1, 2, 3, 3), **two)
    add('Crop', 'middle_like', dict(center_crop=True), u(1, 2, 5, 4), u(2, 1, 3, 3), **two)

    activations, means = u(4, 3, low=.1, high=.9), u(3, low=.2, high=.8)
    for name, attrs in [('plain', {}), ('strong', dict(penalty=2.5, sparseness_target=.3)), ('fresh', dict(penalty=1, momentum=0)),
                        ('frozen', dict(penalty=1, momentum=1))]:
        add('IdentityAttachKLSparseReg', name, attrs, activations, means, grad=[0])
        add('IdentityAttachKLSparseReg', name + '_training', attrs, activations, means, grad=[0], train_mode=True)
    add('IdentityAttachKLSparseReg', 'more_axes', dict(penalty=1), u(2, 3, 3, low=.1, high=.9), means, grad=[0], train_mode=True)

    rows = dict(stypes=['default', 'row_sparse'])
    words = dict(input_dim=5, output_dim=3)
    add('_contrib_SparseEmbedding', 'words', words, v([0, 4, 4, 1, 2, 0], shape=(2, 3)), u(5, 3), grad=[1], **rows)
    add('_contrib_SparseEmbedding', 'fractions', words, v([0.9, 2.1]), u(5, 3), grad=[1], **rows)
    add('_contrib_SparseEmbedding', 'fixed_order', dict(words, deterministic=True), v([3, 3, 1]), u(5, 3), grad=[1], **rows)
    add('_contrib_SparseEmbedding', 'int64', words, v([3, 3, 1], 'int64'), u(5, 3), grad=[1], **rows)
    rows = dict(stypes=['row_sparse', 'default'])
    for name, data, kept in [('rows', u(4, 3), v([0, 2])), ('unordered', u(4, 2), v([3, 0])), ('int64', u(4, 2), v([1, 3], 'int64')),
                             ('fractions', u(4, 2), v([.7, 2.9])), ('more_axes', u(3, 2, 2), v([1], 'int32'))]:
        add('_sparse_retain', name, {}, data, kept, grad=[0], **rows)
    matrix = v([0, 1, 2, 0, 0, 'nan', 0, 0, 0, 3, 0, 0], shape=(4, 3))
    for name, attrs in [('all', {}), ('rows', dict(axis=1))]:
        add('_contrib_getnnz', name, attrs, matrix, grad=[], stype='csr')
    for number in [0, 1, 2, 4, 6]:
        add('_zeros_without_dtype', 'type_%d' % number, dict(shape=(2, 3), dtype=number))
    return out


def shape_cases():
    conv = dict(kernel='(3, 3)', num_filter='8')
    pool = dict(kernel='(3, 3)', stride='(2, 2)')
    return [
        ('BatchNorm_v1', {}, [(2, 3, 4, 4)] + [None] * 4),
        ('BatchNorm_v1', {}, [(0, 3, 0, 0)] + [None] * 4),
        ('BatchNorm_v1', {}, [(2,)] + [None] * 4),
        (WITH_RELU, {}, [(2, 3, 4, 4)] + [None] * 4),
        (WITH_RELU, dict(axis='-1'), [(2, 3, 4, 5)] + [None] * 4),
        (WITH_RELU, dict(axis='4'), [(2, 3, 4, 4)] + [None] * 4),
        ('Convolution_v1', conv, [(2, 4, 9, 9), None, None]),
        ('Convolution_v1', dict(conv, num_group='2', dilate='(2, 2)'), [(2, 4, 9, 9), None, None]),
        ('Convolution_v1', dict(conv, no_bias='True', stride='(3, 2)', pad='(1, 2)'), [(2, 4, 9, 9), None]),
        ('Convolution_v1', dict(kernel='(3, 3, 3)', num_filter='8'), [(2, 4, 9, 9, 9), None, None]),
        ('Convolution_v1', dict(conv, layout='NHWC'), [(2, 9, 9, 4), None, None]),
        ('Convolution_v1', conv, [(2, 4, 2, 9), None, None]),
        ('Convolution_v1', conv, [(2, 4, 9), None, None]),
        ('Convolution_v1', dict(conv, num_group='3'), [(2, 4, 9, 9), None, None]),
        ('Convolution_v1', conv, [(2, 4, 9, 9), None, (7,)]),
        ('Pooling_v1', pool, [(2, 3, 9, 8)]),
        ('Pooling_v1', dict(pool, pooling_convention='full'), [(2, 3, 8, 8)]),
        ('Pooling_v1', dict(pool, pad='(1, 1)'), [(0, 3, 8, 7)]),
        ('Pooling_v1', dict(global_pool='True'), [(2, 3, 9, 8)]),
        ('Pooling_v1', dict(kernel='(2, 2, 2)'), [(2, 3, 4, 5, 6)]),
        ('Pooling_v1', pool, [(2, 3, 2, 8)]),
        ('Pooling_v1', pool, [(2, 3, 9)]),
        ('Pooling_v1', pool, [(2, 3)]),
        ('Crop', dict(num_args='1', h_w='(2, 3)'), [(2, 3, 4, 5)]),
        ('Crop', dict(num_args='1', h_w='(5, 3)'), [(2, 3, 4, 5)]),
        ('Crop', dict(num_args='1'), [(2, 3, 4, 5)]),
        ('Crop', dict(num_args='1', h_w='(2, 3)'), [(3, 4, 5)]),
        ('Crop', dict(num_args='2'), [(2, 3, 4, 5), (1, 1, 2, 2)]),
        ('IdentityAttachKLSparseReg', {}, [(4, 3), None]),
        ('IdentityAttachKLSparseReg', {}, [(4,), None]),
        ('_contrib_SparseEmbedding', dict(input_dim='5', output_dim='3'), [(2, 4), None]),
        ('_sparse_retain', {}, [(4, 2), (3,)]),
        ('_contrib_getnnz', {}, [(3, 4)]),
        ('_contrib_getnnz', dict(axis='0'), [(3, 4)]),
        ('_contrib_getnnz', dict(axis='1'), [(3, 4)]),
        ('_contrib_getnnz', dict(axis='2'), [(3, 4)]),
        ('_contrib_getnnz', {}, [(3, 4, 5)]),
    ]


if __name__ == '__main__':
    if not sys.argv[1:]:
        # The cases of this operator need a process of their own.
        sys.argv[1:] = sorted({case[0] for case in cases()} - {WITH_RELU})
    record(cases(), shape_cases())
