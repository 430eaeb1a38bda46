"""Quantizes an ONNX file to 8-bit integers for ONNX Runtime: static quantization, with one range per channel of weights.

  python quantize_onnxruntime.py NETWORK.onnx IMAGES.f32 OUT.onnx
"""
import os
import sys
import tempfile

import numpy as np
import onnxruntime as ort
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

# Operators that image networks consist of. A softmax stays in float32, as in the other libraries.
OPERATORS = ['Add', 'AveragePool', 'Concat', 'Conv', 'Gemm', 'GlobalAveragePool', 'MatMul', 'MaxPool', 'Relu']

source, images, out = sys.argv[1:]
only = ort.InferenceSession(source, providers=['CPUExecutionProvider']).get_inputs()[0]
batches = iter(np.fromfile(images, np.float32).reshape([-1] + list(only.shape)))


class Batches(quantization.CalibrationDataReader):
    def get_next(self):
        batch = next(batches, None)
        return None if batch is None else {only.name: batch}


with tempfile.TemporaryDirectory() as folder:
    # Merges batch normalization into convolutions before ranges are measured.
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
