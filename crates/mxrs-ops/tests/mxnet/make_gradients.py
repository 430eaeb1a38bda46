#!/usr/bin/env python3
"""Writes tests/golden_gradients.json with MXNet 1.9.1: gradients at kinks, ties and special values.

    python make_gradients.py         needs mxnet==1.9.1 (CPU) and numpy 1.23

The numbers come from MXNet's native kernels (MXNET_MKLDNN_ENABLED=0). Head gradients are 1, 2, 3, ...
"""
import json
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
import mxnet as mx
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
NAN, INF = float('nan'), float('inf')
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.001, 2.0, 3.0]


def cases():
    """(operator, attributes, inputs)"""
    for op in ['relu', 'abs', 'sigmoid', 'tanh', 'square', 'sqrt', 'log', 'exp', 'negative', '_copy', 'zeros_like']:
        yield op, {}, [SPECIAL]
    yield 'clip', dict(a_min=-1, a_max=2), [SPECIAL]
    for op in ['_plus_scalar', '_minus_scalar', '_rminus_scalar', '_mul_scalar', '_div_scalar', '_rdiv_scalar',
               '_power_scalar', '_maximum_scalar', '_minimum_scalar']:
        yield op, dict(scalar=2), [SPECIAL]
    turned = SPECIAL[3:] + SPECIAL[:3]
    for op in ['elemwise_add', 'elemwise_sub', 'elemwise_mul']:
        yield op, {}, [SPECIAL, turned]
    yield 'elemwise_div', {}, [[1.0, -2.0, 0.5], [4.0, 2.0, -0.25]]
    matrix, row, column = [[1.0, 2.0, -3.0], [0.5, -4.0, 2.0]], [[2.0, -1.0, 4.0]], [[2.0], [-0.5]]
    for op in ['broadcast_add', 'broadcast_sub', 'broadcast_mul', 'broadcast_div']:
        yield op, {}, [matrix, row]
        yield op, {}, [column, matrix]
        yield op, {}, [column, row]
    ties = [[1.0, 3.0, 3.0], [2.0, NAN, 1.0], [0.0, -0.0, -1.0]]
    for op in ['sum', 'mean', 'max']:
        yield op, dict(axis=1), [ties]
        yield op, dict(axis=0, keepdims=True), [ties]
        yield op, dict(axis=0, exclude=True), [ties]
        yield op, {}, [ties]
    yield 'argmax', dict(axis=1), [ties]
    yield 'Concat', dict(dim=1), [matrix, column, matrix]
    yield 'slice_axis', dict(axis=1, begin=-2, end=None), [matrix]
    yield 'transpose', dict(axes=(1, 0)), [matrix]
    yield 'Reshape', dict(shape=(3, -1)), [matrix]
    yield 'Flatten', {}, [[matrix, matrix]]
    yield 'expand_dims', dict(axis=1), [matrix]
    yield 'squeeze', {}, [column]
    yield 'Cast', dict(dtype='float16'), [SPECIAL]
    yield 'add_n', {}, [matrix, matrix]


def encode(array):
    number = lambda x: float(str(np.float32(x))) if np.isfinite(x) else str(float(x))
    return dict(shape=list(array.shape), data=[number(x) for x in array.ravel()])


def main():
    documents = []
    for op, attrs, inputs in cases():
        arrays = [mx.nd.array(np.array(x, dtype='float32')) for x in inputs]
        for array in arrays:
            array.attach_grad()
        with mx.autograd.record():
            out = (getattr(mx.nd, op, None) or getattr(mx.nd._internal, op))(*arrays, **attrs)
        heads = np.arange(1, out.size + 1).reshape(out.shape)
        out.backward(mx.nd.array(heads, dtype=out.dtype))
        if op in ('Concat', 'add_n'):
            attrs = dict(attrs, num_args=len(arrays))
        documents.append(dict(op=op, attrs={k: str(v) for k, v in attrs.items()},
                              inputs=[encode(a.asnumpy()) for a in arrays],
                              gradients=[encode(a.grad.asnumpy()) for a in arrays]))
    with open(os.path.join(HERE, '..', 'golden_gradients.json'), 'w') as f:
        f.write('{"mxnet": "1.9.1", "cases": [\n%s\n]}\n' % ',\n'.join(json.dumps(d) for d in documents))


if __name__ == '__main__':
    main()
