"""Writes what MXNet 1.9.1 makes of the networks: one listing per network in golden/.

Usage: check_models.py SYMBOLS [NETWORK...] (Python with MXNet 1.9.1)
SYMBOLS is the folder example/image-classification/symbols of MXNet's source release 1.9.1. Networks of the module `gluon`
come from Gluon's model zoo instead. The Rust tests compare the networks of this crate with the listings, node by node.

A listing starts with the counts (parameters, elements of auxiliary states, nodes). Then one line per node, in order:
operator, name, shapes of the visible outputs, inputs as node:output, attributes. Attributes of variables are left out:
they are copies of their operator's. Gluon's variables have attributes of their own, `__shape__` among them, which are
listed. The networks run with one image per batch.
"""
import importlib.util
import inspect
import json
import pathlib
import sys

import mxnet as mx

# name: (module, image shape, arguments)
NETWORKS = {
    "mlp": ("mlp", (1, 28, 28), dict(num_classes=10)),
    "lenet": ("lenet", (1, 28, 28), dict(num_classes=10)),
    "alexnet": ("alexnet", (3, 224, 224), {}),
    "alexnet-f16": ("alexnet", (3, 224, 224), dict(dtype="float16")),
    "vgg-16": ("vgg", (3, 224, 224), dict(num_layers=16)),
    "vgg-11-bn": ("vgg", (3, 224, 224), dict(num_layers=11, batch_norm=True)),
    "inception-bn": ("inception-bn", (3, 224, 224), {}),
    "inception-bn-28": ("inception-bn", (3, 28, 28), dict(num_classes=10)),
    "inception-v3": ("inception-v3", (3, 299, 299), {}),
    "resnet-18": ("resnet", (3, 224, 224), dict(num_layers=18)),
    "resnet-50": ("resnet", (3, 224, 224), dict(num_layers=50)),
    "resnet-20-28": ("resnet", (3, 28, 28), dict(num_layers=20, num_classes=10)),
    "resnet-20-28-f16": ("resnet", (3, 28, 28), dict(num_layers=20, num_classes=10, dtype="float16")),
    "resnetv1-18": ("resnet-v1", (3, 224, 224), dict(num_layers=18)),
    "resnetv1-50": ("resnet-v1", (3, 224, 224), dict(num_layers=50)),
    "resnetv1-20-28": ("resnet-v1", (3, 28, 28), dict(num_layers=20, num_classes=10)),
    "mobilenet": ("mobilenet", (3, 224, 224), {}),
    "mobilenetv2": ("mobilenetv2", (3, 224, 224), {}),
    "googlenet": ("googlenet", (3, 224, 224), {}),
    "inception-v4": ("inception-v4", (3, 299, 299), {}),
    "inception-resnet-v2": ("inception-resnet-v2", (3, 224, 224), {}),
    "resnext-18": ("resnext", (3, 224, 224), dict(num_layers=18)),
    "resnext-50": ("resnext", (3, 224, 224), dict(num_layers=50)),
    "resnext-20-32-f16": ("resnext", (3, 32, 32), dict(num_layers=20, num_classes=10, dtype="float16")),
    "densenet121": ("gluon", (3, 224, 224), {}),
    "squeezenet1.1": ("gluon", (3, 224, 224), dict(num_classes=10)),
}


def elements(shapes):
    total = 0
    for shape in shapes:
        count = 1
        for size in shape:
            count *= size
        total += count
    return total


def from_example(symbols, module, arguments):
    spec = importlib.util.spec_from_file_location(module.replace("-", "_"), symbols / f"{module}.py")
    code = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
    taken = inspect.signature(code.get_symbol).parameters
    takes_all = any(p.kind == p.VAR_KEYWORD for p in taken.values())
    return code.get_symbol(**{k: v for k, v in arguments.items() if takes_all or k in taken})


def from_gluon(name, arguments):
    net = mx.gluon.model_zoo.vision.get_model(name, classes=arguments["num_classes"])
    net.hybridize()
    return mx.sym.SoftmaxOutput(net(mx.sym.var("data")), name="softmax")


def listed_attrs(node):
    attrs = node.get("attrs", {})
    is_listed = node["op"] != "null" or "__shape__" in attrs
    return " ".join(f"{k}={v}" for k, v in sorted(attrs.items())) if is_listed else ""


def listing(symbols, name, module, image, arguments):
    full = dict(num_classes=1000, image_shape=",".join(map(str, image)))
    full.update(arguments)
    with mx.name.NameManager():
        symbol = from_gluon(name, full) if module == "gluon" else from_example(symbols, module, full)
    data = dict(data=(1, *image))
    arg_shapes, _, aux_shapes = symbol.infer_shape(**data)
    parameters = [s for n, s in zip(symbol.list_arguments(), arg_shapes) if n not in ("data", "softmax_label")]
    internals = symbol.get_internals()
    shapes = {}
    _, outs, _ = internals.infer_shape(**data)
    for name, shape in zip(internals.list_outputs(), outs):
        shapes[name] = shape
    nodes = json.loads(symbol.tojson())["nodes"]
    lines = [f"{elements(parameters)} {elements(aux_shapes)} {len(nodes)}"]
    for node in nodes:
        name = node["name"]
        output = name if node["op"] == "null" else f"{name}_output"
        inputs = ",".join(f"{nodes[i]['name']}:{o}" for i, o, _ in node["inputs"])
        shape = "x".join(map(str, shapes[output]))
        lines.append(f"{node['op']} {name} {shape} [{inputs}] {listed_attrs(node)}".rstrip())
    return "\n".join(lines) + "\n"


def main():
    symbols = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:] or list(NETWORKS)
    folder = pathlib.Path(__file__).parent / "golden"
    folder.mkdir(exist_ok=True)
    for name in wanted:
        text = listing(symbols, name, *NETWORKS[name])
        (folder / f"{name}.txt").write_text(text)
        print(name, text.splitlines()[0])


if __name__ == "__main__":
    main()
