"""The main loop of a peer's process in Python, with the same orders and answers as ours.rs."""
import json
import sys
import time

import numpy as np

from serve import ANSWERS


# Of an array with more than twice as many elements, only some are summarized.
ENOUGH = 1 << 22


def sample(arrays):
    """Number of elements, and means of those that are finite and of their absolute values."""
    some = [array.ravel()[::max(1, array.size // ENOUGH)].astype(np.float64) for array in arrays]
    finite = np.concatenate([values[np.isfinite(values)] for values in some])
    n = sum(array.size for array in arrays)
    return [n, finite.mean(), np.abs(finite).mean()] if finite.size else [n, 0.0, 0.0]


def serve(name, load):
    """`load(order, arrays)` prepares a call on these inputs. It returns two functions: `call()` calls the operator, waits, and
    returns its outputs and gradients; `numpy_of(outputs)` converts them to two lists of NumPy arrays."""
    call = None

    def done(order):
        nonlocal call
        if order['do'] == 'load':
            # The memory of the last call is freed before the next is allocated.
            call = None
            arrays = [np.fromfile(given['file'], np.float32).reshape(given['shape']) for given in order['inputs']]
            call, numpy_of = load(order, arrays)
            start = time.perf_counter()
            made = call()
            first_s = time.perf_counter() - start
            outputs, gradients = numpy_of(made)
            return {
                'name': name,
                'first_s': first_s,
                'output': sample(outputs[:1]) if outputs else None,
                'gradients': sample(gradients) if gradients else None,
            }
        if order['do'] == 'run':
            if order.get('warm'):
                call()
            n, seconds, start = 0, 0.0, time.perf_counter()
            while n == 0 or seconds < order['seconds']:
                call()
                n += 1
                seconds = time.perf_counter() - start
            return {'n': n, 'seconds': seconds}
        raise ValueError('cannot do ' + order['do'])

    for line in sys.stdin:
        try:
            answer = done(json.loads(line))
        except Exception as error:
            answer = {'error': (type(error).__name__ + ': ' + str(error))[:2000]}
        print(json.dumps(answer), file=ANSWERS, flush=True)
