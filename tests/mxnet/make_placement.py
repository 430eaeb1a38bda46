#!/usr/bin/env python3
"""Writes ../fixtures/placement.txt: where MXNet 1.9.1 places the nodes of networks with context groups (`group2ctx`).

    python make_placement.py         needs mxnet==1.9.1 (CPU)

Each network is bound by `simple_bind` over cpu(0), cpu(1) and cpu(2). The devices of arrays come from the executor, and the
copies from its `debug_str`. A line `copy` gives the mode, the half, the forward node whose value or gradient is copied, and
the forward nodes whose calls or gradients read the copy. A sum of gradients stands for the node whose gradient it is, and
`head<n>` for the gradient of an output, which the caller gives.
"""
import os
import re

os.environ['MXNET_SUBGRAPH_BACKEND'] = 'NONE'
import mxnet as mx  # noqa: E402, after the variable

HERE = os.path.dirname(os.path.abspath(__file__))
ON = {'a': mx.cpu(1), 'b': mx.cpu(2), 'c': mx.cpu(0)}


def group(name):
    return mx.AttrScope(ctx_group=name)


def mlp():
    with group('a'):
        x = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=16, name='fc1')
        x = mx.sym.Activation(x, act_type='relu', name='relu1')
    with group('b'):
        x = mx.sym.FullyConnected(x, num_hidden=12, name='fc2')
        x = mx.sym.Activation(x, act_type='tanh', name='tanh2')
    with group('c'):
        x = mx.sym.FullyConnected(x, num_hidden=10, name='fc3')
        x = mx.sym.SoftmaxOutput(x, name='softmax')
    return x, dict(data=(4, 8))


def lenet():
    with group('a'):
        x = mx.sym.Convolution(mx.sym.Variable('data'), kernel=(5, 5), num_filter=8, name='conv1')
        x = mx.sym.Activation(x, act_type='tanh', name='tanh1')
        x = mx.sym.Pooling(x, pool_type='max', kernel=(2, 2), stride=(2, 2), name='pool1')
    with group('b'):
        x = mx.sym.Convolution(x, kernel=(5, 5), num_filter=16, name='conv2')
        x = mx.sym.Activation(x, act_type='tanh', name='tanh2')
        x = mx.sym.Pooling(x, pool_type='max', kernel=(2, 2), stride=(2, 2), name='pool2')
        x = mx.sym.Flatten(x, name='flat')
    with group('c'):
        x = mx.sym.FullyConnected(x, num_hidden=32, name='fc1')
        x = mx.sym.Activation(x, act_type='tanh', name='tanh3')
        x = mx.sym.FullyConnected(x, num_hidden=10, name='fc2')
        x = mx.sym.SoftmaxOutput(x, name='softmax')
    return x, dict(data=(4, 1, 28, 28))


def rnn(steps=3, hidden=6):
    """Two layers, one per device, and a decoder."""
    layers = []
    for layer, name in enumerate('ab'):
        with group(name):
            names = ['i2h_weight', 'i2h_bias', 'h2h_weight', 'h2h_bias', 'begin']
            layers.append({key: mx.sym.Variable(f'l{layer}_{key}') for key in names})
    with group('c'):
        data = mx.sym.Variable('data')
        inputs = [mx.sym.slice_axis(data, axis=1, begin=t, end=t + 1, name=f'input{t}') for t in range(steps)]
    state = [of['begin'] for of in layers]
    outputs = []
    for t in range(steps):
        x = inputs[t]
        for layer, name in enumerate('ab'):
            of, at = layers[layer], f't{t}_l{layer}'
            with group(name):
                i2h = mx.sym.FullyConnected(x, weight=of['i2h_weight'], bias=of['i2h_bias'], num_hidden=hidden,
                                            name=at + '_i2h')
                h2h = mx.sym.FullyConnected(state[layer], weight=of['h2h_weight'], bias=of['h2h_bias'],
                                            num_hidden=hidden, name=at + '_h2h')
                x = mx.sym.elemwise_add(i2h, h2h, name=at + '_sum')
                x = mx.sym.Activation(x, act_type='tanh', name=at + '_tanh')
                state[layer] = x
        outputs.append(x)
    with group('c'):
        x = mx.sym.Concat(*outputs, dim=0, name='concat')
        x = mx.sym.FullyConnected(x, num_hidden=5, name='decoder')
        x = mx.sym.SoftmaxOutput(x, name='softmax')
    return x, dict(data=(2, steps, 4), l0_begin=(2, hidden), l1_begin=(2, hidden))


def lstm(steps=2, hidden=4):
    """The cell of MXNet's example of model parallelism: two layers on two devices."""
    layers = []
    for layer, name in enumerate('ab'):
        with group(name):
            names = ['i2h_weight', 'i2h_bias', 'h2h_weight', 'h2h_bias', 'h', 'c']
            layers.append({key: mx.sym.Variable(f'l{layer}_{key}') for key in names})
    with group('c'):
        data = mx.sym.Variable('data')
        inputs = [mx.sym.slice_axis(data, axis=1, begin=t, end=t + 1, name=f'input{t}') for t in range(steps)]
    h, c = [of['h'] for of in layers], [of['c'] for of in layers]
    outputs = []
    for t in range(steps):
        x = inputs[t]
        for layer, name in enumerate('ab'):
            of, at = layers[layer], f't{t}_l{layer}_'
            with group(name):
                i2h = mx.sym.FullyConnected(x, weight=of['i2h_weight'], bias=of['i2h_bias'], num_hidden=4 * hidden,
                                            name=at + 'i2h')
                h2h = mx.sym.FullyConnected(h[layer], weight=of['h2h_weight'], bias=of['h2h_bias'],
                                            num_hidden=4 * hidden, name=at + 'h2h')
                gates = mx.sym.elemwise_add(i2h, h2h, name=at + 'gates')
                kinds = ['sigmoid', 'tanh', 'sigmoid', 'sigmoid']
                parts = [mx.sym.slice_axis(gates, axis=1, begin=k * hidden, end=(k + 1) * hidden, name=at + f'part{k}')
                         for k in range(4)]
                i, g, f, o = [mx.sym.Activation(part, act_type=kind, name=at + f'gate{k}')
                              for k, (part, kind) in enumerate(zip(parts, kinds))]
                keep = mx.sym.elemwise_mul(f, c[layer], name=at + 'keep')
                new = mx.sym.elemwise_mul(i, g, name=at + 'new')
                c[layer] = mx.sym.elemwise_add(keep, new, name=at + 'cell')
                x = mx.sym.elemwise_mul(o, mx.sym.Activation(c[layer], act_type='tanh', name=at + 'tanh'),
                                        name=at + 'hidden')
                h[layer] = x
        outputs.append(x)
    with group('c'):
        x = mx.sym.Concat(*outputs, dim=0, name='concat')
        x = mx.sym.FullyConnected(x, num_hidden=5, name='decoder')
        x = mx.sym.SoftmaxOutput(x, name='softmax')
    states = {f'l{layer}_{key}': (2, hidden) for layer in range(2) for key in 'hc'}
    return x, dict(data=(2, steps, 3), **states)


def fork():
    """Terms of a gradient from two devices, and outputs on two devices whose gradients are given."""
    with group('a'):
        x = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=4, name='fc')
    with group('b'):
        right = mx.sym.Activation(x, act_type='relu', name='right')
    with group('a'):
        left = mx.sym.Activation(x, act_type='tanh', name='left')
        sum1 = mx.sym.elemwise_add(left, right, name='sum1')
    with group('b'):
        sum2 = mx.sym.elemwise_mul(right, left, name='sum2')
    return mx.sym.Group([sum1, sum2]), dict(data=(2, 5))


def ungrouped():
    """Nodes without a group: the data, and calls before, between and after groups."""
    x = mx.sym.Activation(mx.sym.Variable('data'), act_type='tanh', name='before')
    with group('a'):
        x = mx.sym.FullyConnected(x, num_hidden=6, name='fc1')
    x = mx.sym.Activation(x, act_type='relu', name='between')
    with group('b'):
        x = mx.sym.FullyConnected(x, num_hidden=5, name='fc2')
    x = mx.sym.Activation(x, act_type='sigmoid', name='after')
    return x, dict(data=(3, 7))


def states():
    """Auxiliary states on two devices."""
    x = mx.sym.Variable('data')
    for name in 'ab':
        with group(name):
            x = mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, pad=(1, 1), no_bias=True, name='conv_' + name)
            x = mx.sym.BatchNorm(x, fix_gamma=False, name='bn_' + name)
            x = mx.sym.Activation(x, act_type='relu', name='relu_' + name)
    with group('a'):
        x = mx.sym.FullyConnected(x, num_hidden=3, name='fc')
        x = mx.sym.SoftmaxOutput(x, name='softmax')
    return x, dict(data=(2, 3, 6, 6))


def nodes(text):
    """The calls of a `debug_str`: name, operator, inputs as names, forward node."""
    out = []
    for block in re.split(r'^-{20}$', text, flags=re.M):
        found = re.search(r'^Op:(\S+), Name=(\S+)$', block, flags=re.M)
        if not found:
            continue
        inputs = re.findall(r'^\targ\[\d+\]=(\S+)\((\d+)\)', block, flags=re.M)
        deps = re.findall(r'^\tcdep\[\d+\]=(\S+)$', block, flags=re.M)
        out.append(dict(op=found[1], name=found[2], inputs=inputs, of=deps[0] if deps else None))
    return out


def copies(text):
    """The copies of a `debug_str` in order: half, node, readers. Names of sums repeat, so a name means the last node of that
    name before its reader."""
    calls = nodes(text)
    last, readers = {}, {}
    for index, call in enumerate(calls):
        for name, _ in call['inputs']:
            if name in last:
                readers.setdefault(last[name], []).append(index)
        last[call['name']] = index

    def forward(index):
        """The forward node of a call, and whether the call belongs to the gradient."""
        call = calls[index]
        if call['of']:
            return {call['of']}, True
        if call['op'] in ('add_n', '_grad_add', 'elemwise_add') and call['name'].startswith('sum_grad'):
            return set().union(*[forward(reader)[0] for reader in readers.get(index, [])]), True
        if call['op'] == '_CrossDeviceCopy':
            of = [forward(reader) for reader in readers.get(index, [])]
            return set().union(*[names for names, _ in of]), all(is_gradient for _, is_gradient in of)
        return {call['name']}, call['op'] == '_identity_with_attr_like_rhs'

    out = []
    seen = {}
    for index, call in enumerate(calls):
        if call['op'] == '_CrossDeviceCopy':
            source = call['inputs'][0][0]
            if source in seen:
                of, _ = forward(seen[source])
            else:
                of = {source}
            of = {re.sub(r'_head_grad_(\d+)_id', r'head\1', name) for name in of}
            read, is_gradient = forward(index)
            out.append(('backward' if is_gradient else 'forward', '+'.join(sorted(of)), '+'.join(sorted(read))))
        seen[call['name']] = index
    return out


def record(out, name, make, default=mx.cpu(0)):
    symbol, shapes = make()
    out.append(f'net {name}')
    out += [f'group {key} {ctx}' for key, ctx in ON.items()]
    out += [f'shape {key} {",".join(map(str, shape))}' for key, shape in shapes.items()]
    out.append('symbol ' + ' '.join(symbol.tojson().split()))
    unwanted = [key for key in shapes] + [key for key in symbol.list_arguments() if key.endswith('label')]
    train = {key: 'null' if key in unwanted else 'write' for key in symbol.list_arguments()}
    for mode, grad_req in (('inference', 'null'), ('training', train)):
        bound = symbol.simple_bind(default, group2ctx=ON, grad_req=grad_req, **shapes)
        if mode == 'training':
            out += [f'argument {key} {array.context}' for key, array in bound.arg_dict.items()]
            out += [f'state {key} {array.context}' for key, array in bound.aux_dict.items()]
            grads = {key: array for key, array in bound.grad_dict.items() if array is not None}
            out += [f'gradient {key} {array.context}' for key, array in grads.items()]
            out += [f'output {array.context}' for array in bound.outputs]
        out += [f'copy {mode} {" ".join(copy)}' for copy in copies(bound.debug_str())]


def main():
    out = [f'MXNet {mx.__version__}']
    for make in (mlp, lenet, rnn, lstm, fork, ungrouped, states):
        record(out, make.__name__, make)
    with open(os.path.join(HERE, '..', 'fixtures', 'placement.txt'), 'w') as file:
        file.write('\n'.join(out) + '\n')


if __name__ == '__main__':
    main()
