"""Records operators of MXNet 1.9.1 whose output shapes depend on values in `crates/mxrs-exec/tests/golden/by_values.json`.

    python make_by_values.py ../../crates/mxrs-exec/tests/golden/by_values.json

Needs MXNet 1.9.1 with NumPy 1.23. Each case has an operator, its attributes, inputs and outputs. Cases with `ograd` also have the
gradient of the first input.
"""
import json
import sys

import numpy as np

np.bool = bool  # MXNet 1.9.1 uses the old name.

import mxnet as mx
from mxnet.ndarray.numpy import _internal as npi

CASES = []


def tensor(array):
    values = array.astype(np.int64) if array.dtype.kind in 'iub' else array.astype(np.float64)
    return {'shape': list(array.shape), 'dtype': str(array.dtype), 'values': values.reshape(-1).tolist()}


def record(op, call, inputs, attrs=None, has_gradient=False):
    arrays = [mx.np.array(values, dtype=dtype) for values, dtype in inputs]
    case = {'op': op, 'attrs': {k: str(v) for k, v in (attrs or {}).items()}, 'inputs': [tensor(a.asnumpy()) for a in arrays]}
    if has_gradient:
        arrays[0].attach_grad()
        with mx.autograd.record():
            outputs = [call(*arrays, **(attrs or {}))]
        ograd = np.random.RandomState(len(CASES)).randint(-4, 5, outputs[0].shape).astype(np.float32)
        mx.autograd.backward(outputs, [mx.np.array(ograd)])
        case['ograd'] = tensor(ograd)
        case['gradient'] = tensor(arrays[0].grad.asnumpy())
    else:
        outputs = call(*arrays, **(attrs or {}))
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    case['outputs'] = [tensor(o.asnumpy()) for o in outputs]
    CASES.append(case)


def main():
    mx.npx.set_np()
    rows = ([[1, 2], [3, 4], [5, 6]], 'float32')
    for mask, dtype in [([1, 0, 1], 'float32'), ([0, 0, 0], 'float32'), ([1, 0, -1], 'int8'), ([True, False, True], 'bool')]:
        record('_contrib_boolean_mask', npi.boolean_mask, [rows, (mask, dtype)], has_gradient=True)
    record('_contrib_boolean_mask', npi.boolean_mask, [([7, 8, 9], 'int32'), ([0, 1, 1], 'int32')])

    nonzero = [([[1, 0, 2], [0, 0, 3]], 'float32'), (3, 'float32'), (0, 'float32'), (np.zeros((0, 3)), 'float32')]
    nonzero += [(np.zeros((2, 3)), 'int32'), ([True, False, True], 'bool'), ([[[0, -1]], [[0.5, -0.0]]], 'float64')]
    for x in nonzero:
        record('_npx_nonzero', mx.npx.nonzero, [x])

    flags = {'return_index': True, 'return_inverse': True, 'return_counts': True}
    vector, matrix = ([3, 1, 2, 1, 3], 'float32'), ([[3, 1, 3], [2, 1, 2], [3, 1, 3]], 'float32')
    record('_npi_unique', npi.unique, [vector])
    record('_npi_unique', npi.unique, [vector], flags)
    record('_npi_unique', npi.unique, [vector], {'return_counts': True})
    record('_npi_unique', npi.unique, [matrix], flags)
    for axis in (0, 1, -1):
        record('_npi_unique', npi.unique, [matrix], {**flags, 'axis': axis})
    record('_npi_unique', npi.unique, [(np.array([2**60 + 1, 2**60, -5]), 'int64')], flags)
    record('_npi_unique', npi.unique, [(5, 'float32')], flags)
    record('_npi_unique', npi.unique, [(np.zeros((0, 3)), 'float32')], flags)
    record('_npi_unique', npi.unique, [([-1.5, -2.5, 0.0, 0.0, 3.0], 'float16')], flags)

    for dtype in ('int32', 'int64', 'uint8'):
        record('_npi_bincount', npi.bincount, [([0, 1, 1, 5], dtype)], {'minlength': 8 if dtype == 'int64' else 2})
    for dtype in ('float32', 'float64', 'int32'):
        record('_npi_bincount', npi.bincount, [([0, 1, 1, 3], 'int32'), ([5, 1, 2, 3], dtype)], {'minlength': 0, 'has_weights': True})
    record('_npi_bincount', npi.bincount, [(np.zeros(0), 'int32')], {'minlength': 3})
    record('_npi_bincount', npi.bincount, [(np.zeros(0), 'int32')], {'minlength': 0})

    x = (np.arange(12).reshape(3, 4), 'float32')
    for attrs in [{'int_ind': 1, 'axis': 0}, {'int_ind': -1, 'axis': 1}, {'int_ind': -1}, {'step': 2, 'axis': 1},
                  {'start': 3, 'stop': 0, 'step': -2, 'axis': 1}, {'start': -2, 'step': 1, 'axis': 0},
                  {'start': 0, 'stop': 99, 'step': 1, 'axis': 0}]:
        record('_npi_delete', npi.delete, [x], attrs)
    for places, dtype, attrs in [([1, 1, 3], 'int32', {'axis': 1}), ([0, 3], 'int64', {'axis': 1}), ([9, -5], 'int64', {'axis': 1}),
                                 ([9, 0], 'int64', {}), ([], 'int64', {'axis': 0})]:
        record('_npi_delete', npi.delete, [x, (places, dtype)], attrs)

    with open(sys.argv[1], 'w') as file:
        file.write('{"cases": [\n' + ',\n'.join(json.dumps(case) for case in CASES) + '\n]}\n')


if __name__ == '__main__':
    main()
