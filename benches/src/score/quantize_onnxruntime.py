"""An ONNX file as ONNX Runtime runs it in 8-bit integers: its static quantization, a range for each channel of weights.

  python quantize_onnxruntime.py NETWORK.onnx IMAGES.f32 OUT.onnx
"""
import os
import sys
import tempfile

import numpy as np
import onnxruntime as ort
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

# Those that networks of images are made of. A softmax stays in float32, as the other libraries leave it.
OPERATORS = ['Add', 'AveragePool', 'Concat', 'Conv', 'Gemm', 'GlobalAveragePool', 'MatMul', 'MaxPool', 'Relu']

source, images, out = sys.argv[1:]
only = ort.InferenceSession(source, providers=['CPUExecutionProvider']).get_inputs()[0]
batches = iter(np.fromfile(images, np.float32).reshape([-1] + list(only.shape)))


class Batches(quantization.CalibrationDataReader):
    def get_next(self):
        batch = next(batches, None)
        return None if batch is None else {only.name: batch}


with tempfile.TemporaryDirectory() as folder:
    # Batch normalization becomes part of convolutions before ranges are taken.
    prepared = os.path.join(folder, 'prepared.onnx')
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    quantization.quantize_static(
        prepared, out, Batches(),
        quant_format=quantization.QuantFormat.QDQ,
        op_types_to_quantize=OPERATORS,
        per_channel=True,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
    )
