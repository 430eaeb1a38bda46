"""Checks ONNX models that mxrs wrote with onnx.checker, runs them in onnxruntime, and compares the outputs with ours.

  cargo run --release -p mxrs-tests --bin export_networks -- /tmp/networks
  cargo run -p mxrs-tests --bin export_samples -- /tmp/samples
  python3 -m venv /tmp/ort && /tmp/ort/bin/pip install onnx onnxruntime numpy
  /tmp/ort/bin/python tests/onnx/compare.py /tmp/networks /tmp/samples

Next to each <name>.onnx there is either <name>.npz, with one array per input of the model and `output`, or
<name>-input.npy (of the only input) and <name>-output.npy. An element may differ by 1e-6 plus 1e-4 of the largest
element of the output; positions of NaN and infinities must agree. Prints a line per model that differs (all with
--verbose), the largest difference of each folder, and exits 1 on a difference.
"""
import argparse
import glob
import os
import sys

import numpy as np
import onnx
import onnxruntime

ABSOLUTE, RELATIVE = 1e-6, 1e-4


def arrays(prefix):
    """Returns the inputs by name (None for the only one) and the expected output."""
    if os.path.exists(prefix + '.npz'):
        with np.load(prefix + '.npz') as file:
            inputs = {name: file[name] for name in file.files}
        return inputs, inputs.pop('output')
    return {None: np.load(prefix + '-input.npy')}, np.load(prefix + '-output.npy')


def compare(path):
    """Returns the largest difference and the allowed difference."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    inputs, expected = arrays(path[:-len('.onnx')])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    wanted = [value.name for value in session.get_inputs()]
    feed = {name: inputs[name] if name in inputs else inputs[None] for name in wanted}
    outputs = session.run(None, feed)
    if len(outputs) != 1:
        raise ValueError(f'{len(outputs)} outputs, expected 1')
    got = outputs[0]
    if got.shape != expected.shape or got.dtype != expected.dtype:
        raise ValueError(f'got {got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}')
    if got.size == 0:
        return 0.0, 0.0
    got, expected = got.astype('float64'), expected.astype('float64')
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite], expected[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        raise ValueError('infinities or NaN differ')
    if not finite.any():
        return 0.0, 0.0
    return np.abs(got[finite] - expected[finite]).max(), ABSOLUTE + RELATIVE * np.abs(expected[finite]).max()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folders', nargs='+')
    parser.add_argument('--verbose', action='store_true', help='a line for every model')
    args = parser.parse_args()
    failed = 0
    for folder in args.folders:
        worst, paths = 0.0, sorted(glob.glob(os.path.join(folder, '*.onnx')))
        for path in paths:
            name = os.path.basename(path)
            try:
                difference, allowed = compare(path)
                is_ok = difference <= allowed
                text = f'difference {difference:.3g}, allowed {allowed:.3g}'
                worst = max(worst, difference)
            except Exception as error:  # a model that does not load is a difference too
                is_ok, text = False, str(error).split('\n')[0]
            failed += not is_ok
            if args.verbose or not is_ok:
                print(f'{name}: {"ok" if is_ok else "DIFFERS"}: {text}')
        print(f'{folder}: {len(paths)} models, largest difference {worst:.3g}')
        failed += not paths
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
