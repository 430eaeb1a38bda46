"""ncnn in float32, from the files that pnnx makes of the ONNX file. Its arrays have no axis for a batch, so a batch is a
loop over images, each on all threads."""
import importlib.metadata
import os

import ncnn
import numpy as np

from serve import named, serve


def load(order):
    net = ncnn.Net()
    net.opt.num_threads = order['threads']
    for option in ('use_fp16_packed', 'use_fp16_storage', 'use_fp16_arithmetic', 'use_bf16_packed', 'use_bf16_storage'):
        if hasattr(net.opt, option):
            setattr(net.opt, option, False)
    param = order['onnx']
    if net.load_param(param) != 0 or net.load_model(os.path.splitext(param)[0] + '.bin') != 0:
        raise ValueError('ncnn cannot load the converted network')
    name, output = net.input_names()[0], net.output_names()[0]
    state = {}

    def forward(image):
        extractor = net.create_extractor()
        extractor.input(name, image)
        status, result = extractor.extract(output)
        if status != 0:
            raise ValueError(f'ncnn ended with {status}')
        return result

    def run():
        return [forward(image) for image in state['images']]

    def answer(batch):
        # The clone owns its memory, so it outlives the array.
        state['images'] = [ncnn.Mat(np.ascontiguousarray(image)).clone() for image in batch]
        return np.stack([np.array(result).ravel() for result in run()])

    return run, answer


serve(named('ncnn', importlib.metadata.version('ncnn'), 'ncnn'), load)
