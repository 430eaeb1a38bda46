"""Records how the loss scale of MXNet 1.9.1's AMP changes (`mxnet.contrib.amp.loss_scaler.LossScaler`).

    python make_loss_scaler.py <file to write>

The result is a list of runs of equal steps: whether the gradients of the steps are finite, the number of steps, and the scale
after them. The scale is the one that MXNet has decided on, `_next_loss_scale`; `loss_scale` takes its value one step later.
"""
import json
import sys

import mxnet as mx
from mxnet.contrib.amp.loss_scaler import LossScaler


class Parameter:
    def __init__(self, values):
        self._grad = [mx.nd.array(values)]


finite = [Parameter([1.0, -2.0]), Parameter([0.0])]
overflows = [finite[:1] + [Parameter([bad])] for bad in (float('inf'), float('-inf'), float('nan'))]
scaler = LossScaler()
runs = [{'is_finite': True, 'n_steps': 0, 'scale': scaler._next_loss_scale}]
plan = [(False, 1), (False, 2), (True, 1999), (False, 1), (True, 1999), (True, 1), (True, 1999), (True, 2), (True, 1998)]
plan += [(True, 2000)] * 12 + [(False, 1), (True, 1), (False, 1), (True, 2000)] + [(False, 5)] * 4
for number, (is_finite, n_steps) in enumerate(plan):
    for step in range(n_steps):
        params = finite if is_finite else overflows[(number + step) % 3]
        assert scaler.has_overflow(params) != is_finite
    runs.append({'is_finite': is_finite, 'n_steps': n_steps, 'scale': scaler._next_loss_scale})
with open(sys.argv[1], 'w') as out:
    out.write('[\n' + ',\n'.join(json.dumps(run) for run in runs) + '\n]\n')
