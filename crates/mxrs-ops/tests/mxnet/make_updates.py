#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators that update weights with MXNet 1.9.1: numbers, shapes, types.

    python make_updates.py           needs mxnet==1.9.1 (CPU) and numpy 1.23

`mp_lamb_update_phase2` of MXNet leaves the master weight as it was, so that its steps never add up; here it is the new
weight, and MXNet's is not compared.

Beside the outputs a case records `rewritten`: what the states hold after the call, in the order of the inputs. MXNet
writes them only, so no graph is needed. The two operators for sparse gradients get gradients of all rows.
"""
import json
import os

from make_golden import GOLDEN, encode, fill, u, v

ALL = dict(wd=0.01, rescale_grad=0.5, clip_gradient=0.6)


def weights(*shape, dtype='float32'):
    return u(*shape, dtype=dtype)


def grads(*shape, dtype='float32'):
    return u(*shape, low=-2, high=2, dtype=dtype)


def some(*shape, dtype='float32'):
    return u(*shape, low=-0.5, high=0.5)


def positive(*shape, dtype='float32'):
    return u(*shape, low=0.1, high=1)


def large(*shape, dtype='float32'):
    return u(*shape, low=1, high=2)


def master(*shape, dtype='float32'):
    """A master weight: the weight of its group is this one, exactly (MXNet takes norms of the weight, we of this)."""
    return dict(u(*shape), master=True)


def cases():
    """(operator, name, attributes, input specs, rewritten inputs, options)"""
    out = []

    def add(op, name, attrs, specs, rewritten=(), **options):
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), list(rewritten), options))

    def single(op, settings, states, half=False, shared=(), states_only=False):
        dtype = 'float16' if half else 'float32'
        for name, attrs in settings:
            for shape in [(3, 5), (7,)]:
                specs = [weights(*shape, dtype=dtype), grads(*shape, dtype=dtype)] + [s(*shape) for s in states]
                n = len(specs) - (1 if states_only else 0)
                add(op, '%s_%d_axes' % (name, len(shape)), attrs, specs + list(shared), range(2, n))

    def multi(op, lists, attrs, states, half=False, key='num_weights', shared=()):
        dtype = 'float16' if half else 'float32'
        shapes = [(3, 5), (7,), (2, 1, 3)]
        for name, n, used in [('three', 3, attrs), ('one', 1, {})]:
            specs, rewritten, targets = [], [], []
            for shape in shapes[:n]:
                targets.append(len(specs))
                specs += [weights(*shape, dtype=dtype), grads(*shape, dtype=dtype)]
                rewritten += range(len(specs), len(specs) + len(states))
                specs += [s(*shape) for s in states]
            specs += [s(n) for s in shared]
            # MXNet sums the squares of half-precision weights in half precision.
            options = dict(not_compared=[n + 3 * i + 2 for i in range(n)]) if op == '_multi_mp_lamb_update' else {}
            add(op, name, dict({k: tuple(x[:n]) for k, x in lists.items()}, **used, **{key: n}), specs, rewritten, targets=targets,
                **options)

    sgd = [('all', dict(lr=0.1, **ALL)), ('plain', dict(lr=0.05)), ('to_zero', dict(lr=0.1, clip_gradient=0, wd=0.1))]
    mom = [('all', dict(lr=0.1, momentum=0.9, **ALL)), ('plain', dict(lr=0.05)), ('mom', dict(lr=0.1, momentum=0.8))]
    single('sgd_update', sgd, [])
    single('sgd_mom_update', mom, [some])
    single('mp_sgd_update', sgd, [master], half=True)
    single('mp_sgd_mom_update', mom, [some, master], half=True)
    single('nag_mom_update', mom, [some])
    single('mp_nag_mom_update', mom, [some, master], half=True)
    adam = [('all', dict(lr=0.1, **ALL)), ('plain', dict(lr=0.001)),
            ('betas', dict(lr=0.01, beta1=0.5, beta2=0.9, epsilon=0.001))]
    single('adam_update', adam, [some, positive])
    single('ftml_update', [('all', dict(lr=0.1, t=3, wd=0.01, rescale_grad=0.5, clip_grad=0.6)),
                           ('first', dict(lr=0.01, t=1))], [positive, positive, some])
    single('ftrl_update', [('all', dict(lr=0.1, lamda1=0.05, beta=0.5, **ALL)), ('plain', dict(lr=0.1))],
           [some, positive])
    single('rmsprop_update', [('all', dict(lr=0.1, clip_weights=0.75, **ALL)), ('plain', dict(lr=0.001))], [positive])
    single('rmspropalex_update', [('all', dict(lr=0.1, clip_weights=0.75, **ALL)), ('plain', dict(lr=0.001, gamma2=0.5))],
           [large, some, some])
    single('signsgd_update', [('all', dict(lr=0.1, **ALL)), ('plain', dict(lr=0.01))], [])
    single('signum_update', [('all', dict(lr=0.1, momentum=0.9, wd_lh=0.1, **ALL)), ('plain', dict(lr=0.01))], [some])
    adamw = [('all', dict(lr=0.1, eta=0.5, wd=0.01, clip_gradient=0.6)), ('plain', dict(lr=0.001, eta=1))]
    single('_adamw_update', adamw, [some, positive], shared=[v([0.5])])
    single('_mp_adamw_update', adamw, [some, positive, master], half=True, shared=[v([0.5])])
    for scale in ['inf', 'nan', 0.0]:
        specs = [weights(4), grads(4), some(4), positive(4), v([scale])]
        add('_adamw_update', 'scale_%s' % scale, dict(lr=0.1, eta=1, wd=0.1), specs, [2, 3], in_place=True)
    phase1 = [('all', dict(t=3, **ALL)), ('plain', dict(t=1, wd=0)),
              ('uncorrected', dict(t=2, wd=0.1, bias_correction=False, epsilon=0.001))]
    single('lamb_update_phase1', phase1, [some, positive])
    single('mp_lamb_update_phase1', phase1, [some, positive, master], half=True, states_only=True)
    for name, attrs, r1, r2 in [('plain', dict(lr=0.1), 2.0, 0.5), ('lower', dict(lr=0.1, lower_bound=3), 2.0, 0.5),
                                ('upper', dict(lr=0.1, upper_bound=1.5), 2.0, 0.5), ('no_weight', dict(lr=0.1), 0, 0.5),
                                ('no_step', dict(lr=0.1), 2.0, 0)]:
        add('lamb_update_phase2', name, attrs, [weights(3, 5), some(3, 5), v([r1]), v([r2])])
        add('mp_lamb_update_phase2', name, attrs,
            [weights(3, 5, dtype='float16'), some(3, 5), v([r1]), v([r2]), master(3, 5)], [4],
            not_compared=[1])

    rates = dict(lrs=[0.1, 0.05, 0.2], wds=[0.0, 0.01, 0.001])
    both, with_mom = dict(rescale_grad=0.5, clip_gradient=0.6), dict(momentum=0.9, rescale_grad=0.5, clip_gradient=0.6)
    preloaded = [positive, positive]
    for prefix, lists, shared in [('', rates, ()), ('preloaded_', {}, preloaded)]:
        multi(prefix + 'multi_sgd_update', lists, both, [], shared=shared)
        multi(prefix + 'multi_sgd_mom_update', lists, with_mom, [some], shared=shared)
        multi(prefix + 'multi_mp_sgd_update', lists, both, [master], half=True, shared=shared)
        multi(prefix + 'multi_mp_sgd_mom_update', lists, with_mom, [some, master], half=True, shared=shared)
    etas = dict(rates, etas=[1.0, 0.5, 0.25])
    scale = [lambda n: v([0.5])]
    multi('_multi_adamw_update', etas, dict(clip_gradient=0.6), [some, positive], shared=scale)
    multi('_multi_mp_adamw_update', etas, dict(clip_gradient=0.6), [some, positive, master], half=True, shared=scale)
    steps = dict(learning_rates=rates['lrs'], wds=rates['wds'], step_count=[1, 3, 7])
    bounds = dict(both, lower_bound=0.5, upper_bound=1.5)
    multi('_multi_lamb_update', steps, bounds, [some, positive], key='num_tensors')
    multi('_multi_mp_lamb_update', steps, bounds, [some, positive, master], half=True, key='num_tensors')
    add('multi_sum_sq', 'three', dict(num_arrays=3), [u(3, 5), u(17), u(2, 3, 2)])
    sums = [positive(5), large(5), large(5), positive(5)]
    add('multi_lars', 'rates', dict(eta=0.001, eps=1e-8, rescale_grad=0.5), sums)
    add('multi_lars', 'zeros', dict(eta=0.1, eps=0.5), [positive(3), v([0.0, 1, 4]), v([1.0, 0, 9]), positive(3)])
    for name, values in [('finite', [1.0, 2, 3]), ('inf', [1.0, 'inf', 2]), ('nan', [1.0, 2, 'nan'])]:
        add('all_finite', name, {}, [v(values)])
        add('multi_all_finite', name, dict(num_arrays=2), [u(4), v(values)])
    sparse = [weights(5, 3), dict(grads(5, 3), sparse=True)]
    adagrad = dict(lr=0.1, rescale_grad=0.5, clip_gradient=0.6)
    for name, attrs in [('all', adagrad), ('plain', dict(lr=0.1))]:
        add('_sparse_adagrad_update', name, attrs, sparse + [dict(positive(5, 3), sparse=True)], [2], in_place=True)
        add('_contrib_group_adagrad_update', name, attrs, sparse + [dict(positive(5, 1), sparse=False)], [2], in_place=True)
    return out


def call(mx, name, inputs, attrs, out):
    """By the C API's door, which knows every name."""
    import ctypes
    from mxnet._ctypes.ndarray import _imperative_invoke
    from mxnet.base import _LIB, check_call, c_str
    handle = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
    return _imperative_invoke(handle.value, inputs, list(attrs), list(attrs.values()), out, False, 0)


def names(mx, name, attrs):
    """What a graph calls the inputs (where it names any by itself), and how many are auxiliary."""
    import ctypes
    from mxnet.base import MXNetError, _LIB, check_call, c_str, c_str_array

    def atomic():
        handle, made = ctypes.c_void_p(), ctypes.c_void_p()
        check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
        check_call(_LIB.MXSymbolCreateAtomicSymbol(handle, len(attrs), c_str_array(list(attrs)),
                                                   c_str_array(list(attrs.values())), ctypes.byref(made)))
        return mx.symbol.Symbol(made)
    try:
        symbol = atomic()
        symbol._compose(name='n')
        found = [t[2:] for t in symbol.list_inputs()]
        # The names of `multi_lamb` repeat: they cannot be used.
        return (found, len(symbol.list_auxiliary_states())) if len(set(found)) == len(found) else ([], 0)
    except MXNetError:
        # It makes no variables for these; with some of them MXNet cannot make a graph at all.
        return [], 0


def last_half(specs, i):
    """The weight that belongs to master weight `i`: the half-precision input before a gradient of its type, or alone."""
    halves = [k for k in range(i) if specs[k]['dtype'] == 'float16']
    return halves[-2] if len(halves) > 1 else halves[-1]


def compute(mx, np):
    results = []
    for index, (op, name, attrs, specs, rewritten, options) in enumerate(cases()):
        rng = np.random.default_rng(index)
        arrays = [fill(spec, rng) for spec in specs]
        for i in [i for i, spec in enumerate(specs) if spec.get('master')]:
            arrays[i] = arrays[i].astype('float16').astype('float32')
            arrays[last_half(specs, i)] = arrays[i].astype('float16')
        inputs = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
        inputs = [x.tostype('row_sparse') if s.get('sparse') else x for x, s in zip(inputs, specs)]
        if op == '_sparse_adagrad_update':
            inputs[0] = inputs[0].tostype('row_sparse')
        out = inputs[0] if options.get('in_place') else None
        if 'targets' in options:
            # These cannot make arrays of their own.
            out = [inputs[i] for i in options['targets']]
        made = call(mx, op, inputs, attrs, out)
        made = made if isinstance(made, list) else [made]
        input_names, n_aux = names(mx, op, attrs)
        results.append((op, dict(
            name=name, attrs=attrs, is_train=False, inputs=[encode(a) for a in arrays],
            outputs=[encode(x.asnumpy()) for x in made],
            rewritten=[encode(inputs[i].asnumpy()) for i in rewritten],
            **{k: x for k, x in options.items() if k == 'not_compared'},
            input_names=input_names, n_aux=n_aux, n_outputs=len(made))))
    return results


def main():
    import mxnet as mx
    import numpy as np
    documents = {}
    for op, document in compute(mx, np):
        documents.setdefault(op, []).append(document)
    for op, values in documents.items():
        with open(os.path.join(GOLDEN, op + '.json'), 'w') as f:
            lines = ''.join('\n  ' + json.dumps(c) + ',' for c in values)[:-1]
            f.write('{"op": "%s", "mxnet": "1.9.1",\n"values": [%s],\n"shapes": [],\n"types": []\n}\n' % (op, lines))


if __name__ == '__main__':
    main()
