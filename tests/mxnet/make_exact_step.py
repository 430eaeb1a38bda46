"""Computes the gradients of one training step in float64 with MXNet 1.9.1, as exact values for those in `*-step.params`.

    python make_exact_step.py <folder with symbols and checkpoints> <folder with *-step.params>

Writes `<model>-exact.params` (gradients, rounded to float32) next to the step files. (Not the auxiliary states: in float64
MXNet's BatchNorm does not update them.) The float32 gradients of `*-step.params` differ from these by up to 3e-3 of an
array's largest element, because `p - label` of a trained network is a small difference of nearly equal numbers.
"""
import sys

import mxnet as mx

checkpoints, steps = sys.argv[1:]
for name in ('lenet', 'resnet8'):
    symbol, arg, aux = mx.model.load_checkpoint(f'{checkpoints}/{name}', 10)
    step = mx.nd.load(f'{steps}/{name}-step.params')
    data, label = step['data'].astype('float64'), step['softmax_label'].astype('float64')
    types = {n: 'float64' for n in symbol.list_arguments()}
    exe = symbol.simple_bind(mx.cpu(), data=data.shape, softmax_label=label.shape, grad_req='write', type_dict=types)
    exe.copy_params_from({k: v.astype('float64') for k, v in arg.items()}, {k: v.astype('float64') for k, v in aux.items()})
    exe.forward(is_train=True, data=data, softmax_label=label)
    exe.backward()
    out = {'grad:' + k: v.astype('float32') for k, v in exe.grad_dict.items() if k not in ('data', 'softmax_label')}
    mx.nd.save(f'{steps}/{name}-exact.params', out)
