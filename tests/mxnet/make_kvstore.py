"""Records what MXNet 1.9.1's stores `local` and `device` compute over CPU contexts, for
crates/mxrs-kvstore/tests/mxnet.rs.

    python tests/mxnet/make_kvstore.py > crates/mxrs-kvstore/tests/golden/kvstore.json
"""

import json

import mxnet as mx
import numpy as np

N, MOST = 24, 9
DTYPES = ["float32", "float64", "float16", "uint8", "int8", "int32", "int64"]


def values(dtype):
    """MOST arrays of N elements of different magnitudes."""
    random = np.random.RandomState(7)
    if dtype.startswith("float"):
        spread = random.uniform(-1, 1, (MOST, N)) * 2.0 ** random.randint(-8, 8, (MOST, N))
        return spread.astype(dtype)
    info = np.iinfo(dtype)
    return random.randint(info.min, info.max, (MOST, N), dtype=dtype)


def hexed(array):
    return np.ascontiguousarray(array).tobytes().hex()


def sums(store_type, dtype, arrays):
    """The hexadecimal sums of the first 1 to MOST arrays, or None if MXNet refuses the type."""
    found = []
    for m in range(1, MOST + 1):
        store = mx.kv.create(store_type)
        store.init("w", mx.nd.zeros((N,), dtype=dtype))
        try:
            store.push("w", [mx.nd.array(arrays[i], ctx=mx.cpu(i), dtype=dtype) for i in range(m)])
            out = mx.nd.zeros((N,), dtype=dtype)
            store.pull("w", out=out)
            found.append(hexed(out.asnumpy()))
        except mx.base.MXNetError:
            return None
    return found


def compressed(threshold, n_devices, rounds):
    """Sums of `device` with two bits per element, one for each round."""
    store = mx.kv.create("device")
    store.set_gradient_compression({"type": "2bit", "threshold": threshold})
    store.init("w", mx.nd.zeros((N,)))
    arrays = values("float32")
    found = []
    for _ in range(rounds):
        store.push("w", [mx.nd.array(arrays[i], ctx=mx.cpu(i)) for i in range(n_devices)])
        out = mx.nd.zeros((N,))
        store.pull("w", out=out)
        found.append(hexed(out.asnumpy()))
    return found


def row_sparse(store_type):
    """The sum of row-sparse values: the row numbers of each value, and the sum as dense rows."""
    arrays, ids = values("float32"), [[0, 3], [3], [1, 3, 5], [], [3, 5]]
    store = mx.kv.create(store_type)
    store.init("w", mx.nd.zeros((6, 4)).tostype("row_sparse"))
    pushed = []
    for i, rows in enumerate(ids):
        data = arrays[i].reshape(6, 4)[: len(rows)]
        if rows:
            pushed.append(mx.nd.sparse.row_sparse_array((data, rows), shape=(6, 4), ctx=mx.cpu(i)))
        else:
            pushed.append(mx.nd.sparse.zeros("row_sparse", (6, 4), ctx=mx.cpu(i)))
    store.push("w", pushed)
    out = mx.nd.sparse.zeros("row_sparse", (6, 4))
    store.row_sparse_pull("w", out=out, row_ids=mx.nd.array(range(6), dtype="int64"))
    return {"ids": ids, "sum": hexed(out.tostype("default").asnumpy())}


record = {"n": N, "inputs": {}, "sums": {"local": {}, "device": {}}, "compressed": [], "row_sparse": {}}
for dtype in DTYPES:
    arrays = values(dtype)
    record["inputs"][dtype] = [hexed(a) for a in arrays]
    for store_type in ("local", "device"):
        record["sums"][store_type][dtype] = sums(store_type, dtype, arrays)
for store_type in ("local", "device"):
    record["row_sparse"][store_type] = row_sparse(store_type)
for threshold, n_devices in ((0.5, 1), (0.25, 3)):
    try:
        found = compressed(threshold, n_devices, 3)
    except mx.base.MXNetError:
        found = None
    record["compressed"].append({"threshold": threshold, "devices": n_devices, "sums": found})
print(json.dumps(record))
