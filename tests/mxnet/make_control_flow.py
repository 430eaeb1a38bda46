"""Records loops and branches of MXNet 1.9.1 in `crates/mxrs-exec/tests/golden/control_flow.json`.

    python make_control_flow.py ../../crates/mxrs-exec/tests/golden/control_flow.json

Needs MXNet 1.9.1 with NumPy 1.23. Each case has a symbol, inputs, outputs, the gradient of every argument, and the gradients of the
outputs from which they follow. `n_steps` is the number of steps that a while loop takes: MXNet leaves later rows of its outputs
undefined. Bodies are deterministic and have no mode, because MXNet's executor runs them as at inference even in training.
"""
import json
import sys

import numpy as np

np.bool = bool  # MXNet 1.9.1 uses the old name.

import mxnet as mx
from mxnet import nd, sym

contrib = sym.contrib
CASES = []


def numbers(rng, shape):
    return np.round(rng.uniform(-1, 1, shape), 3).astype(np.float32)


def tensor(array):
    return {'shape': list(array.shape), 'values': [float(v) for v in array.reshape(-1)]}


def record(name, heads, inputs, n_steps=None, stacked=(), unrolled=None, by_hand=None):
    """Runs a symbol and adds it to the cases. `stacked` are the heads with a row per step of a while loop. MXNet fails to compute
    some loops in loops: their gradients come from the symbol `unrolled`, which computes the same without loops, or outputs and
    gradients come from the function `by_hand` of arrays."""
    symbol = sym.Group(heads) if len(heads) > 1 else heads[0]
    rng = np.random.RandomState(len(CASES))
    arrays = {k: nd.array(numbers(rng, v) if isinstance(v, tuple) else np.array(v, np.float32)) for k, v in inputs.items()}
    assert symbol.list_auxiliary_states() == [] and set(symbol.list_arguments()) == set(arrays), symbol.list_arguments()
    grads = {k: nd.zeros_like(v) for k, v in arrays.items()}
    if by_hand:
        mx.autograd.mark_variables(list(arrays.values()), list(grads.values()))
        with mx.autograd.record():
            outputs = by_hand(arrays)
    else:
        executor = symbol.bind(mx.cpu(), dict(arrays), args_grad=grads)
        outputs = executor.forward(is_train=True)
    head_grads = [nd.array(numbers(rng, o.shape)) for o in outputs]
    if by_hand:
        mx.autograd.backward(outputs, head_grads)
    elif unrolled:
        executor = sym.Group(unrolled).bind(mx.cpu(), dict(arrays), args_grad=grads)
        for ours, same in zip(outputs, executor.forward(is_train=True)):
            np.testing.assert_allclose(ours.asnumpy(), same.asnumpy(), rtol=1e-6)
    if not by_hand:
        executor.backward(head_grads)
    nd.waitall()
    _, shapes, _ = (None, None, None) if by_hand else symbol.infer_shape(**{k: v.shape for k, v in arrays.items()})
    case = {
        'name': name, 'symbol': symbol.tojson(), 'inputs': {k: tensor(v.asnumpy()) for k, v in arrays.items()},
        'outputs': [tensor(o.asnumpy()) for o in outputs], 'head_grads': [tensor(g.asnumpy()) for g in head_grads],
        'gradients': {k: tensor(v.asnumpy()) for k, v in grads.items()},
    }
    # MXNet infers nothing for some loops with a condition.
    assert shapes is None or [list(s) for s in shapes] == [o['shape'] for o in case['outputs']]
    if n_steps is not None:
        case['n_steps'], case['stacked'] = n_steps, list(stacked)
        for index in stacked:
            output = case['outputs'][index]
            row = len(output['values']) // output['shape'][0]
            output['values'] = output['values'][:n_steps * row]
            assert len(output['values']) == n_steps * row
    values = [v for t in case['outputs'] + list(case['gradients'].values()) for v in t['values']]
    assert np.isfinite(values).all(), (name, case)
    CASES.append(case)


def unroll(body, data, states, n):
    """The loop over n rows, without a loop."""
    rows = []
    for k in range(n):
        out, states = body(sym.squeeze(sym.slice_axis(data, axis=0, begin=k, end=k + 1), axis=0), states)
        rows.append(out)
    return sym.stack(*rows, axis=0, num_args=n), states


def as_list(value):
    return value if isinstance(value, list) else [value]


def foreach(body, data, states):
    outs, last = contrib.foreach(body, data, states)
    return as_list(outs) + as_list(last)


def while_loop(cond, func, states, max_iterations):
    outs, last = contrib.while_loop(cond, func, states, max_iterations=max_iterations)
    return as_list(outs) + as_list(last)


def main(path):
    d, e, s, t, w, v, i = [sym.var(n) for n in ['data', 'other', 's', 't', 'w', 'v', 'i']]

    # Loops over rows.
    add = lambda x, st: (x + st[0], [x + st[0]])
    record('cumulative_sum', foreach(add, d, [s]), {'data': (4, 3), 's': (3,)})
    record('rows_of_one_axis', foreach(add, d, [s]), {'data': (5,), 's': (1,)})
    record('one_row', foreach(add, d, [s]), {'data': (1, 2, 3), 's': (2, 3)})
    record('weight_outside', foreach(lambda x, st: (x * w * st[0], [st[0] + x * w]), d, [s]),
           {'data': (4, 3), 's': (3,), 'w': (3,)})
    two = lambda x, st: ([x[0] * st[0], x[1] + st[1] * w], [st[0] + x[1], st[1] * x[0]])
    record('two_data_and_two_states', foreach(two, [d, e], [s, t]),
           {'data': (3, 2), 'other': (3, 2), 's': (2,), 't': (2,), 'w': (2,)})
    record('outputs_only', foreach(add, d, [s])[:1], {'data': (4, 3), 's': (3,)})
    record('states_only', foreach(add, d, [s])[1:], {'data': (4, 3), 's': (3,)})
    unused = foreach(lambda x, st: ([x * w, x * v], [st[0] + x]), d, [s])
    record('output_that_is_not_used', unused[:1], {'data': (3, 2), 's': (2,), 'w': (2,), 'v': (2,)})
    record('expression_outside', foreach(lambda x, st: (x * sym.tanh(w * v), [x + st[0]]), d, [sym.sin(s)]),
           {'data': (3, 2), 's': (2,), 'w': (2,), 'v': (2,)})

    for name, cell in [('rnn', mx.rnn.RNNCell(4, prefix='rnn_')), ('lstm', mx.rnn.LSTMCell(4, prefix='lstm_')),
                       ('gru', mx.rnn.GRUCell(4, prefix='gru_'))]:
        n_gates = {'rnn': 1, 'lstm': 4, 'gru': 3}[name]
        states = [sym.var(f'state{k}') for k in range(2 if name == 'lstm' else 1)]
        inputs = {'data': (5, 2, 3), f'{name}_i2h_weight': (4 * n_gates, 3), f'{name}_h2h_weight': (4 * n_gates, 4),
                  f'{name}_i2h_bias': (4 * n_gates,), f'{name}_h2h_bias': (4 * n_gates,)}
        inputs.update({f'state{k}': (2, 4) for k in range(len(states))})
        record(f'{name}_cell', foreach(lambda x, st: cell(x, st), d, states), inputs)
    fc = lambda x, st: (sym.FullyConnected(x, num_hidden=4, name='fc'), [st[0] + x])
    record('shapes_inferred_backwards', foreach(fc, d, [s]),
           {'data': (3, 2, 5), 's': (2, 5), 'fc_weight': (4, 5), 'fc_bias': (4,)})

    # Loops in loops, and chains of loops.
    inner = lambda x, st: (x * w, [st[0] + x])
    nested = foreach(lambda x, st: tuple(contrib.foreach(inner, x, st)), d, [s])
    plain = lambda x, st: unroll(inner, x, st, 4)
    out, last = unroll(plain, d, [s], 3)
    record('nested', nested, {'data': (3, 4, 2), 's': (2,), 'w': (2,)}, unrolled=[out] + last)
    first = foreach(add, d, [s])
    record('chained', foreach(lambda x, st: (x * x, [st[0] * x]), first[0], [first[1]]), {'data': (3, 2), 's': (2,)})

    # Loops with a condition.
    until = lambda limit, n: while_loop(lambda i, s: s < limit, lambda i, s: ([s * 2, s * i], [i + 1, s + i * w]), [i, s], n)
    for name, limit, n, n_steps in [('stops_early', 5, 6, 3), ('reaches_the_limit', 50, 4, 4), ('one_iteration', 5, 1, 1)]:
        record(name, until(limit, n), {'i': [1.], 's': [1.], 'w': [1.]}, n_steps, [0, 1])
    vector = while_loop(lambda i, s: sym.sum(s) < 5, lambda i, s: ([s * s], [i + 1, s * w]), [i, s], 4)
    record('vector_state', vector, {'i': [1.], 's': [1., 1.], 'w': [2., 1.]}, 2, [0])
    record('while_states_only', until(5, 6)[2:], {'i': [1.], 's': [1.], 'w': [1.]})
    record('while_outputs_only', until(5, 6)[:1], {'i': [1.], 's': [1.], 'w': [1.]}, 3, [0])
    # The last state is 0, at which the derivative of the square root is infinite: the steps behind the last must not count.
    root = while_loop(lambda s: s > 0, lambda s: ([sym.sqrt(s) * w], [s - 1]), [s], 5)
    record('derivative_is_infinite_after_the_last_step', root, {'s': [3.], 'w': [2.]}, 3, [0])
    record('while_in_foreach', foreach(lambda x, st: (until_of(x), [st[0] + x]), d, [s]),
           {'data': [[1.], [2.], [4.]], 's': (1,)}, by_hand=while_in_foreach)

    # Branches.
    branch = lambda p: contrib.cond(p, lambda: [d * w, d - t], lambda: [d + v, d * t])
    for name, p in [('taken', 1.), ('not_taken', 7.)]:
        record(f'branch_{name}', branch(s < 5), {'data': (3,), 'w': (3,), 'v': (3,), 't': (3,), 's': [p]})
    record('condition_is_an_input', branch(s), {'data': (3,), 'w': (3,), 'v': (3,), 't': (3,), 's': [.5]})
    logarithm = lambda x: contrib.cond(sym.sum(x) > 0, lambda: sym.log(x) * w, lambda: sym.sqrt(-x) * v)
    for name, x in [('positive', [1., 2.]), ('negative', [-1., -2.])]:
        record(f'other_branch_is_nan_{name}', [logarithm(d)], {'data': x, 'w': (2,), 'v': (2,)})
    choose = lambda x, st: (contrib.cond(sym.sum(x) > 0, lambda: x * w, lambda: x - v), [st[0] + x])
    record('branch_in_foreach', foreach(choose, d, [s]),
           {'data': [[1., 2.], [-1., -2.], [3., -1.]], 's': (2,), 'w': (2,), 'v': (2,)}, by_hand=branch_in_foreach)
    loops = contrib.cond(sym.sum(t) > 0, lambda: foreach(add, d, [s]), lambda: foreach(lambda x, st: (x * st[0], [st[0] + w]), d, [s]))
    for name, p in [('taken', [1.]), ('not_taken', [-1.])]:
        record(f'foreach_in_branch_{name}', as_list(loops), {'data': (3, 2), 's': (2,), 'w': (2,), 't': p}, by_hand=foreach_in_branch)

    with open(path, 'w') as file:
        json.dump({'mxnet': mx.__version__, 'cases': CASES}, file, indent=1)
    print(len(CASES), 'cases')


def until_of(x):
    """x, doubled until it is at least 5, and at most 4 times."""
    outs, last = contrib.while_loop(lambda a: a < 5, lambda a: ([], [a * 2]), [x], max_iterations=4)
    return as_list(last)[0]


def while_in_foreach(arrays):
    """The case of this name."""
    rows, s = [], arrays['s']
    for k in range(arrays['data'].shape[0]):
        row = arrays['data'][k]
        s = s + row
        for _ in range(4):
            row = row * 2 if row.asscalar() < 5 else row
        rows.append(row)
    return [nd.stack(*rows, axis=0), s]


def branch_in_foreach(arrays):
    """The case of this name."""
    rows, s = [], arrays['s']
    for k in range(arrays['data'].shape[0]):
        row = arrays['data'][k]
        s = s + row
        rows.append(row * arrays['w'] if row.sum().asscalar() > 0 else row - arrays['v'])
    return [nd.stack(*rows, axis=0), s]


def foreach_in_branch(arrays):
    """The cases of this name."""
    rows, s = [], arrays['s']
    for k in range(arrays['data'].shape[0]):
        row = arrays['data'][k]
        if arrays['t'].asscalar() > 0:
            s = s + row
            rows.append(s)
        else:
            rows.append(row * s)
            s = s + arrays['w']
    return [nd.stack(*rows, axis=0), s]


if __name__ == '__main__':
    main(sys.argv[1])
