"""The main loop of a peer's process in Python, with the same orders and answers as serve.rs."""
import importlib.metadata
import json
import os
import sys
import time

import numpy as np

# Settings of every training step. They are small, so that random labels do not make random weights diverge during timing.
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 1e-3, 0.9, 1e-4

# Redirects what libraries print to standard error, so that standard output has only answers.
ANSWERS = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)


def labels(order, n_classes=1000):
    """A class for each image of the batch."""
    return np.random.RandomState(1).randint(0, n_classes, order['shape'][0]).astype(np.int64)


def named(library, version, package):
    """Library, version and day of installation, which is the modification time of the file list that pip wrote."""
    name = library + ' ' + version.split('+')[0].split('-')[0]
    try:
        files = importlib.metadata.distribution(package).files
        written = os.path.getmtime(next(file for file in files if file.name == 'RECORD').locate())
    except Exception:  # Other installers than pip may not write the list.
        return name
    return name + time.strftime(', installed %Y-%m-%d', time.gmtime(written))


def serve(name, load):
    """`load(order)` returns two functions: `run()` runs the last batch and waits; `answer(batch)` sets a batch and runs it."""
    loaded = None

    def done(order):
        nonlocal loaded
        if order['do'] == 'load':
            batch = np.random.RandomState(0).uniform(-1, 1, order['shape']).astype(np.float32)
            start = time.perf_counter()
            run, answer = load(order)
            load_s = time.perf_counter() - start
            answer(batch)
            loaded = run, answer, order['shape']
            return {'name': name, 'load_s': load_s, 'first_s': time.perf_counter() - start - load_s}
        run, answer, shape = loaded
        if order['do'] == 'run':
            if order.get('warm'):
                run()
            n, start = 0, time.perf_counter()
            while n == 0 or time.perf_counter() - start < order['seconds']:
                run()
                n += 1
            return {'n': n, 'seconds': time.perf_counter() - start}
        if order['do'] == 'answer':
            batch = np.fromfile(order['input'], np.float32).reshape(shape)
            return {'outputs': np.asarray(answer(batch), np.float32).ravel().tolist()}
        raise ValueError('cannot do ' + order['do'])

    for line in sys.stdin:
        try:
            answer = done(json.loads(line))
        except Exception as error:
            answer = {'error': (type(error).__name__ + ': ' + str(error))[:2000]}
        print(json.dumps(answer), file=ANSWERS, flush=True)
