#!/usr/bin/env python3
"""Writes tests/golden/_CrossDeviceCopy.json with MXNet 1.9.1: copies from cpu(0) to cpu(1).

    python make_cross_device_copy.py        needs mxnet==1.9.1 (CPU) and numpy 1.23

The operator has no imperative function, so it is called as a node of a symbol file.
"""
import json
import os

os.environ['MXNET_SUBGRAPH_BACKEND'] = 'NONE'
import mxnet as mx  # noqa: E402, after the variable
import numpy as np  # noqa: E402

from make_golden import GOLDEN, encode, fill, u, v  # noqa: E402

OP = '_CrossDeviceCopy'
NODES = [{'op': 'null', 'name': 'data', 'attrs': {'__ctx_group__': 'from'}, 'inputs': []},
         {'op': OP, 'name': 'copy', 'attrs': {'__ctx_group__': 'to'}, 'inputs': [[0, 0, 0]]}]
SYMBOL = {'nodes': NODES, 'arg_nodes': [0], 'node_row_ptr': [0, 1, 2], 'heads': [[1, 0, 0]],
          'attrs': {'mxnet_version': ['int', 10901]}}


def main():
    symbol = mx.sym.load_json(json.dumps(SYMBOL))
    groups = {'from': mx.cpu(0), 'to': mx.cpu(1)}
    document = dict(values=[], shapes=[], types=[])
    special = [0.0, -0.0, 'inf', '-inf', 'nan', 1.0, -1.0, 0.001]
    for name, spec in [('matrix', u(3, 4, low=-4, high=4)), ('special', v(special)),
                       ('int32', u(3, 4, low=-6, high=6, dtype='int32'))]:
        data = fill(spec, np.random.default_rng(sum(map(ord, OP + name))))
        bound = symbol.simple_bind(mx.cpu(0), group2ctx=groups, grad_req='null', data=data.shape,
                                   type_dict={'data': data.dtype})
        bound.arg_dict['data'][:] = mx.nd.array(data, dtype=data.dtype)
        [output] = bound.forward()
        document['values'].append(dict(name=name, attrs={}, is_train=False, inputs=[encode(data)],
                                       outputs=[encode(output.asnumpy())], input_names=symbol.list_arguments(), n_aux=0,
                                       n_outputs=len(symbol.list_outputs())))
    for dtype in ['float32', 'float16', 'float64']:
        inputs, outputs, _ = symbol.infer_type(data=dtype)
        names = [[np.dtype(t).name for t in types] for types in (inputs, outputs)]
        document['types'].append(dict(attrs={}, given=dtype, inputs=names[0], outputs=names[1]))
    lines = ['"%s": [%s]' % (k, ''.join('\n  ' + json.dumps(c) + ',' for c in document[k])[:-1]) for k in document]
    with open(os.path.join(GOLDEN, OP + '.json'), 'w') as f:
        f.write('{"op": "%s", "mxnet": "1.9.1",\n%s\n}\n' % (OP, ',\n'.join(lines)))


if __name__ == '__main__':
    main()
