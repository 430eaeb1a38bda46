"""Converts an ONNX file to MNN's format, with weights in float32.

  python convert_mnn.py NETWORK.onnx OUT.mnn IMAGE-SHAPE
"""
import os
import sys

from MNN.tools import mnnconvert

source, out, _ = sys.argv[1:]
sys.argv = ['mnnconvert', '-f', 'ONNX', '--modelFile', source, '--MNNModel', out + '.part', '--bizCode', 'mxrs']
try:
    mnnconvert.main()
except SystemExit as end:
    if end.code not in (0, None):
        raise
# The program ends without an error where it cannot convert a network.
if not os.path.isfile(out + '.part'):
    sys.exit('mnnconvert wrote no file')
os.replace(out + '.part', out)
