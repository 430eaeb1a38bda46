#!/usr/bin/env python3
"""Writes tests/golden_layers/<operator>.json with MXNet 1.9.1: forward and backward of the layers, in training.

    python make_layers.py            needs mxnet==1.9.1 (CPU) and numpy 1.23
    python make_layers.py BatchNorm  only these operators
    python make_layers.py _contrib_BatchNormWithReLU   alone, because MXNet has it only with oneDNN

Each case holds inputs (auxiliary states last), the gradient of each visible output, the outputs, the gradient of each
input (null for auxiliary states), and every input after the step, of which moving statistics and a fixed gamma have
changed. The numbers come from MXNet's native kernels (MXNET_MKLDNN_ENABLED=0), except those of
`_contrib_BatchNormWithReLU`.
"""
import json
import os
import sys

WITH_RELU = '_contrib_BatchNormWithReLU'
os.environ['MXNET_MKLDNN_ENABLED'] = '1' if sys.argv[1:] == [WITH_RELU] else '0'
os.environ['MXNET_STORAGE_FALLBACK_LOG_VERBOSE'] = '0'
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
FOLDER = os.path.join(HERE, '..', 'golden_layers')

from make_golden import conv, ctc, u, v  # noqa: E402


def cases():
    """(operator, name, attributes, input specs, options); a spec is a fill or a list of values."""
    out = []

    def add(op, name, attrs, *specs, **options):
        out.append((op, name, {k: str(v) for k, v in attrs.items()}, list(specs), options))

    for act in ['relu', 'sigmoid', 'tanh', 'softrelu', 'softsign']:
        add('Activation', act, dict(act_type=act), u(3, 7, low=-6, high=6))
    add('Activation', 'relu_corners', dict(act_type='relu'), v([0.0, -0.0, 'inf', '-inf', 'nan', 1.0]))
    add('Activation', 'softrelu_corners', dict(act_type='softrelu'), v([0.0, 80.0, -80.0, 'inf', '-inf', 1.0]))

    conv(add, 'plain', (2, 3, 5, 6), (3, 3), 4)
    conv(add, 'pad_stride', (1, 3, 8, 7), (3, 3), 4, stride=(2, 2), pad=(1, 1))
    conv(add, 'dilate', (1, 2, 7, 8), (3, 2), 3, dilate=(2, 3), pad=(2, 1))
    conv(add, 'groups', (2, 4, 5, 5), (3, 3), 6, groups=2, bias=False)
    conv(add, 'depthwise', (1, 4, 5, 5), (3, 3), 8, groups=4, pad=(1, 1))
    conv(add, 'one_by_one', (1, 5, 4, 4), (1, 1), 3, bias=False, stride=(2, 2))
    conv(add, 'one_axis', (2, 3, 12), (4,), 4, stride=(3,), dilate=(2,), pad=(2,))
    conv(add, 'three_axes', (1, 2, 3, 4, 4), (2, 3, 3), 3, pad=(0, 1, 1), stride=(1, 2, 1))

    def bn(name, data, channels, train=True, op='BatchNorm', **attrs):
        c = (channels,)
        add(op, name, attrs, u(*data, low=-2, high=3), u(*c, low=0.5, high=2), u(*c), u(*c),
            u(*c, low=0.1, high=2), train=train)
    bn('free_gamma', (4, 3, 3, 4), 3, fix_gamma=False)
    bn('fix_gamma', (4, 3, 3, 4), 3)
    bn('momentum', (3, 2, 5), 2, fix_gamma=False, momentum=0.3, eps=0.1)
    bn('matrix', (6, 5), 5, fix_gamma=False, eps=2e-5)
    bn('last_axis', (2, 3, 4, 5), 5, fix_gamma=False, axis=-1)
    bn('global', (2, 3, 2, 3), 3, fix_gamma=False, use_global_stats=True)
    bn('global_fix_gamma', (2, 3, 2, 3), 3, use_global_stats=True)
    bn('inference', (2, 3, 2, 3), 3, train=False, fix_gamma=False)
    sync = dict(op='_contrib_SyncBatchNorm')
    bn('free_gamma', (4, 3, 3, 4), 3, fix_gamma=False, key='a', **sync)
    bn('fix_gamma', (4, 3, 3, 4), 3, key='b', **sync)
    bn('momentum', (3, 2, 5), 2, fix_gamma=False, momentum=0.3, eps=0.1, key='c', **sync)
    bn('matrix', (6, 5), 5, fix_gamma=False, eps=2e-5, key='d', **sync)
    bn('global', (2, 3, 2, 3), 3, fix_gamma=False, use_global_stats=True, key='e', **sync)
    bn('inference', (2, 3, 2, 3), 3, train=False, fix_gamma=False, key='f', **sync)
    for op in ['BatchNorm_v1', WITH_RELU]:
        bn('free_gamma', (4, 3, 3, 4), 3, fix_gamma=False, op=op)
        bn('fix_gamma', (4, 3, 3, 4), 3, op=op)
        bn('momentum', (3, 2, 5, 1), 2, fix_gamma=False, momentum=0.3, eps=0.1, op=op)
        bn('global', (2, 3, 2, 3), 3, fix_gamma=False, use_global_stats=True, op=op)
    # The gradient at inference of the other operator reads a mask that MXNet has not set.
    bn('inference', (2, 3, 2, 3), 3, train=False, fix_gamma=False, op='BatchNorm_v1')
    bn('matrix', (6, 5), 5, fix_gamma=False, eps=2e-5, op='BatchNorm_v1')
    for name, data, weight, attrs in [
            ('plain', (2, 3, 5, 6), (4, 3, 3, 3), {}), ('pad_stride', (1, 3, 8, 7), (4, 3, 3, 3), dict(stride=(2, 2), pad=(1, 1))),
            ('dilate', (1, 2, 7, 8), (3, 2, 3, 2), dict(dilate=(2, 3))), ('groups', (2, 4, 5, 5), (6, 2, 3, 3), dict(num_group=2)),
            ('no_bias', (2, 3, 4, 4), (2, 3, 1, 1), dict(no_bias=True))]:
        specs = [u(*data), u(*weight)] + ([] if 'no_bias' in attrs else [u(weight[0])])
        add('Convolution_v1', name, dict(attrs, kernel=weight[2:], num_filter=weight[0]), *specs)

    def pool(name, data, **attrs):
        add('Pooling', name, attrs, u(*data, low=-2, high=2))
    for kind in ['max', 'avg', 'sum', 'lp']:
        p = dict(p_value=2) if kind == 'lp' else {}
        pool(kind, (2, 2, 7, 6), kernel=(3, 2), stride=(2, 2), pool_type=kind, **p)
        pool(kind + '_pad', (1, 2, 7, 6), kernel=(3, 3), stride=(2, 3), pad=(1, 1), pool_type=kind, **p)
        pool(kind + '_full', (1, 2, 6, 6), kernel=(3, 3), stride=(2, 2), pool_type=kind, pooling_convention='full', **p)
        pool(kind + '_full_pad', (1, 1, 6, 5), kernel=(3, 3), stride=(2, 3), pad=(1, 1), pool_type=kind,
             pooling_convention='full', **p)
        pool(kind + '_global', (2, 2, 3, 4), global_pool=True, kernel=(2, 2), pool_type=kind, **p)
        pool(kind + '_one_axis', (2, 2, 9), kernel=(3,), stride=(2,), pad=(1,), pool_type=kind, **p)
        pool(kind + '_three_axes', (1, 2, 3, 4, 4), kernel=(2, 3, 2), stride=(1, 2, 2), pad=(0, 1, 1), pool_type=kind, **p)
        pool(kind + '_channels_last', (1, 5, 4, 2), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type=kind,
             layout='NHWC', **p)
    pool('lp1', (1, 2, 5, 5), kernel=(2, 2), pool_type='lp', p_value=1)
    pool('lp3', (1, 2, 5, 5), kernel=(2, 2), pool_type='lp', p_value=3)
    pool('avg_no_pad_count', (1, 2, 7, 6), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='avg',
         count_include_pad=False)
    pool('avg_no_pad_count_full', (1, 2, 6, 6), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='avg',
         count_include_pad=False, pooling_convention='full')
    ties = [1, 1, 0, 2, 2, 0, 1, 2, 1, 0, 0, 0, 2, 2, 1, 0, 0, 0, 0, 1]
    add('Pooling', 'max_ties', dict(kernel=(2, 3), stride=(1, 2)), v(ties, shape=(1, 1, 4, 5)))
    for kind in ['max', 'avg', 'sum']:
        for name, data, attrs in [
                ('plain', (2, 2, 7, 6), dict(kernel=(3, 2), stride=(2, 2))),
                ('pad', (1, 2, 7, 6), dict(kernel=(3, 3), stride=(2, 3), pad=(1, 1))),
                ('full', (1, 2, 6, 6), dict(kernel=(3, 3), stride=(2, 2), pooling_convention='full')),
                ('full_pad', (1, 1, 6, 5), dict(kernel=(3, 3), stride=(2, 3), pad=(1, 1), pooling_convention='full')),
                ('global', (2, 2, 3, 4), dict(kernel=(2, 2), global_pool=True)),
                ('ties', (1, 1, 4, 5), dict(kernel=(2, 3), stride=(1, 2), pad=(1, 1)))]:
            spec = v(ties, shape=data) if name == 'ties' else u(*data, low=-2, high=2)
            add('Pooling_v1', kind + '_' + name, dict(attrs, pool_type=kind), spec)

    add('FullyConnected', 'rows', dict(num_hidden=4), u(3, 5), u(4, 5), u(4))
    add('FullyConnected', 'images', dict(num_hidden=4), u(2, 3, 2, 2), u(4, 12), u(4))
    add('FullyConnected', 'no_bias', dict(num_hidden=4, no_bias=True), u(3, 5), u(4, 5))
    add('FullyConnected', 'not_flat', dict(num_hidden=4, flatten=False), u(2, 3, 5), u(4, 5), u(4))

    add('LRN', 'alexnet', dict(nsize=5), u(1, 8, 3, 3, low=-20, high=20))
    add('LRN', 'strong', dict(nsize=3, alpha=0.5, beta=0.6, knorm=1), u(2, 5, 2, 3, low=-3, high=3))
    add('LRN', 'all_channels', dict(nsize=5, alpha=0.2), u(1, 5, 2, 2, low=-9, high=9))

    add('Dropout', 'without_p', dict(p=0), u(3, 4))
    add('Dropout', 'inference', dict(p=0.5), u(3, 4), train=False)

    # Not with out_grad: 1.9.1 multiplies by the output instead of by its gradient.
    def so(name, data, labels, shape=None, **attrs):
        add('SoftmaxOutput', name, attrs, u(*data, low=-4, high=4), v(labels, shape=shape))
    so('rows', (3, 5), [0, 4, 2])
    so('scaled', (3, 5), [0, 4, 2], grad_scale=0.25)
    so('label_outside', (3, 5), [-1, 5, 2])
    so('ignored', (4, 5), [-1, 3, -1, 0], use_ignore=True)
    so('ignored_2', (4, 5), [2, 3, 2, 0], use_ignore=True, ignore_label=2)
    so('batch', (4, 5), [1, 3, 2, 0], normalization='batch', grad_scale=3)
    so('valid', (4, 5), [-1, 3, -1, 0], normalization='valid', use_ignore=True)
    so('valid_without_ignore', (4, 5), [-1, 3, 2, 0], normalization='valid')
    so('valid_none', (2, 5), [-1, -1], normalization='valid', use_ignore=True)
    so('smooth', (3, 5), [0, 4, 2], smooth_alpha=0.1)
    so('smooth_outside', (3, 5), [0, -1, 2], smooth_alpha=0.1)
    so('smooth_ignored', (3, 5), [0, -1, 2], smooth_alpha=0.1, use_ignore=True)
    so('fractional_label', (3, 5), [0.7, 3.9, 2.2])
    so('preserve_shape', (2, 3, 4), [0, 1, 2, 3, 1, -1], (2, 3), preserve_shape=True)
    so('preserve_shape_batch', (2, 3, 4), [0, 1, 2, 3, 1, -1], (2, 3), preserve_shape=True, normalization='batch')
    so('preserve_shape_valid', (2, 3, 4), [0, 1, 2, 3, 1, -1], (2, 3), preserve_shape=True, normalization='valid',
       use_ignore=True)
    multi = [0, 1, 2, 0, -1, 2, 0, -1]
    for kind in ['null', 'batch', 'valid']:
        so('multi_' + kind, (2, 3, 2, 2), multi, (2, 4), multi_output=True, normalization=kind)
        so('multi_ignored_' + kind, (2, 3, 2, 2), multi, (2, 4), multi_output=True, use_ignore=True,
           normalization=kind)
    so('multi_axes', (2, 3, 2, 2), multi, (2, 2, 2), multi_output=True, grad_scale=2)
    so('multi_smooth', (2, 3, 2, 2), multi, (2, 4), multi_output=True, smooth_alpha=0.2)
    so('multi_rows', (3, 5), [0, 4, 2], (3, 1), multi_output=True)
    chances = [0.1, 0.2, 0.7, 0.5, 0.25, 0.25]
    so('chances', (2, 3), chances, (2, 3), grad_scale=2)
    so('chances_batch', (2, 3), chances, (2, 3), normalization='batch')
    so('chances_smooth', (2, 3), chances, (2, 3), smooth_alpha=0.1)
    so('chances_multi', (1, 3, 2), chances, (1, 3, 2), multi_output=True)
    so('all_but_first', (2, 3, 4), [3, 11, 0, 1, 2, 3], (2, 3))

    ctc(add, 'first', (7, 3, 5), [[2, 1, 0, 0], [3, 2, 2, 0], [1, 2, 1, 3]])
    ctc(add, 'last', (7, 3, 5), [[1, 0, -1, -1], [2, 1, 1, -1], [0, 1, 0, 2]], blank_label='last')
    ctc(add, 'data_lengths', (7, 2, 4), [[2, 1, 0], [3, 2, 2]], [4, 7])
    ctc(add, 'label_lengths', (6, 2, 4), [[1, 0, 1], [2, 1, 1]], None, [2, 3], blank_label='last')
    ctc(add, 'both_lengths', (6, 2, 4), [[1, 0, 1], [2, 1, 1]], [6, 3], [3, 2], blank_label='last')
    ctc(add, 'nothing_said', (3, 2, 4), [[0, 0], [1, 0]])

    add('log_softmax', 'rows', {}, u(3, 5, low=-4, high=4))
    add('log_softmax', 'axis_1', dict(axis=1), u(2, 3, 4, low=-4, high=4))
    add('log_softmax', 'temperature', dict(temperature=0.3), u(3, 5))
    add('log_softmax', 'large', {}, v([1000.0, -1000.0, 998.0], shape=(1, 3)))
    add('softmax', 'rows', {}, u(3, 5, low=-4, high=4))
    add('softmax', 'axis_1', dict(axis=1), u(2, 3, 4, low=-4, high=4))
    add('softmax', 'temperature', dict(temperature=0.3), u(3, 5))
    add('softmax', 'length', dict(use_length=True), u(3, 5, low=-4, high=4), v([5, 2, 1], 'int32'))
    add('softmax', 'length_axis', dict(use_length=True, axis=1, temperature=2), u(2, 4, 3, low=-4, high=4),
        v([1, 2, 3, 4, 1, 2], 'int32', (2, 3)))
    add('softmax', 'to_float64', dict(dtype='float64'), u(3, 5, low=-4, high=4))
    return out


def compute(op, name, attrs, specs, options):
    """One case: what went in, what came out, what came back."""
    import mxnet as mx
    import numpy as np
    from make_golden import encode, fill, function
    from make_updates import call
    rng = np.random.default_rng(sum(map(ord, op + name)))
    arrays = [fill(spec, rng) for spec in specs]
    nd = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
    is_train = options.get('train', True)
    n_aux = 2 if 'BatchNorm' in op else 0
    differentiated = [a for a in nd[:len(nd) - n_aux] if a.dtype == np.float32]
    for a in differentiated:
        a.attach_grad()
    with mx.autograd.record(train_mode=is_train):
        is_plain = not op.startswith('_contrib') and not op.endswith('_v1')
        out = function(mx.nd, op)(*nd, **attrs) if is_plain else call(mx, op, nd, attrs, None)
    out = out[0] if isinstance(out, list) else out
    ograd = rng.uniform(-1, 1, out.shape).round(4).astype(out.dtype)
    out.backward(mx.nd.array(ograd, dtype=ograd.dtype), train_mode=is_train)
    mx.nd.waitall()
    grads = [encode(a.grad.asnumpy()) if any(a is d for d in differentiated) else None for a in nd]
    return dict(name=name, attrs=attrs, is_train=is_train, inputs=[encode(a) for a in arrays],
                outputs=[encode(out.asnumpy())], out_grads=[encode(ograd)], gradients=grads,
                inputs_after=[encode(a.asnumpy()) for a in nd])


def main():
    documents = {}
    names = sys.argv[1:]
    for case in [case for case in cases() if (case[0] in names if names else case[0] != WITH_RELU)]:
        try:
            documents.setdefault(case[0], []).append(compute(*case))
        except Exception as error:  # a case MXNet refuses is a mistake in the list
            sys.exit('%s/%s: %s' % (case[0], case[1], error))
    os.makedirs(FOLDER, exist_ok=True)
    for op, values in documents.items():
        with open(os.path.join(FOLDER, op + '.json'), 'w') as file:
            file.write('{"op": %s, "mxnet": "1.9.1", "values": [\n' % json.dumps(op))
            file.write(',\n'.join(json.dumps(case, separators=(',', ':')) for case in values))
            file.write('\n]}\n')


if __name__ == '__main__':
    main()
