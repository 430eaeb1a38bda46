"""Runs networks that mxrs exported in MXNet 1.9.1, and compares the outputs or measures the speed.

  cargo run --release -p mxrs-tests --bin export_networks -- /tmp/networks
  python3 -m venv /tmp/mx && /tmp/mx/bin/pip install mxnet==1.9.1 numpy==1.23.5
  /tmp/mx/bin/python tests/mxnet/compare_networks.py /tmp/networks

For each <name>-symbol.json in the folder: loads it with <name>-0000.params, feeds <name>-input.npy and compares with
<name>-output.npy (probabilities, absolute tolerance 1e-4). Prints one line per network and exits 1 on a difference.

With --speed BATCH prints MXNet's images per second instead: 5 warm-up runs, then 10 runs, each waited for, as
`mxrs score` does it.
"""
import argparse
import glob
import os
import sys
import time

import mxnet as mx
import numpy as np

TOLERANCE = 1e-4


def count(arrays):
    return sum(int(np.prod(a.shape)) for a in arrays.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder')
    parser.add_argument('--speed', type=int, metavar='BATCH', help="time MXNet at this batch size instead")
    parser.add_argument('--warmup', type=int, default=5, help='runs before the timed ones')
    parser.add_argument('--runs', type=int, default=10, help='timed runs')
    parser.add_argument('--only', help='one network')
    args = parser.parse_args()
    failed = 0
    for path in sorted(glob.glob(os.path.join(args.folder, '*-symbol.json'))):
        prefix = path[:-len('-symbol.json')]
        name = os.path.basename(prefix)
        if args.only not in (None, name):
            continue
        symbol, arg, aux = mx.model.load_checkpoint(prefix, 0)
        data = np.load(prefix + '-input.npy')
        if args.speed:
            data = np.random.RandomState(0).uniform(-1, 1, (args.speed,) + data.shape[1:]).astype('f4')
        exe = symbol.simple_bind(mx.cpu(), grad_req='null', data=data.shape)
        exe.copy_params_from(arg, aux, allow_extra_params=False)
        exe.arg_dict['data'][:] = data
        if args.speed:
            for _ in range(args.warmup):
                exe.forward(is_train=False)[0].wait_to_read()
            start = time.time()
            for _ in range(args.runs):
                exe.forward(is_train=False)[0].wait_to_read()
            print(f'{name} {args.speed} {args.runs * args.speed / (time.time() - start):.3f}', flush=True)
            continue
        ours = np.load(prefix + '-output.npy')
        theirs = exe.forward(is_train=False)[0].asnumpy()
        diff = float(np.abs(ours - theirs).max())
        agree = bool((ours.argmax(1) == theirs.argmax(1)).all())
        ok = diff <= TOLERANCE and agree and ours.shape == theirs.shape
        failed += not ok
        print(f'{name:<14} {"ok  " if ok else "FAIL"} max difference {diff:.2e} of {theirs.max():.3f}, top-1 {"equal" if agree else "DIFFERS"}, '
              f'{count(arg)} parameters, {count(aux)} aux, {len(symbol.get_internals().list_outputs())} outputs', flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
