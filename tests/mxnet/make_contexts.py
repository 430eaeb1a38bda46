"""Records what MXNet 1.9.1's module computes over lists of CPU contexts, for crates/mxrs-train/tests/contexts_mxnet.rs.

    python tests/mxnet/make_contexts.py > crates/mxrs-train/tests/fixtures/contexts.json

Each run makes five steps of a small network with batch normalization, by stochastic gradient descent with momentum. The
record has the initial values, the batches, and for each run the merged outputs of the last step, the parameters and
auxiliary states that get_params returns, and what an accuracy and a cross-entropy counted.
"""

import json
import os

import mxnet as mx
import numpy as np

BATCH, STEPS = 11, 5


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1")
    x = mx.sym.BatchNorm(x, fix_gamma=False, name="bn1")
    x = mx.sym.Activation(x, act_type="relu", name="relu1")
    x = mx.sym.FullyConnected(x, num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def listed(array):
    return [float(v) for v in array.asnumpy().ravel()]


random = np.random.RandomState(3)
shapes, _, aux_shapes = network().infer_shape(data=(BATCH, 6))
names = [n for n in network().list_arguments() if n not in ("data", "softmax_label")]
shapes = dict(zip(network().list_arguments(), shapes))
start = {n: random.uniform(-0.5, 0.5, shapes[n]).astype("float32") for n in names}
aux = {"bn1_moving_mean": np.zeros(8, "float32"), "bn1_moving_var": np.ones(8, "float32")}
batches = [(random.uniform(-1, 1, (BATCH, 6)).astype("float32"), random.randint(0, 3, BATCH).astype("float32"))
           for _ in range(STEPS)]


def run(n_contexts, store, on_store, work_load):
    os.environ["MXNET_UPDATE_ON_KVSTORE"] = str(on_store)
    contexts = [mx.cpu(i) for i in range(n_contexts)]
    module = mx.mod.Module(network(), context=contexts, work_load_list=work_load)
    module.bind([("data", (BATCH, 6))], [("softmax_label", (BATCH,))])
    module.init_params(arg_params={n: mx.nd.array(v) for n, v in start.items()},
                       aux_params={n: mx.nd.array(v) for n, v in aux.items()})
    module.init_optimizer(kvstore=store, optimizer="sgd",
                          optimizer_params={"learning_rate": 0.2, "momentum": 0.9, "wd": 1e-3})
    metric = mx.metric.create(["acc", "ce"])
    for data, label in batches:
        module.forward_backward(mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)]))
        module.update()
        module.update_metric(metric, [mx.nd.array(label)])
    args, auxs = module.get_params()
    return {"contexts": n_contexts, "store": store, "on_store": bool(on_store), "work_load": work_load,
            "updates_on_store": bool(module._update_on_kvstore), "has_store": module._kvstore is not None,
            "output": listed(module.get_outputs()[0]),
            "params": {n: listed(v) for n, v in list(args.items()) + list(auxs.items())},
            "metric": [float(v) for v in metric.get()[1]]}


def hexed(array):
    return np.ascontiguousarray(array).tobytes().hex()


def mean(n, dtype):
    """The mean of n arrays, as Module.get_params computes it."""
    arrays = (random.uniform(-1, 1, (n, 12)) * 2.0 ** random.randint(-6, 6, (n, 12))).astype(dtype)
    arrays[:, 0] = -0.0
    arrays[:, 1] = arrays[0, 1]
    copies = [mx.nd.array(a, dtype=dtype, ctx=mx.cpu(i)) for i, a in enumerate(arrays)]
    found = sum(copy.copyto(mx.cpu()) for copy in copies) / len(copies)
    return {"dtype": dtype, "copies": [hexed(a) for a in arrays], "mean": hexed(found.astype(dtype).asnumpy())}


runs = [run(n, store, on_store, None) for n in (1, 2, 3) for store in ("local", "device") for on_store in (1, 0)]
runs.append(run(2, "local", 1, [1, 3]))
runs.append(run(2, None, 1, None))
print(json.dumps({
    "batch": BATCH,
    "start": {n: [float(x) for x in v.ravel()] for n, v in {**start, **aux}.items()},
    "batches": [[[float(x) for x in data.ravel()], [float(x) for x in label]] for data, label in batches],
    "runs": runs,
    "means": [mean(n, dtype) for dtype in ("float32", "float16", "float64") for n in (2, 3, 5)],
}))
