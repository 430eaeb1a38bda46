#!/usr/bin/env python3
"""Writes ../fixtures/optimizers.json, and states after five updates as ../fixtures/<case>.states, with MXNet 1.9.1: weights after each of ten updates, for many settings.

    python make_optimizers.py        needs mxnet==1.9.1 (CPU) and numpy 1.23

DCASGD with momentum cannot be recorded: MXNet's fails for weights of more than one element.

All parameters are updated by one call, as Module does, so optimizers that can aggregate. Gradients are the same for all
cases; cases in half precision round them.
"""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10
# Cases whose states are saved, and whether with the optimizer, as Gluon's Trainer does.
SAVED = {'sgd_momentum_0.9_all': False, 'adam_all': True, 'nag_half': True, 'rmsprop_0_half': False, 'adam_0_half': True,
         'rmsprop_centered_True_all': True}
SHAPES = {'fc_weight': (4, 3), 'fc_bias': (4,), 'bn_gamma': (5,)}


def cases():
    """(name, optimizer, settings, options)"""
    out = []

    def add(name, optimizer, settings, **options):
        out.append((name, optimizer, settings, options))

    common = dict(learning_rate=0.05, wd=0.01, rescale_grad=0.5, clip_gradient=0.3)
    for optimizer, extra in [('sgd', {}), ('sgd', dict(momentum=0.9)), ('ccsgd', dict(momentum=0.5)),
                             ('nag', {}), ('nag', dict(momentum=0.9)), ('signum', {}), ('signum', dict(momentum=0)),
                             ('signum', dict(wd_lh=0.1)), ('ftml', {}), ('dcasgd', {}),
                             ('adam', {}), ('adam', dict(beta1=0.8, beta2=0.95, epsilon=1e-4)), ('adagrad', {}),
                             ('rmsprop', {}), ('rmsprop', dict(centered=True)), ('rmsprop', dict(clip_weights=0.5)),
                             ('adadelta', {}), ('ftrl', dict(lamda1=0.02, beta=0.5)), ('adamax', {}), ('nadam', {}),
                             ('lamb', {}), ('lamb', dict(bias_correction=False, lower_bound=0.5, upper_bound=1.0)),
                             ('lars', dict(momentum=0.9, eta=0.1)), ('lars', dict(eta=0.1, eps=1e-3)), ('lbsgd', {}),
                             ('lbsgd', dict(momentum=0.9, warmup_epochs=1, updates_per_epoch=6, batch_scale=2)),
                             ('lbsgd', dict(warmup_strategy='sqrt', warmup_epochs=1, updates_per_epoch=9, batch_scale=3)),
                             ('lbsgd', dict(warmup_strategy='power2', warmup_epochs=1, updates_per_epoch=9, batch_scale=2)),
                             ('lbsgd', dict(warmup_strategy='lars')), ('test', {})]:
        label = '_'.join([optimizer] + ['%s_%s' % (k, v) for k, v in extra.items()])
        add(label + '_plain', optimizer, dict(learning_rate=0.05, **extra))
        add(label + '_all', optimizer, {**common, **extra})
    for optimizer in ['adam', 'ftrl', 'adamax', 'nadam', 'rmsprop', 'lamb', 'sgd']:
        add(optimizer + '_defaults', optimizer, {})
    mult = dict(lr_mult={'fc_bias': 2.0}, wd_mult={'fc_bias': 0.5, 'fc_weight': 3.0})
    for optimizer in ['sgd', 'adam', 'lars', 'lamb']:
        add(optimizer + '_mult', optimizer, common, **mult)
    add('sgd_later', 'sgd', dict(common, momentum=0.9, begin_num_update=3))
    add('adam_later', 'adam', dict(common, begin_num_update=3))
    groups = dict(learning_rate=0.05, rescale_grad=0.5, clip_gradient=0.3)
    add('groupadagrad', 'groupadagrad', groups, only=['fc_weight'])
    for optimizer, extra in [('sgd', dict(momentum=0.9)), ('sgd', {}), ('adam', {}), ('adagrad', {}), ('nadam', {}),
                             ('rmsprop', {}), ('ftml', {})]:
        label = '%s_%s' % (optimizer, len(extra))
        add(label + '_half', optimizer, dict(common, multi_precision=True, **extra), half=True)
    add('nag_half', 'nag', dict(learning_rate=0.05, momentum=0.9, multi_precision=True), half=True)
    # With the decay of the old weight in the momentum these were off by 8e-6 and 8e-3.
    add('nag_decay', 'nag', dict(learning_rate=0.05, momentum=0.9, wd=1e-4))
    add('nag_decay_half', 'nag', dict(learning_rate=0.05, momentum=0.9, wd=0.1, multi_precision=True), half=True)
    for name, settings in [('factor', dict(step=3, factor=0.5)), ('stop', dict(step=2, factor=0.1, stop_factor_lr=1e-3)),
                           ('multi_factor', dict(step=[2, 5, 6], factor=0.3)), ('poly', dict(max_update=8, pwr=2)),
                           ('cosine', dict(max_update=8, final_lr=0.01))]:
        for warm in [{}, dict(warmup_steps=3, warmup_begin_lr=0.002),
                     dict(warmup_steps=4, warmup_begin_lr=0.01, warmup_mode='constant')]:
            label = 'schedule_%s_%s' % (name, warm.get('warmup_mode', 'linear' if warm else 'cold'))
            add(label, 'sgd', dict(momentum=0.9), schedule=name, schedule_settings=dict(settings, base_lr=0.1, **warm))
    add('schedule_own', 'adam', {}, schedule='factor', schedule_settings=dict(step=3, factor=0.5, base_lr=0.1))
    return out


def main():
    import mxnet as mx
    import numpy as np
    rng = np.random.default_rng(7)
    schedules = dict(factor=mx.lr_scheduler.FactorScheduler, stop=mx.lr_scheduler.FactorScheduler,
                     multi_factor=mx.lr_scheduler.MultiFactorScheduler, poly=mx.lr_scheduler.PolyScheduler,
                     cosine=mx.lr_scheduler.CosineScheduler)
    # Numbers that half precision holds too.
    half = lambda a: a.astype('float16').astype('float32')
    start = {k: half(rng.uniform(-1, 1, s)) for k, s in SHAPES.items()}
    grads = [{k: half(rng.uniform(-1, 1, s)) for k, s in SHAPES.items()} for _ in range(STEPS)]
    numbers = lambda a: [float(str(np.float32(x))) for x in a.ravel()]
    document = dict(shapes=SHAPES, start={k: numbers(a) for k, a in start.items()},
                    grads=[{k: numbers(a) for k, a in g.items()} for g in grads], cases=[])
    for name, optimizer, settings, options in cases():
        names = options.get('only', list(SHAPES))
        extra = {}
        if 'schedule' in options:
            extra['lr_scheduler'] = schedules[options['schedule']](**options['schedule_settings'])
        opt = mx.optimizer.create(optimizer, param_idx2name=dict(enumerate(names)), **settings, **extra)
        if 'lr_mult' in options:
            opt.set_lr_mult(options['lr_mult'])
            opt.set_wd_mult(options['wd_mult'])
        updater = mx.optimizer.get_updater(opt)
        dtype = 'float16' if options.get('half') else 'float32'
        weights = [mx.nd.array(start[k], dtype=dtype) for k in names]
        steps = []
        for done, grad in enumerate(grads):
            if done == 5 and name in SAVED:
                with open(os.path.join(HERE, '..', 'fixtures', name + '.states'), 'wb') as f:
                    f.write(updater.get_states(dump_optimizer=SAVED[name]))
            updater(list(range(len(names))), [mx.nd.array(grad[k], dtype=dtype) for k in names], weights)
            steps.append({k: numbers(w.astype('float32').asnumpy()) for k, w in zip(names, weights)})
        document['cases'].append(dict(
            name=name, optimizer=optimizer, settings={k: str(x) for k, x in settings.items()}, half=dtype == 'float16',
            lr_mult=options.get('lr_mult', {}), wd_mult=options.get('wd_mult', {}), schedule=options.get('schedule'),
            schedule_settings=options.get('schedule_settings', {}), steps=steps))
    with open(os.path.join(HERE, '..', 'fixtures', 'optimizers.json'), 'w') as f:
        cases_text = ',\n'.join(json.dumps(c, separators=(',', ':')) for c in document.pop('cases'))
        f.write('%s,"cases":[\n%s\n]}\n' % (json.dumps(document, separators=(',', ':'))[:-1], cases_text))


if __name__ == '__main__':
    main()
