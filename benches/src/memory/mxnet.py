"""Runs one network in MXNet 1.9.1 and prints its memory and time as one line of JSON.

  python mxnet.py SYMBOL_JSON BATCH,C,H,W inference|training STEPS N_CLASSES
"""
import json
import re
import sys
import time

import mxnet as mx
import numpy as np


def resident(field):
    with open('/proc/self/status') as status:
        return int(re.search(field + r':\s*(\d+) kB', status.read()).group(1)) * 1024


def fill(name, array, n_classes):
    kind = name.rsplit('_', 1)[-1]
    if kind == 'label':
        array[:] = np.arange(array.size).reshape(array.shape) % n_classes
    elif kind in ('data', 'weight'):
        scale = 1.0 if kind == 'data' else float(np.sqrt(3.0 / (array.size / array.shape[0])))
        # Filled in place, so that no second copy of the array is needed.
        mx.nd.random.uniform(-scale, scale, shape=array.shape, out=array)
    else:
        array[:] = 1.0 if kind in ('gamma', 'var') else 0.0


def main():
    symbol = mx.sym.load(sys.argv[1])
    shape = tuple(int(n) for n in sys.argv[2].split(','))
    trains, n_steps, n_classes = sys.argv[3] == 'training', int(sys.argv[4]), int(sys.argv[5])
    fed = [name for name in symbol.list_arguments() if name == 'data' or name.endswith('_label')]
    requests = {name: 'write' if trains and name not in fed else 'null' for name in symbol.list_arguments()}
    started = resident('VmRSS')
    executor = symbol.simple_bind(mx.cpu(), grad_req=requests, data=shape)
    for arrays in (executor.arg_dict, executor.aux_dict):
        for name, array in arrays.items():
            fill(name, array, n_classes)
    mx.nd.waitall()
    seconds = []
    for _ in range(n_steps):
        start = time.time()
        executor.forward(is_train=trains)
        if trains:
            executor.backward()
        mx.nd.waitall()
        seconds.append(time.time() - start)
    planned = int(re.search(r'Total (\d+) MB allocated', executor.debug_str()).group(1)) << 20
    print(json.dumps({'planned_bytes': planned, 'packed_bytes': None, 'started_bytes': started,
                      'peak_bytes': resident('VmHWM'), 'step_seconds': seconds}))


main()
