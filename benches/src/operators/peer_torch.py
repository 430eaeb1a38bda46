"""Calls operators of PyTorch by the expressions of list.txt."""
import torch
import torch.nn.functional as F
import torchvision.ops as vision
from torch import nn, optim

from calls import serve
from serve import named


def recurrent(kind, data, flat, state, **settings):
    """A recurrent layer whose weights are those of the flat vector in MXNet's order: all weights, then all biases. Also
    returns the tensors that gradients are computed for."""
    layers, _, size = state.shape
    layer = kind(data.shape[2], size, layers, **settings)
    groups = [[f'{name}_l{i}' for i in range(layers) for name in names]
              for names in (('weight_ih', 'weight_hh'), ('bias_ih', 'bias_hh'))]
    at = 0
    with torch.no_grad():
        for name in sum(groups, []):
            weight = getattr(layer, name)
            weight.copy_(flat[at:at + weight.numel()].view_as(weight))
            at += weight.numel()
    return layer, [data, *layer.parameters()]


def load(order, arrays):
    torch.set_num_threads(order['threads'])
    torch.set_grad_enabled(order['pass'] == 'gradients')
    inputs = [torch.from_numpy(array) for array in arrays]
    names = dict(zip('abcdefgh', inputs), torch=torch, F=F, nn=nn, optim=optim, vision=vision, recurrent=recurrent)
    names['training'] = order['pass'] == 'gradients'
    if names['training']:
        for tensor, given in zip(inputs, order['inputs']):
            tensor.requires_grad_(given['gradient'])
    names['leaves'] = [tensor for tensor in inputs if tensor.requires_grad]
    *setup, expression = order['torch'].split('; ')
    exec('\n'.join(setup), names)
    expression, leaves = eval('lambda: ' + expression, names), names['leaves']

    def forward():
        outputs = expression()
        return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs], []

    def update():
        expression()
        return inputs[:1], []

    heads = []

    def gradients():
        outputs = [output for output in forward()[0] if output.requires_grad]
        if not heads:
            heads.extend(torch.ones_like(output) for output in outputs)
        return outputs, torch.autograd.grad(outputs, leaves, heads, allow_unused=True)

    def numpy_of(made):
        outputs, grads = made
        grads = [torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(leaves, grads)]
        return [array.detach().numpy() for array in outputs], [array.numpy() for array in grads]

    return {'forward': forward, 'gradients': gradients, 'update': update}[order['pass']], numpy_of


serve(named('PyTorch', torch.__version__, 'torch'), load)
