"""Calls operators of MXNet 1.9.1 by their registered names, with attributes as text."""
import ctypes

import mxnet as mx
from mxnet.base import _LIB, OpHandle, c_str, check_call
from mxnet.ndarray._internal import _imperative_invoke

from calls import serve
from serve import named


def load(order, arrays):
    handle = OpHandle()
    check_call(_LIB.NNGetOpHandle(c_str(order['operator']), ctypes.byref(handle)))
    keys, values = list(order['attrs']), list(order['attrs'].values())
    inputs = [mx.nd.array(array, dtype=array.dtype) for array in arrays]

    def invoke(out=None):
        return _imperative_invoke(handle.value, inputs, keys, values, out, False, True)

    def forward():
        outputs = invoke()
        outputs[-1].wait_to_read()
        return outputs, []

    def update():
        invoke(inputs[0])
        inputs[0].wait_to_read()
        return inputs[:1], []

    marked = [array for array, given in zip(inputs, order['inputs']) if given['gradient']]
    heads = []

    def gradients():
        with mx.autograd.record():
            outputs = invoke()
        if not heads:
            heads.extend(mx.nd.ones_like(output) for output in outputs)
        mx.autograd.backward(outputs, heads)
        mx.nd.waitall()
        return outputs, [array.grad for array in marked]

    def numpy_of(made):
        return tuple([array.asnumpy() for array in arrays] for arrays in made)

    if order['pass'] == 'gradients':
        for array in marked:
            array.attach_grad()
    mx.nd.waitall()
    return {'forward': forward, 'gradients': gradients, 'update': update}[order['pass']], numpy_of


serve(named('MXNet', mx.__version__, 'mxnet'), load)
