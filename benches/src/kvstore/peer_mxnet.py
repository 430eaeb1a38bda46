"""MXNet's key-value stores, with the same orders and answers as ours.rs."""
import json
import os
import sys
import time

# Redirects what libraries print to standard error, so that standard output has only answers.
ANSWERS = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)

import mxnet as mx


class Loaded:
    def __init__(self, order):
        self.store = mx.kv.create(order['store'])
        devices = [mx.cpu(i) for i in range(order['n_devices'])]
        self.gradients = [[mx.nd.ones(tuple(shape), ctx=device) for device in devices] for shape in order['shapes']]
        for key, arrays in enumerate(self.gradients):
            self.store.init(key, arrays[0])
        mx.nd.waitall()

    def run(self, order):
        for arrays in self.gradients:
            for array in arrays:
                array[:] = 1
        mx.nd.waitall()
        start = time.perf_counter()
        for _ in range(order['n_steps']):
            for key, arrays in enumerate(self.gradients):
                # Gradients of the first layers are needed first.
                if order['call'] == 'pushpull':
                    self.store.pushpull(key, arrays, priority=-key)
                else:
                    self.store.push(key, arrays, priority=-key)
                    self.store.pull(key, arrays, priority=-key)
            mx.nd.waitall()
        seconds = time.perf_counter() - start
        self.check(order['n_steps'])
        return seconds

    def check(self, n_steps):
        for arrays in self.gradients:
            for array in arrays:
                values = array.asnumpy()
                if not (values == len(arrays) ** n_steps).all():
                    raise ValueError('wrong sum: %s' % values.ravel()[:4])


def main():
    loaded = None
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if order['do'] == 'load':
                loaded = Loaded(order)
                answer = {'name': 'MXNet ' + mx.__version__}
            else:
                answer = {'seconds': loaded.run(order)}
        except Exception as error:
            answer = {'error': (type(error).__name__ + ': ' + str(error))[:2000]}
        print(json.dumps(answer), file=ANSWERS, flush=True)


main()
