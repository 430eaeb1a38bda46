"""Records the values of every metric of MXNet 1.9.1 on random batches.

    python make_metrics.py <file to write>

Writes JSON: cases with a metric, its parameters, batches (label and prediction with their shapes) and MXNet's values after
each batch: `get` and `get_global`, with `reset_local` after the second batch.
"""
import json
import sys

import mxnet as mx
import numpy as np

rng = np.random.RandomState(7)


def probabilities(n, k):
    p = np.exp(rng.randn(n, k))
    return (p / p.sum(axis=1, keepdims=True)).astype('float32')


def classes(n, k):
    return rng.randint(0, k, n).astype('float32')


def of_classes(k, n=6, column=False):
    label = classes(n, k)
    return label.reshape(n, 1) if column else label, probabilities(n, k)


def numbers(*shape):
    return rng.randn(*shape).astype('float32'), rng.randn(*shape).astype('float32')


CASES = [
    ('acc', {}, lambda: of_classes(4)),
    ('acc', {}, lambda: of_classes(4, column=True)),
    ('acc', {}, lambda: (classes(6, 2), classes(6, 2))),
    ('acc', {'axis': 1}, lambda: (rng.randint(0, 3, (2, 5)).astype('float32'), rng.rand(2, 3, 5).astype('float32'))),
    ('top_k_acc', {'top_k': 2}, lambda: of_classes(5)),
    ('f1', {}, lambda: of_classes(2)),
    ('f1', {'average': 'micro'}, lambda: of_classes(2)),
    ('mcc', {}, lambda: of_classes(2)),
    ('mcc', {'average': 'micro'}, lambda: of_classes(2)),
    ('pcc', {}, lambda: of_classes(4)),
    ('perplexity', {'ignore_label': 1}, lambda: of_classes(4)),
    ('perplexity', {'ignore_label': None}, lambda: of_classes(4)),
    ('ce', {}, lambda: of_classes(4)),
    ('ce', {'eps': 0.01}, lambda: of_classes(4)),
    ('nll_loss', {}, lambda: of_classes(4)),
    ('mae', {}, lambda: numbers(6)),
    ('mse', {}, lambda: numbers(5, 3)),
    ('rmse', {}, lambda: numbers(6, 2)),
    ('rmse', {}, lambda: (rng.randn(4).astype('float32'), rng.randn(4, 3).astype('float32'))),
    ('pearsonr', {}, lambda: numbers(7)),
    ('pearsonr', {'average': 'micro'}, lambda: numbers(7, 2)),
    ('loss', {}, lambda: numbers(6)),
]


def array(a):
    return {'shape': list(a.shape), 'values': [float(v) for v in a.ravel()]}


out = []
for name, params, make in CASES:
    metric = mx.metric.create(name, **params)
    batches = []
    for i in range(3):
        label, pred = make()
        metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
        # For the running correlation, MXNet keeps no separate value of the whole epoch.
        is_lost = name == 'pearsonr' and 'average' in params
        batches.append({'label': array(label), 'pred': array(pred), 'get': float(metric.get()[1]),
                        'get_global': None if is_lost else float(metric.get_global()[1])})
        if i == 1 and not is_lost:
            metric.reset_local()
    out.append({'metric': name, 'printed': metric.get()[0], 'params': {k: str(v) for k, v in params.items()},
                'resets': not is_lost, 'batches': batches})
json.dump(out, open(sys.argv[1], 'w'))
