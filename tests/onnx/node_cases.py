"""Writes the node tests of the ONNX project as files that the program onnx_nodes runs.

  python3 -m venv /tmp/onnx && /tmp/onnx/bin/pip install onnx numpy
  /tmp/onnx/bin/python tests/onnx/node_cases.py /tmp/nodes
  cargo run -p mxrs-tests --bin onnx_nodes -- /tmp/nodes

A case is a folder with model.onnx, in-<i>.npy and out-<i>.npy. The inputs that are not float32 become constants of the model,
because sizes, axes and indices must be constants for mxrs; so do the inputs that some operators need as constants. Newer models
are marked as version 21, the newest that mxrs reads: later versions of these operators only add types. Left out are operators
that version 21 does not have, models of several nodes, of other domains, and with types other than numbers and bools.
"""
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

NUMBERS = {np.dtype(name) for name in ['float32', 'float64', 'float16', 'int8', 'uint8', 'int32', 'int64', 'bool']}
NEWEST = 21
# Inputs that hold no data: bounds, scales, statistics.
CONSTANT = {'Clip': [1, 2], 'Resize': [1, 2, 3], 'Upsample': [1], 'BatchNormalization': [1, 2, 3, 4], 'Pad': [2, 3], 'OneHot': [1, 2],
            'Range': [0, 1, 2], 'Dropout': [1, 2]}


def write(case, folder):
    model, (inputs, outputs) = case.model, case.data_sets[0]
    graph = model.graph
    node = graph.node[0]
    arrays = list(inputs) + list(outputs)
    if len(graph.node) != 1 or node.domain not in ('', 'ai.onnx'):
        return False
    if not all(isinstance(array, np.ndarray) and array.dtype in NUMBERS for array in arrays):
        return False
    if model.opset_import[0].version > NEWEST:
        if not onnx.defs.has(node.op_type, max_inclusive_version=NEWEST, domain=''):
            return False
        model.opset_import[0].version = NEWEST
    model.ir_version = min(model.ir_version, 10)
    os.makedirs(folder)
    constant = {node.input[i] for i in CONSTANT.get(node.op_type, []) if i < len(node.input)}
    fed = 0
    for value, array in zip(graph.input, inputs):
        if array.dtype == np.float32 and value.name not in constant and array.size > 0:
            np.save(f'{folder}/in-{fed}.npy', array)
            fed += 1
        else:
            graph.initializer.append(numpy_helper.from_array(array, value.name))
    for i, array in enumerate(outputs):
        np.save(f'{folder}/out-{i}.npy', array)
    onnx.save(model, f'{folder}/model.onnx')
    return True


def main():
    written = sum(write(case, os.path.join(sys.argv[1], case.name)) for case in collect_testcases(None))
    print(f'{written} cases written to {sys.argv[1]}')


main()
