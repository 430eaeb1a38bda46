"""Measures how far gradients under PyTorch's bfloat16 autocast are from those in float32.

Runs one training step of a residual network of the size of the bundled resnet8, with random weights. The bounds in
tests/runtime/autocast.rs follow from the result.

    python autocast_distance.py      (needs PyTorch; run with 2.15 on a Zen 4)

Prints, for three seeds, the relative distance of each gradient. Observed: weights of convolutions 0.11 to 0.25, offsets of
normalizations up to 0.39, those of the data's normalization up to 2, the classifier below 0.01.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def norm(channels):
    return nn.BatchNorm2d(channels, eps=2e-5)


class Unit(nn.Module):
    """A residual unit: two convolutions, each after a normalization, and a shortcut."""

    def __init__(self, channels, filters, stride, is_alike):
        super().__init__()
        self.a = norm(channels)
        self.c1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.b = norm(filters)
        self.c2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.sc = None if is_alike else nn.Conv2d(channels, filters, 1, stride, bias=False)

    def forward(self, x):
        h = F.relu(self.a(x))
        y = self.c2(F.relu(self.b(self.c1(h))))
        return y + (x if self.sc is None else self.sc(h))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.bd = norm(1)
        self.c0 = nn.Conv2d(1, 16, 3, 1, 1, bias=False)
        self.u = nn.Sequential(Unit(16, 16, 1, True), Unit(16, 32, 2, False), Unit(32, 64, 2, False))
        self.f = norm(64)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = self.u(self.c0(self.bd(x)))
        return self.fc(F.relu(self.f(x)).mean((2, 3)))


def xavier(network):
    """Fills weights uniformly, with variance 2 / mean(fan_in, fan_out)."""
    for p in network.parameters():
        if p.dim() > 1:
            fan_in = p[0].numel()
            fan_out = p.shape[0] * (p[0, 0].numel() if p.dim() == 4 else 1)
            bound = math.sqrt(3 * 2.0 / ((fan_in + fan_out) / 2))
            nn.init.uniform_(p, -bound, bound)


def gradients(network, data, label, is_short):
    network.zero_grad()
    with torch.autocast('cpu', dtype=torch.bfloat16, enabled=is_short):
        loss = F.cross_entropy(network(data).float(), label, reduction='sum')
    loss.backward()
    return {name: p.grad.clone() for name, p in network.named_parameters()}


def main():
    torch.set_num_threads(1)
    for seed in range(3):
        torch.manual_seed(seed)
        network = Network()
        xavier(network)
        # Smooth images, all different.
        i = torch.arange(32 * 784).float()
        data = torch.sin((i % 784) * 0.013 + (i // 784)).view(32, 1, 28, 28)
        label = torch.arange(32) % 10
        full, short = [gradients(network, data, label, is_short) for is_short in (False, True)]
        print({name: round(float((full[name] - short[name]).norm() / full[name].norm()), 3) for name in full})


if __name__ == '__main__':
    main()
