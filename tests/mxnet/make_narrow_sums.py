"""Softmax of float16 as MXNet 1.9.1 computes it with MXNET_SAFE_ACCUMULATION=0 and 1, for the test of that variable in
crates/mxrs/tests/env_effects/resources.rs.

    MXNET_SAFE_ACCUMULATION=0 python tests/mxnet/make_narrow_sums.py
"""

import mxnet as mx
import numpy as np

row = ((np.arange(5000) * 37 % 64) / 64 - 0.5).astype("float16")
for data, axis in ((row.reshape(1, 5000), 1), (row.reshape(5000, 1), 0)):
    x = mx.nd.array(data, dtype="float16")
    for name in ("softmax", "log_softmax"):
        y = getattr(mx.nd, name)(x, axis=axis).asnumpy().reshape(-1)
        print(axis, name, y[:4].astype("float32").tolist(), float(np.exp(y.astype("f8")).sum() if "log" in name else y.astype("f8").sum()))
