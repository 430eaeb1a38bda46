"""Quantizes an ONNX file to 8-bit integers for OpenVINO: NNCF's post-training quantization.

  python quantize_openvino.py NETWORK.onnx IMAGES.f32 OUT.xml
"""
import sys

import nncf
import numpy as np
import openvino as ov

source, images, out = sys.argv[1:]
model = ov.Core().read_model(source)
shape = [int(length) for length in model.input(0).shape]
batches = list(np.fromfile(images, np.float32).reshape([-1] + shape))
quantized = nncf.quantize(model, nncf.Dataset(batches), subset_size=len(batches))
# Operators left in float32 keep float32 weights; float16 would be one more difference between the libraries.
ov.save_model(quantized, out, compress_to_fp16=False)
