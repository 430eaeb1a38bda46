"""MNN on its CPU backend in float32 (precision `high`), from the file that mnnconvert makes of the ONNX file."""
import importlib.metadata

import MNN
import numpy as np

from serve import named, serve


def load(order):
    shape = tuple(order['shape'])
    interpreter = MNN.Interpreter(order['onnx'])
    session = interpreter.createSession({'numThread': order['threads'], 'backend': 'CPU', 'precision': 'high'})
    images = interpreter.getSessionInput(session)
    if tuple(images.getShape()) != shape:
        interpreter.resizeTensor(images, shape)
        interpreter.resizeSession(session)

    def tensor(shape, values):
        return MNN.Tensor(tuple(shape), MNN.Halide_Type_Float, values, MNN.Tensor_DimensionType_Caffe)

    def run():
        interpreter.runSession(session)

    def answer(batch):
        images.copyFrom(tensor(shape, np.ascontiguousarray(batch)))
        run()
        output = interpreter.getSessionOutput(session)
        copy = tensor(output.getShape(), np.zeros(output.getShape(), np.float32))
        output.copyToHostTensor(copy)
        return np.array(copy.getData(), np.float32)

    return run, answer


serve(named('MNN', importlib.metadata.version('MNN'), 'MNN'), load)
