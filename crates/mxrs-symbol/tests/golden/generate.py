"""Writes the files of this folder with MXNet 1.9.1 itself.

  python3 -m venv mx && mx/bin/pip install mxnet==1.9.1 numpy==1.23.5
  mx/bin/python generate.py
"""
import json
import os

import mxnet as mx

HERE = os.path.dirname(os.path.abspath(__file__))
S = mx.sym


def path(name):
    return os.path.join(HERE, name)


def symbol(name, sym):
    with open(path(name + '-symbol.json'), 'w') as f:
        f.write(sym.tojson())


def symbols():
    a, b = S.Variable('a'), S.Variable('b')
    odd = S.Variable('we"ird\\na\tme', attr={'note': 'line1\nline2\r\t"q" \\ é 中 / \x01'},
                     shape=(0, 3), lr_mult=2.0, init=mx.init.Xavier())
    bn = S.BatchNorm(odd, name='bn', output_mean_var=True)
    sp = S.SliceChannel(bn[0], num_outputs=3, name='sp')
    symbol('heads', S.Group([sp, bn[1], bn[2], odd]))
    xs = [S.Variable('x%d' % i) for i in range(11)]
    symbol('ten', S.add_n(*xs[:10], name='s'))
    symbol('eleven', S.Group([S.add_n(*xs, name='s')] + xs))
    symbol('single', a)
    w = S.Variable('w')

    def step(x, states):
        r = x * w + states[0]
        return r, [r]
    out, states = S.contrib.foreach(step, S.Variable('data'), [S.Variable('s0')])
    symbol('foreach', S.Group([out, states[0]]))
    symbol('cond', S.contrib.cond(S.Variable('p'), lambda: a + b, lambda: a - b))
    deps = {'nodes': [
        {'op': 'null', 'name': 'a', 'inputs': []},
        {'op': 'null', 'name': 'b', 'inputs': []},
        {'op': 'relu', 'name': 'r', 'inputs': [[1, 0, 0]]},
        {'op': 'relu', 'name': 'q', 'inputs': [[0, 0, 0]], 'control_deps': [2]},
        {'op': 'relu', 'name': 'q3', 'inputs': [[3, 0, 0]], 'control_deps': [2, 1]}],
        'arg_nodes': [0, 1], 'heads': [[4, 0, 0]], 'attrs': {'mxnet_version': ['int', 10901]}}
    symbol('deps', S.load_json(json.dumps(deps)))
    with mx.np_shape():
        symbol('npshape', a + b)


def old_symbol():
    """A file as 0.8 wrote it, by hand, and what MXNet makes of it."""
    def variable(name, **more):
        return {'op': 'null', 'param': {}, 'name': name, 'inputs': [], 'backward_source_id': -1, **more}
    old = {'nodes': [
        variable('data'), variable('fc_weight'), variable('fc_bias', attr={'lr_mult': '3'}),
        {'op': 'FullyConnected', 'param': {'no_bias': 'False', 'num_hidden': '10'},
         'attr': {'ctx_group': 'dev1', 'weight_lr_mult': '0.5', 'num_hidden': '11', 'data_lr_mult': '9'},
         'name': 'fc', 'inputs': [[0, 0], [1, 0], [2, 0]], 'backward_source_id': -1},
        variable('bn_gamma'), variable('bn_beta'),
        {'op': 'BatchNorm', 'param': {'eps': '0.001'}, 'name': 'bn', 'inputs': [[3, 0], [4, 0], [5, 0]],
         'backward_source_id': -1},
        {'op': 'argmax', 'param': {'axis': '-1'}, 'name': 'am', 'inputs': [[6, 0]], 'backward_source_id': -1}],
        'arg_nodes': [0, 1, 2, 4, 5], 'heads': [[7, 0]]}
    with open(path('old-symbol.json'), 'w') as f:
        json.dump(old, f, indent=1)
    symbol('old-upgraded', S.load(path('old-symbol.json')))


symbols()
old_symbol()
