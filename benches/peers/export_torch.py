"""Writes an image network as PyTorch exports it to ONNX, with random weights, and PyTorch's outputs for given images.

  python export_torch.py NETWORK BATCH SIZE OUT.onnx [IMAGES.f32 OUTPUTS.f32]

SIZE is the height and width of an image. The images are whole batches of float32, row-major; the outputs are written in
the same form. Weights have PyTorch's
initial values from a fixed seed. The statistics of batch normalization are those of random images, so that activations
keep their scale through all layers, as in a trained network.
"""
import inspect
import sys

import numpy as np
import torch
import torchvision.models as models
from torch import nn

SEED = 0
OPSET = 17


def mobilenet_v1():
    """MobileNet v1 (Howard and others, 2017), which torchvision lacks."""

    def unit(inputs, outputs, kernel, stride, groups=1):
        convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        return [convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]

    layers, channels = unit(3, 32, 3, 2), 32
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    for outputs, stride in blocks:
        layers += unit(channels, channels, 3, stride, groups=channels) + unit(channels, outputs, 1, 1)
        channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


NETWORKS = {
    'mobilenet-v1': mobilenet_v1,
    'mobilenet-v2': models.mobilenet_v2,
    'mobilenet-v3-large': models.mobilenet_v3_large,
    'efficientnet-b0': models.efficientnet_b0,
    'efficientnet-b3': models.efficientnet_b3,
    'resnext-50': models.resnext50_32x4d,
    'densenet-121': models.densenet121,
    'googlenet': lambda: models.googlenet(aux_logits=False, init_weights=False),
    'squeezenet': models.squeezenet1_1,
    'resnet-18': models.resnet18,
}


def made(network, size):
    """The network for inference, with its random weights."""
    torch.manual_seed(SEED)
    model = NETWORKS[network]()
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # Averages the statistics of all batches.
    if norms:
        model.train()
        with torch.no_grad():
            for _ in range(2):
                model(torch.empty(8, 3, size, size).uniform_(-1, 1))
    return model.eval()


def main(network, batch, size, out, images=None, outputs=None):
    model, shape = made(network, int(size)), [int(batch), 3, int(size), int(size)]
    settings = {'opset_version': OPSET, 'input_names': ['data'], 'output_names': ['output']}
    # Newer versions have a second exporter, which needs more packages.
    if 'dynamo' in inspect.signature(torch.onnx.export).parameters:
        settings['dynamo'] = False
    torch.onnx.export(model, torch.zeros(shape), out, **settings)
    if images is not None:
        batches = torch.from_numpy(np.fromfile(images, np.float32).reshape([-1] + shape))
        with torch.no_grad():
            answers = [model(batch).numpy() for batch in batches]
        np.concatenate(answers).astype(np.float32).tofile(outputs)


if __name__ == '__main__':
    main(*sys.argv[1:])
