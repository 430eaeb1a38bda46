"""Records the distributions of MXNet 1.9.1's initializers, as quantiles of 10,000 or more values each.

  python tests/mxnet/make_initializers.py > crates/mxrs-models/tests/fixtures/initializers.json

Needs Python 3.8 to 3.11 with mxnet==1.9.1 and numpy==1.23.5.
"""
import json
import warnings

import mxnet as mx
import numpy as np

warnings.simplefilter('ignore')
mx.random.seed(7)
np.random.seed(7)

N_QUANTILES = 199
# The value of the attribute `__init__`, and the shape of the array that is filled.
CASES = [
    (['uniform', {}], (100, 100)),
    (['uniform', {'scale': 2.0}], (100, 100)),
    (['normal', {}], (100, 100)),
    (['normal', {'sigma': 3.0}], (100, 100)),
    (['xavier', {}], (40, 30, 3, 3)),
    (['xavier', {'rnd_type': 'gaussian', 'factor_type': 'in', 'magnitude': 2}], (40, 30, 3, 3)),
    (['xavier', {'factor_type': 'out', 'magnitude': 2.34}], (50, 200)),
    (['msraprelu', {}], (40, 30, 3, 3)),
    (['msraprelu', {'factor_type': 'in', 'slope': 0.0}], (40, 30, 3, 3)),
    (['orthogonal', {}], (100, 100)),
    (['orthogonal', {'rand_type': 'normal', 'scale': 1.0}], (40, 30, 3, 3)),
]


def main():
    rows = []
    for init, shape in CASES:
        array = mx.nd.zeros(shape)
        mx.init.create(init[0], **init[1])(mx.init.InitDesc('a_weight'), array)
        values = np.sort(array.asnumpy().ravel().astype(np.float64))
        at = np.arange(1, N_QUANTILES + 1) / (N_QUANTILES + 1)
        quantiles = np.quantile(values, at)
        rows.append({'init': json.dumps(init), 'shape': shape, 'n': int(values.size),
                     'quantiles': [float('%.7g' % q) for q in quantiles]})
    print(json.dumps(rows, indent=1))


main()
