"""Converts an ONNX file with batches of one image to ncnn's format with pnnx, with weights in float32.

  python convert_ncnn.py NETWORK.onnx OUT.param IMAGE-SHAPE
"""
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec

source, out, shape = sys.argv[1:]
# The program is in the package `pnnx`, whose Python code needs PyTorch; the program itself does not.
program = os.path.join(os.path.dirname(find_spec('pnnx').origin), 'pnnx')
with tempfile.TemporaryDirectory() as folder:
    copy = os.path.join(folder, 'net.onnx')
    shutil.copy(source, copy)
    done = subprocess.run([program, copy, f'inputshape=[1,{shape}]', 'fp16=0'], cwd=folder, capture_output=True, text=True)
    made = [os.path.join(folder, 'net.ncnn.' + ending) for ending in ('param', 'bin')]
    if done.returncode != 0 or not all(map(os.path.isfile, made)):
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        sys.exit(f'pnnx ended with {done.returncode}: ' + ' '.join(lines[-2:]))
    # pnnx keeps operators under their own names where ncnn has no layer for them.
    words = {line.split()[0] for line in open(made[0]) if line.strip()}
    unknown = sorted(word for word in words if '.' in word)
    if unknown:
        sys.exit('ncnn has no layer for ' + ', '.join(unknown))
    shutil.move(made[1], os.path.splitext(out)[0] + '.bin')
    shutil.move(made[0], out)
