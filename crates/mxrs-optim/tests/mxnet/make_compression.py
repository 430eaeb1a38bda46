#!/usr/bin/env python3
"""Records what MXNet 1.9.1's key-value store `device` makes of gradients with 2-bit compression, on one device.

    python make_compression.py

writes `fixtures/compression.json`: the gradients pushed, what is pulled back without an optimizer, and the weights with SGD
on the store. The store `local` refuses to compress.
"""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, SIZE = 8, 37


def main():
    import mxnet as mx
    import numpy as np
    rng = np.random.default_rng(11)
    numbers = lambda a: [float(str(np.float32(x))) for x in a.ravel()]
    start = rng.uniform(-1, 1, SIZE).astype('float32')
    grads = [rng.uniform(-0.4, 0.4, SIZE).astype('float32') for _ in range(STEPS)]
    cases = []
    for threshold in [0.5, 0.1]:
        stores = [mx.kv.create('device') for _ in range(2)]
        for store in stores:
            store.set_gradient_compression({'type': '2bit', 'threshold': threshold})
        stores[1].set_optimizer(mx.optimizer.create('sgd', learning_rate=0.1, momentum=0.9, wd=0.01, rescale_grad=0.5))
        sent, weights = [], []
        for store in stores:
            store.init('w', mx.nd.array(start))
        out = mx.nd.zeros(SIZE)
        for grad in grads:
            for store, seen in zip(stores, [sent, weights]):
                store.push('w', mx.nd.array(grad))
                store.pull('w', out)
                seen.append(numbers(out.asnumpy()))
        cases.append(dict(threshold=threshold, sent=sent, weights=weights))
    document = dict(start=numbers(start), grads=[numbers(g) for g in grads], cases=cases)
    with open(os.path.join(HERE, '..', 'fixtures', 'compression.json'), 'w') as f:
        json.dump(document, f, separators=(',', ':'))
        f.write('\n')


if __name__ == '__main__':
    main()
