"""PyTorch on the network that onnx2torch makes of the ONNX file.

  python peer_torch.py eager|channels_last|compile
"""
import sys

import onnx2torch
import torch

from serve import serve

MODE = sys.argv[1]


def load(order):
    torch.set_num_threads(order['threads'])
    dtype = torch.bfloat16 if order['dtype'] == 'bfloat16' else torch.float32
    layout = torch.contiguous_format if MODE == 'eager' else torch.channels_last
    model = onnx2torch.convert(order['onnx']).eval().to(dtype).to(memory_format=layout)
    if MODE == 'compile':
        import torch._inductor.config as inductor
        inductor.freezing = True
        model = torch.compile(model)
    state = {}

    def run():
        with torch.inference_mode() if MODE != 'compile' else torch.no_grad():
            return model(state['batch'])

    def answer(batch):
        state['batch'] = torch.from_numpy(batch).to(dtype).to(memory_format=layout)
        return run().float().numpy()

    return run, answer


serve('PyTorch ' + torch.__version__.split('+')[0], load)
