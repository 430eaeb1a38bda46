#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators of `src/linalg` with MXNet 1.9.1, as `make_operators.py` does.

    python make_linalg.py            needs mxnet==1.9.1 (CPU) and numpy 1.23
"""
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
from make_golden import u, v
from make_operators import record

SYMMETRIC = v([4, 1, .5, 1, 3, -.5, .5, -.5, 2], shape=(3, 3))
INDEFINITE = v([4, 1, .5, 1, -3, -.5, .5, -.5, 2], shape=(3, 3))
PAIR = v([2, .5, .5, 1, 3, -1, -1, 2], shape=(2, 2, 2))
GENERAL = v([1, 2, -1, .5, 3, 1, -2, 1, 1.5], shape=(3, 3))
TWO = v([1, 2, -1, .5, 3, 1, -2, 1], shape=(2, 2, 2))


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=None, **options):
        if grad is None:
            grad = [i for i, spec in enumerate(specs) if spec['dtype'] == 'float32']
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=grad)))

    for a in [False, True]:
        for b in [False, True]:
            lhs, rhs = ((4, 3) if a else (3, 4)), ((2, 4) if b else (4, 2))
            attrs = dict(transpose_a=a, transpose_b=b, alpha=1.5)
            add('_linalg_gemm', 'transposed_%d%d' % (a, b), dict(attrs, beta=-.5), u(2, *lhs), u(2, *rhs), u(2, 3, 2))
            add('_linalg_gemm2', 'transposed_%d%d' % (a, b), attrs, u(*lhs), u(*rhs))
            t = dict(transpose=a, rightside=b, alpha=1.5)
            for lower in [False, True]:
                triangle = u(2, 3, 3, low=.5, high=2)
                for op in ['_linalg_trmm', '_linalg_trsm']:
                    add(op, 'triangle_%d%d%d' % (a, b, lower), dict(t, lower=lower), triangle, u(2, *((2, 3) if b else (3, 2))))
        add('_linalg_syrk', 'transposed_%d' % a, dict(transpose=a, alpha=1.5), u(2, 3, 2))
    add('_linalg_gemm', 'axis', dict(axis=-3, transpose_b=True), u(3, 2, 4), u(2, 2, 4), u(3, 2, 2))
    add('_linalg_gemm2', 'axis', dict(axis=1), u(2, 3, 2, 4), u(2, 4, 2, 2))
    for op in ['_linalg_potrf', '_npi_cholesky']:
        add(op, 'matrix', {}, SYMMETRIC)
        add(op, 'batch', {}, PAIR)
    add('_linalg_potri', 'matrix', {}, u(3, 3, low=.5, high=2))
    add('_linalg_potri', 'batch', {}, u(2, 2, 2, low=.5, high=2))
    for name, shape in [('wide', (2, 4)), ('square', (3, 3)), ('batch', (2, 2, 3))]:
        add('_linalg_gelqf', name, {}, u(*shape))
    add('_linalg_sumlogdiag', 'matrix', {}, u(3, 3, low=.5, high=2))
    add('_linalg_sumlogdiag', 'batch', {}, u(2, 3, 3, low=.5, high=2))
    for op in ['_linalg_inverse', '_linalg_det', '_linalg_slogdet']:
        add(op, 'matrix', {}, GENERAL)
        add(op, 'batch', {}, TWO)
        add(op, 'float64', {}, u(3, 3, dtype='float64'))
    add('_linalg_det', 'singular', {}, v([1, 2, 2, 4], shape=(2, 2)), grad=[])
    add('_linalg_syevd', 'matrix', {}, INDEFINITE)
    add('_linalg_syevd', 'batch', {}, PAIR)
    for offset in [0, 1, -1]:
        add('_linalg_extractdiag', 'by_%d' % offset, dict(offset=offset), u(2, 3, 3))
        add('_linalg_makediag', 'by_%d' % offset, dict(offset=offset), u(2, 3))
        for lower in [True, False]:
            name = 'by_%d_%d' % (offset, lower)
            add('_linalg_extracttrian', name, dict(offset=offset, lower=lower), u(2, 3, 3))
            add('_linalg_maketrian', name, dict(offset=offset, lower=lower), u(2, 6))
    add('_linalg_makediag', 'vector', {}, u(3))
    # NumPy's operators. Signs of singular vectors and of eigenvectors are LAPACK's.
    for name, spec in [('matrix', GENERAL), ('batch', TWO), ('wide', u(2, 3, 4))]:
        add('_npi_svd', name, {}, spec)
    add('_npi_svd', 'float64', {}, u(2, 3, dtype='float64'))
    for name, a, b in [('vector', GENERAL, u(3)), ('matrix', GENERAL, u(3, 2)), ('batch', TWO, u(2, 2, 3)), ('columns', TWO, u(2, 2))]:
        add('_npi_solve', name, {}, a, b)
    add('_npi_tensorinv', 'two', dict(ind=2), u(2, 3, 3, 2))
    add('_npi_tensorinv', 'one', dict(ind=1), u(6, 2, 3))
    add('_npi_tensorsolve', 'plain', {}, u(2, 3, 6), u(2, 3))
    add('_npi_tensorsolve', 'axes', dict(a_axes='(0,)'), u(3, 6, 2), u(6))
    add('_npi_tensorsolve', 'axes_two', dict(a_axes='(1, 0)'), u(2, 3, 6), u(6))
    for uplo in 'LU':
        for name, spec in [('matrix', GENERAL), ('batch', TWO)]:
            # MXNet's gradient of these is zero.
            add('_npi_eigh', name + uplo, dict(UPLO=uplo), spec, grad=[])
            add('_npi_eigvalsh', name + uplo, dict(UPLO=uplo), spec, grad=[])
    real = v([2, 1, 0, 1, 3, 1, .5, 0, -1], shape=(3, 3))
    for op in ['_npi_eig', '_npi_eigvals']:
        add(op, 'matrix', {}, real, grad=[])
        add(op, 'batch', {}, v([2, .5, .5, 1, 3, 1, 2, -2], shape=(2, 2, 2)), grad=[])
        add(op, 'float64', {}, v([2, .5, .25, 1], 'float64', (2, 2)))
        add(op, 'int32', {}, v([2, 1, 1, 1], 'int32', (2, 2)))
    for name, spec in [('matrix', GENERAL), ('wide', u(2, 4)), ('tall', u(4, 2)), ('batch', u(2, 2, 3))]:
        add('_npi_pinv_scalar_rcond', name, {}, spec, grad=[])
    add('_npi_pinv_scalar_rcond', 'singular', dict(rcond=.01), v([1, 2, 2, 4], shape=(2, 2)), grad=[])
    add('_npi_pinv_scalar_rcond', 'cut', dict(rcond=.5), v([1, 0, 0, .25], shape=(2, 2)), grad=[])
    add('_npi_pinv_scalar_rcond', 'symmetric', dict(hermitian=True), SYMMETRIC, grad=[])
    add('_npi_pinv', 'batch', {}, u(2, 2, 3), u(2, low=.01, high=.02), grad=[])
    add('_npi_pinv', 'cut', {}, v([1, 0, 0, .25, 1, 0, 0, .25], shape=(2, 2, 2)), v([.5, .01]), grad=[])
    return out


def shape_cases():
    return [
        ('_linalg_gemm2', {}, [(2, 3, 4), (2, 4, 2)]),
        ('_linalg_gemm2', {}, [(2, 3, 4), (2, 3, 2)]),
        ('_linalg_gemm', {}, [(2, 3, 4), (2, 4, 2), None]),
        ('_linalg_potrf', {}, [(2, 3, 3)]),
        ('_linalg_gelqf', {}, [(2, 4)]),
        ('_linalg_trmm', {}, [(3, 3), (3, 2)]),
        ('_linalg_trsm', dict(rightside='True'), [(3, 3), (3, 2)]),
        ('_linalg_syevd', {}, [(2, 3, 3)]),
        ('_linalg_det', {}, [(2, 3, 3)]),
        ('_linalg_det', {}, [(2, 3, 4)]),
        ('_linalg_extracttrian', {}, [(4, 4)]),
        ('_linalg_maketrian', {}, [(5,)]),
    ]


if __name__ == '__main__':
    record(cases(), shape_cases())
