"""Writes the files of this folder with MXNet 1.9.1 and NumPy themselves.

  python3 -m venv mx && mx/bin/pip install mxnet==1.9.1 numpy==1.23.5
  mx/bin/python generate.py
"""
import os

import mxnet as mx
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(HERE, name)


def params():
    z = mx.nd.zeros((4, 3))
    mx.nd.save(path('sparse-empty.params'), {'r': z.tostype('row_sparse'), 'c': z.tostype('csr')})
    mx.nd.save(path('empty.params'), [])
    mx.util.set_np()
    mx.npx.save(path('np.params'), {
        'scalar': mx.np.array(2.5), 'empty': mx.np.zeros((0, 3)), 'bool': mx.np.array([True, False, True], dtype='bool')})
    mx.util.reset_np()


def npy():
    a = np.arange(6).reshape(2, 3)
    np.savez(path('types.npz'), **{d.replace('<', 'le_').replace('>', 'be_').replace('|', 'n_'): a.astype(d) for d in (
        '<f2', '<f4', '<f8', '|i1', '<i2', '<i4', '<i8', '|u1', '<u2', '<u4', '<u8', '|b1',
        '>f2', '>f4', '>f8', '>i2', '>i4', '>i8', '>u2', '>u4', '>u8')})
    np.savez_compressed(path('list.npz'), np.asfortranarray(a.astype('f4')), np.float64(1.5), np.zeros((0, 2), 'i4'))
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(path('v%d.npy' % version[0]), 'wb') as f:
            np.lib.format.write_array(f, a.astype('<i4'), version=version)


def records():
    magic = (0xced7230a).to_bytes(4, 'little')
    r = mx.recordio.MXIndexedRecordIO(path('escape.idx'), path('escape.rec'), 'w')
    payloads = [b'', magic, b'abcd' + magic + b'efg', magic + magic, b'ab' + magic + b'cd', b'abcd' + magic, b'abcde',
                mx.recordio.pack(mx.recordio.IRHeader(0, 4.0, 7, 0), b'img'),
                mx.recordio.pack(mx.recordio.IRHeader(0, [4.0], 8, 0), b'img'),
                mx.recordio.pack(mx.recordio.IRHeader(0, [1.0, 2.0, 3.0], 9, 0), b'img')]
    for i, p in enumerate(payloads):
        r.write_idx(10 * i, p)
    r.close()


params()
npy()
records()
