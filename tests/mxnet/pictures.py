"""Shared by the scripts that record image outputs: the folder of goldens, record files, statistics of many images."""
import os
import tempfile

import mxnet as mx
import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GOLDEN = os.path.join(ROOT, "crates", "mxrs-data", "tests", "golden")


def read_photo():
    """The bytes of augment.png."""
    with open(os.path.join(GOLDEN, "augment.png"), "rb") as f:
        return f.read()


def pack(n, label, encoded):
    """Writes a record file with one image n times."""
    rec = os.path.join(tempfile.mkdtemp(), "%d.rec" % n)
    writer = mx.recordio.MXRecordIO(rec, "w")
    for i in range(n):
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, label, i, 0), encoded))
    writer.close()
    return rec


# Functions that reduce each 3 x 24 x 32 image to a number. `near` is a pixel next to the center, which augmentations rarely
# move outside.
STATISTICS = {
    "mean": lambda x: x.mean((1, 2, 3)),
    "red": lambda x: x[:, 0].mean((1, 2)),
    "blue": lambda x: x[:, 2].mean((1, 2)),
    "spread": lambda x: x.std((1, 2, 3)),
    "colors": lambda x: np.abs(x[:, 0] - x[:, 2]).mean((1, 2)),
    "corner": lambda x: x[:, 0, 0, 0],
    "sides": lambda x: x[:, :, :, :16].mean((1, 2, 3)) - x[:, :, :, 16:].mean((1, 2, 3)),
    "near": lambda x: x[:, 1, 12, 16],
}


def save(name, expected):
    """Writes a file of goldens."""
    mx.nd.save(os.path.join(GOLDEN, name), expected)
    print(len(expected), "arrays")
