"""Runs PyTorch on the network that onnx2torch makes from the ONNX file.

  python peer_torch.py eager|channels_last|compile
"""
import contextlib
import sys

import onnx2torch
import torch

from serve import labels, named, serve, LEARNING_RATE, MOMENTUM, WEIGHT_DECAY

MODE = sys.argv[1]
LAYOUT = torch.contiguous_format if MODE == 'eager' else torch.channels_last


def load(order):
    torch.set_num_threads(order['threads'])
    return training(order) if order['mode'] == 'training' else inference(order)


def inference(order):
    dtype = torch.bfloat16 if order['dtype'] == 'bfloat16' else torch.float32
    model = onnx2torch.convert(order['onnx']).eval().to(dtype).to(memory_format=LAYOUT)
    if MODE == 'compile':
        import torch._inductor.config as inductor
        inductor.freezing = True
        model = torch.compile(model)
    state = {}

    def run():
        with torch.inference_mode() if MODE != 'compile' else torch.no_grad():
            return model(state['batch'])

    def answer(batch):
        state['batch'] = torch.from_numpy(batch).to(dtype).to(memory_format=LAYOUT)
        return run().float().numpy()

    return run, answer


def training(order):
    """Trains with master weights in float32; bfloat16 uses autocast."""
    model = onnx2torch.convert(order['onnx']).train().to(memory_format=LAYOUT)
    model.requires_grad_(True)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    if MODE == 'compile':
        model = torch.compile(model)
    is_short = order['dtype'] == 'bfloat16'
    target = torch.from_numpy(labels(order))
    state = {}

    def run():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast('cpu', torch.bfloat16) if is_short else contextlib.nullcontext():
            probabilities = model(state['batch'])
        loss = torch.nn.functional.nll_loss(torch.log(probabilities.float().clamp_min(1e-30)), target)
        loss.backward()
        optimizer.step()
        return probabilities

    def answer(batch):
        state['batch'] = torch.from_numpy(batch).to(memory_format=LAYOUT)
        return run().detach().float().numpy()

    return run, answer


serve(named('PyTorch', torch.__version__, 'torch'), load)
