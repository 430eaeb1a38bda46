"""MXNet 1.9.1. Its oneDNN fusions are on by default when a symbol is bound."""
import mxnet as mx

from serve import serve


def load(order):
    symbol = mx.sym.load(order['symbol'])
    params = mx.nd.load(order['params'])
    arg = {name[4:]: array for name, array in params.items() if name.startswith('arg:')}
    aux = {name[4:]: array for name, array in params.items() if name.startswith('aux:')}
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


serve('MXNet ' + mx.__version__, load)
