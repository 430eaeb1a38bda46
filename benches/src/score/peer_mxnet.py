"""MXNet 1.9.1. Its oneDNN fusions are on by default when a symbol is bound."""
import mxnet as mx
import numpy as np

from serve import labels, named, serve, LEARNING_RATE, MOMENTUM, WEIGHT_DECAY


def load(order):
    symbol = mx.sym.load(order['symbol'])
    params = mx.nd.load(order['params'])
    arg = {name[4:]: array for name, array in params.items() if name.startswith('arg:')}
    aux = {name[4:]: array for name, array in params.items() if name.startswith('aux:')}
    if order['mode'] == 'training':
        return training(order, symbol, arg, aux)
    if order['dtype'] == 'bfloat16':
        from mxnet.contrib import amp
        symbol, arg, aux = amp.convert_model(symbol, arg, aux, target_dtype='bfloat16')
    executor = symbol.simple_bind(mx.cpu(), grad_req='null', data=tuple(order['shape']))
    executor.copy_params_from(arg, aux, allow_extra_params=True)

    def run():
        executor.forward(is_train=False)[0].wait_to_read()

    def answer(batch):
        executor.arg_dict['data'][:] = batch
        return executor.forward(is_train=False)[0].asnumpy()

    return run, answer


def training(order, symbol, arg, aux):
    if order['dtype'] != 'float32':
        raise ValueError('MXNet 1.9.1 has no backward operators of ' + order['dtype'] + ' on CPUs')
    shape = tuple(order['shape'])
    module = mx.mod.Module(symbol, context=mx.cpu())
    module.bind([('data', shape)], [('softmax_label', shape[:1])])
    module.set_params(arg, aux)
    settings = {'learning_rate': LEARNING_RATE, 'momentum': MOMENTUM, 'wd': WEIGHT_DECAY}
    module.init_optimizer(kvstore=None, optimizer='sgd', optimizer_params=settings)
    state = {}

    def run():
        module.forward_backward(state['batch'])
        module.update()
        mx.nd.waitall()
        return module.get_outputs()[0]

    def answer(batch):
        label = mx.nd.array(labels(order).astype(np.float32))
        state['batch'] = mx.io.DataBatch([mx.nd.array(batch)], [label])
        return run().asnumpy()

    return run, answer


serve(named('MXNet', mx.__version__, 'mxnet'), load)
