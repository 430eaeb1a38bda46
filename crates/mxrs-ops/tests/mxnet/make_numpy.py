#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators of `src/numpy` with MXNet 1.9.1, as `make_operators.py` does.

    python make_numpy.py             needs mxnet==1.9.1 (CPU) and numpy 1.23

Shapes are as in NumPy: () is a scalar, and a size of 0 is known.
"""
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
from make_golden import u, v
from make_operators import NOT_NUMBERS, SIGNS, OTHERS, SPECIAL, UNARY, record

UNARY = dict(UNARY, absolute=UNARY['abs'])
TWINS = ['absolute', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctanh', 'cbrt', 'ceil', 'cos', 'cosh', 'degrees',
         'exp', 'expm1', 'fix', 'floor', 'log', 'log10', 'log1p', 'log2', 'negative', 'radians', 'reciprocal', 'rint', 'sign',
         'sin', 'sinh', 'sqrt', 'square', 'tan', 'tanh', 'trunc']
ARITHMETIC = dict(add=(-1, 1), subtract=(-1, 1), multiply=(-1, 1), true_divide=(.25, 2), mod=(.25, 2), power=(.25, 2))
COMPARISONS = ['equal', 'not_equal', 'greater', 'greater_equal', 'less', 'less_equal']


def norm(add):
    """Adds the norms."""
    op, cube = '_npi_norm', u(2, 3, 4)
    for keepdims in [False, True]:
        add(op, 'all_%d' % keepdims, dict(flag=-2, keepdims=keepdims), cube)
        add(op, 'all_of_vector_%d' % keepdims, dict(flag=-2, keepdims=keepdims), u(4))
        add(op, 'vector_%d' % keepdims, dict(keepdims=keepdims), u(4))
        add(op, 'rows_%d' % keepdims, dict(axis=(-1,), keepdims=keepdims), cube)
        add(op, 'squares_%d' % keepdims, dict(flag=1, axis=(2, 0), keepdims=keepdims), cube)
        for flag in [0, 1, 2]:
            add(op, 'matrix_%d_%d' % (flag, keepdims), dict(flag=flag, keepdims=keepdims), u(2, 3))
            # MXNet multiplies by the gradient of the output twice, unless it sums.
            add(op, 'matrices_%d_%d' % (flag, keepdims), dict(flag=flag, keepdims=keepdims), cube, grad=None if flag else [])
    add(op, 'all_of_scalar', dict(flag=-2), u())
    for order in [0, 1, 3, .5, -1, -2, -3]:
        add(op, 'order_%s' % order, dict(ord=order, axis=(1,)), cube)
    for order in [0, 1, 2, 3]:
        # MXNet's gradient is NaN where data is 0 and `ord` is below 1.
        add(op, 'zeros_%d' % order, dict(ord=order), v([0, 1, -2, 0, .5]))
    add(op, 'zeros_inverse', dict(ord=-1), v([0, 1, -2]), grad=[])
    for order in [1, -1, 3, -3, 0, .5, 'inf', '-inf']:
        add(op, 'sums_%s' % order, dict(ord=order), u(3, 4))
        add(op, 'turned_sums_%s' % order, dict(ord=order, axis=(1, 0), keepdims=True), u(3, 4))
        add(op, 'sums_of_axes_%s' % order, dict(ord=order, axis=(2, 0), keepdims=order == 1), cube, grad=[])
    add(op, 'equal_sums', dict(ord=1), v([1, -1, 1, 1], shape=(2, 2)))
    add(op, 'smallest', dict(ord=-2), u(2, 3))
    add(op, 'smallest_of_many', dict(ord=-2, axis=(1, 2)), cube, grad=[])
    # MXNet's gradient is wrong if the matrices are not the last axes.
    for order, flag in [(2, 0), (-2, 0), (2, 2)]:
        add(op, 'turned_%d_%d' % (order, flag), dict(ord=order, flag=flag, axis=(0, 2)), cube, grad=[])
    add(op, 'float64', dict(axis=(0,), ord=3), u(4, 2, dtype='float64'))


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=None, **options):
        if grad is None:
            grad = [i for i, spec in enumerate(specs) if spec['dtype'] == 'float32']
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=grad)))

    for op in TWINS:
        low, high = UNARY[op]
        add('_npi_' + op, 'matrix', {}, u(3, 4, low=low, high=high))
        add('_npi_' + op, 'scalar', {}, u(low=low, high=high))
        if op not in NOT_NUMBERS:
            add('_npi_' + op, 'int32', {}, u(6, low=1, high=9, dtype='int32'))
        add('_npi_' + op, 'special', {}, v(SPECIAL), grad=[])
    for op in ['_npx_relu', '_npx_sigmoid']:
        add(op, 'matrix', {}, u(3, 4, low=-4, high=4))
    for op in ['logical_not', 'isnan', 'isinf', 'isposinf', 'isneginf', 'isfinite']:
        add('_npi_' + op, 'special', {}, v(SPECIAL), grad=[])
        add('_npi_' + op, 'int32', {}, v([0, 1, -2], 'int32'))
    add('_npi_bitwise_not', 'int32', {}, v([0, 1, -2], 'int32'))
    add('_npi_bitwise_not', 'uint8', {}, v([0, 1, 200], 'uint8'))
    add('_npi_bitwise_not', 'bool', {}, v([0, 1, 1], 'bool'))
    add('_npi_around', 'whole', {}, v([.5, 1.5, -.5, 2.4, -2.6]), grad=[])
    add('_npi_around', 'digits', dict(decimals=2), u(6, low=-9, high=9), grad=[])
    add('_npi_around', 'tens', dict(decimals=-1), u(6, low=-99, high=99), grad=[])

    integers = dict(low=1, high=9, dtype='int32')
    for op, (low, high) in ARITHMETIC.items():
        name, r = '_npi_' + op, dict(low=low, high=high)
        add(name, 'row', {}, u(3, 4, **r), u(1, 4, **r))
        add(name, 'both', {}, u(2, 1, 3, **r), u(4, 1, **r))
        add(name, 'scalar', {}, u(**r), u(2, 3, **r))
        add(name, 'empty', {}, u(0, 3, **r), u(1, 3, **r))
        add(name, 'float64', {}, u(5, dtype='float64', **r), u(5, dtype='float64', **r))
        add(name, 'integers', {}, u(3, 4, **integers), u(1, 4, **integers))
        add(name, 'float_and_integer', {}, u(4, **r), u(4, **integers), grad=[])
        add(name, 'integer_and_float', {}, u(4, **integers), u(4, **r), grad=[])
        if op != 'true_divide':
            add(name, 'float_and_double', {}, u(4, **r), u(4, dtype='float64', **r), grad=[])
            add(name, 'half_and_float', {}, u(4, dtype='float16', **r), u(4, **r), grad=[])
        add(name, 'bool_and_float', {}, v([1, 0, 1, 1], 'bool'), u(4, **r), grad=[])
        if op in ('add', 'multiply'):
            add(name, 'bool_and_integer', {}, v([1, 0, 1, 1], 'bool'), u(4, **integers))
        for scalar in [name + '_scalar', '_npi_r' + op + '_scalar']:
            if scalar in ('_npi_radd_scalar', '_npi_rmultiply_scalar'):
                continue
            add(scalar, 'matrix', dict(scalar=.75, is_int=False), u(3, 4, **r))
            add(scalar, 'two', dict(scalar=2), u(5, **r))
            add(scalar, 'integers', dict(scalar=3), u(6, **integers))
            add(scalar, 'integers_and_fraction', dict(scalar=2.5, is_int=False), u(6, **integers))
            add(scalar, 'bools', dict(scalar=2), v([1, 1, 0] if not scalar.startswith('_npi_r') else [1, 1, 1], 'bool'))
    for op in ['hypot', 'arctan2', 'copysign', 'ldexp']:
        add('_npi_' + op, 'row', {}, u(3, 4, low=.25, high=2), u(1, 4, low=.25, high=2))
        add('_npi_' + op, 'signs', {}, v([1, -2, .5, 3.5, -3.5]), v([2, 2, -1, -2, -2]))
    for op in ['copysign', 'ldexp']:
        add('_npi_' + op, 'int32', {}, v([1, -2, 3], 'int32'), v([2, 2, 1], 'int32'))
    for op in ['arctan2', 'rarctan2', 'copysign', 'rcopysign', 'ldexp', 'rldexp']:
        # MXNet's gradient of rarctan2 has the operands in the wrong order.
        grad = [] if op == 'rarctan2' else None
        add('_npi_%s_scalar' % op, 'matrix', dict(scalar=1.5, is_int=False), u(3, 4, low=.25, high=2), grad=grad)
        add('_npi_%s_scalar' % op, 'signs', dict(scalar=-2), v([1, -2, .5, 3.5, -3.5]), grad=grad)
        add('_npi_%s_scalar' % op, 'integers', dict(scalar=2), v([1, 2, 3], 'int32'))
    for op in ['lcm', 'bitwise_and', 'bitwise_or', 'bitwise_xor']:
        add('_npi_' + op, 'int32', {}, v([12, 7, 0, -6], 'int32'), v([18, 5, 3, 4], 'int32'))
        add('_npi_' + op, 'row', {}, u(3, 4, **integers), u(1, 4, **integers))
        if op != 'lcm':
            add('_npi_' + op, 'bool', {}, v([1, 1, 0, 0], 'bool'), v([1, 0, 1, 0], 'bool'))
            add('_npi_%s_scalar' % op, 'bool', dict(scalar=1), v([1, 0], 'bool'))
        add('_npi_%s_scalar' % op, 'int32', dict(scalar=6), v([12, 7, 0, 5], 'int32'))
        add('_npi_%s_scalar' % op, 'matrix', dict(scalar=4), u(2, 3, **integers))
    for op in COMPARISONS:
        add('_npi_' + op, 'signs', {}, v(SIGNS), v(OTHERS), grad=[])
        add('_npi_' + op, 'row', {}, v([1, 2, 3, 4], 'int32', (2, 2)), v([1, 3], 'int32', (1, 2)))
        add('_npi_' + op, 'bool', {}, v([1, 1, 0, 0], 'bool'), v([1, 0, 1, 0], 'bool'))
        add('_npi_%s_scalar' % op, 'floats', dict(scalar=2), v(SIGNS), grad=[])
        add('_npi_%s_scalar' % op, 'fraction', dict(scalar=2.5, is_int=False), v([1, 2, 3], 'int32'))

    for op in ['_np_sum', '_np_prod', '_npi_mean', '_np_max', '_np_min', '_npi_std', '_npi_var', '_np_any', '_np_all']:
        # MXNet's gradient of std and var is zero.
        grad = [] if op in ('_np_any', '_np_all', '_npi_std', '_npi_var') else None
        add(op, 'all', {}, u(3, 5), grad=grad)
        add(op, 'last', dict(axis='-1'), u(2, 3, 4), grad=grad)
        add(op, 'kept', dict(axis='(0, 2)', keepdims=True), u(2, 3, 4), grad=grad)
        add(op, 'none', dict(axis='()'), u(2, 3), grad=[])
        if op not in ('_npi_std', '_npi_var'):
            add(op, 'int32', dict(axis='0'), u(3, 4, low=-9, high=9, dtype='int32'))
            add(op, 'int8', {}, u(3, 4, low=-9, high=9, dtype='int8'))
        add(op, 'scalar', {}, u(), grad=[])
        if op in ('_np_sum', '_np_prod', '_npi_mean', '_np_any', '_np_all'):
            add(op, 'bool', dict(axis='1'), v([1, 0, 1, 1, 1, 1, 0, 0], 'bool', (2, 4)))
        if op in ('_np_sum', '_np_any', '_np_all'):  # MXNet's product of no elements is 0
            add(op, 'empty', dict(axis='0'), u(0, 3), grad=[])
        if op in ('_np_sum', '_npi_mean'):
            add(op, 'float64', dict(dtype='float64', axis='0'), u(3, 4, low=-9, high=9, dtype='int32'))
        if op in ('_np_max', '_np_min'):
            add(op, 'ties', dict(axis='1'), v([1, 3, 1, 2, 5, 5, 1, 1], shape=(2, 4)))
        if op in ('_npi_std', '_npi_var'):
            add(op, 'ddof', dict(axis='1', ddof=1), u(3, 4), grad=[])

    add('_np_transpose', 'reversed', {}, u(2, 3, 4))
    add('_np_transpose', 'given', dict(axes='(1, -1, 0)'), u(2, 3, 4))
    add('_np_moveaxis', 'first', dict(source='(0,)', destination='(-1,)'), u(2, 3, 4))
    add('_np_moveaxis', 'two', dict(source='(0, 1)', destination='(-1, -2)'), u(2, 3, 4))
    add('_np_moveaxis', 'between', dict(source='(3, 0)', destination='(1, 2)'), u(2, 3, 4, 2))
    for name, attrs in [('flat', dict(shift='(2,)')), ('axis', dict(shift='(-1,)', axis='(1,)')),
                        ('both', dict(shift='(1, 2)', axis='(0, 1)')), ('one_for_all', dict(shift='(1,)', axis='(0, 1)'))]:
        add('_np_roll', name, attrs, u(2, 3))
    for k in [1, 2, 3, -1, 0]:
        # MXNet turns the gradient in the wrong direction if k is odd.
        add('_npi_rot90', 'by_%d' % k, dict(k=k, axes='(0, 1)'), u(2, 3), grad=[] if k % 2 else None)
    add('_npi_rot90', 'last', dict(k=1, axes='(2, 1)'), u(2, 3, 2), grad=[])
    add('_npi_flip', 'rows', dict(axis='(0,)'), u(3, 2))
    add('_npi_flip', 'both', dict(axis='(0, -1)'), u(2, 3, 2))
    for op in ['diag', '_np_diag']:
        for k in [0, 1, -1, 5]:
            if k != 5 or op == '_np_diag':
                add(op, 'matrix_%d' % k, dict(k=k), u(3, 4))
            add(op, 'vector_%d' % k, dict(k=k), u(3))
    add('diag', 'axes', dict(axis1=1, axis2=-1, k=-1), u(2, 3, 4))
    for k in [0, 1, -1]:
        add('_np_diagflat', 'matrix_%d' % k, dict(k=k), u(2, 2))
        add('_npi_tril', 'matrices_%d' % k, dict(k=k), u(2, 3, 3))
        add('_npi_tril', 'vector_%d' % k, dict(k=k), u(3))
        add('_np_diagonal', 'volume_%d' % k, dict(offset=k, axis1=0, axis2=1), u(2, 3, 2))
    add('_np_diagonal', 'axes', dict(offset=-1, axis1=-1, axis2=1), u(2, 3, 4))
    for op in ['_npi_zeros', '_npi_ones']:
        add(op, 'scalar', {})
        add(op, 'matrix', dict(shape='(2, 3)', dtype='int32'))
        add(op, 'empty', dict(shape='(2, 0)'))
    add('_npi_identity', 'three', dict(shape='(3, 3)'))
    add('_npi_full_like', 'matrix', dict(fill_value=2.5), u(2, 3), grad=[])
    add('_npi_full_like', 'integers', dict(fill_value=2.5, dtype='int32'), u(2, 3), grad=[])
    for name, attrs in [('square', dict(N=3)), ('above', dict(N=3, M=5, k=1)), ('below', dict(N=4, M=2, k=-2, dtype='int32'))]:
        add('_npi_eye', name, attrs)
    for name, attrs in [('steps', dict(start=1, stop=9, step=2.5)), ('down', dict(start=4, stop=0, step=-1, dtype='int32'))]:
        add('_npi_arange', name, attrs)
    add('_npi_logspace', 'five', dict(start=0, stop=2, num=5))
    add('_npi_logspace', 'open', dict(start=0, stop=2, num=5, endpoint=False, base=2))
    add('_npi_logspace', 'one', dict(start=1, stop=2, num=1))
    add('_npi_indices', 'matrix', dict(dimensions='(2, 3)'))
    add('_npi_indices', 'empty', dict(dimensions='(0, 3)'))
    for op in ['hanning', 'hamming', 'blackman']:
        add('_npi_' + op, 'five', dict(M=5))
        add('_npi_' + op, 'one', dict(M=1))
        add('_npi_' + op, 'none', dict(M=0))
    add('_np_reshape', 'inferred', dict(newshape='(3, -1)'), u(2, 3))
    add('_np_reshape', 'scalar', dict(newshape='()'), u(1))
    add('_np_reshape', 'empty', dict(newshape='(3, 0)'), u(0, 3), grad=[])
    for i, (shape, new) in enumerate([((2, 3), '(-2, -1)'), ((2, 3, 4), '(-5, -4)'), ((6, 3), '(-6, 2, -1, -4)'), ((2, 1, 3),
            '(-2, -3, -2)'),
                                      ((2, 3), '(-4, -1)'), ((2, 3, 4), '(-1, 4)'), ((8, 3, 3, 3, 4, 4), '(-6, 2, -1, -4)'),
                                      ((8, 3, 3, 3, 4, 4), '(-5, -4)'), ((8, 3, 3, 3, 4, 4), '(-4, -1, 2, -6)')]):
        add('_npx_reshape', 'codes_%d' % i, dict(newshape=new), u(*shape))
    add('_npx_reshape', 'reversed', dict(newshape='(8, 3, 3, 3, -6, -1, 4)'.replace('-6, -1, 4', '-2, -2'), reverse=True), u(8,
        3, 3, 3, 4, 4))
    add('_npx_reshape', 'reversed_split', dict(newshape='(-4, 16, -6, -1, 2)'.replace('16, ', ''), reverse=True), u(2, 3, 8))
    add('_np_squeeze', 'all', {}, u(1, 2, 1, 3))
    add('_np_squeeze', 'last', dict(axis='(-1,)'), u(1, 2, 1))
    add('_np_copy', 'matrix', {}, u(2, 3))
    for op, axes in [('_npi_concatenate', [dict(axis=0), dict(axis=-1), dict(axis='None'), {}]), ('_npi_stack', [dict(axis=0),
            dict(axis=-1)]),
                     ('_npi_vstack', [{}]), ('_npi_hstack', [{}]), ('_npi_dstack', [{}]), ('_npi_column_stack', [{}])]:
        for i, attrs in enumerate(axes):
            add(op, 'matrices_%d' % i, attrs, u(2, 3), u(2, 3), count='num_args')
            add(op, 'vectors_%d' % i, attrs, u(3), u(3), u(3), count='num_args')
        if op not in ('_npi_stack', '_npi_concatenate'):
            add(op, 'volumes', {}, u(2, 3, 2), u(2, 3, 2), count='num_args')
            add(op, 'scalars', {}, u(), u(), count='num_args')
    add('_npi_hstack', 'different', {}, u(2, 3), u(2, 1), count='num_args')
    add('_npi_vstack', 'different', {}, u(2, 3), u(3), count='num_args')
    add('_np_cumsum', 'flat', {}, u(2, 3))
    add('_np_cumsum', 'rows', dict(axis=0), u(2, 3, 2))
    add('_np_cumsum', 'last', dict(axis=2), u(2, 3, 2))
    add('_np_cumsum', 'int32', dict(axis=1), u(2, 3, low=-9, high=9, dtype='int32'))
    add('_np_cumsum', 'int8', {}, v([100, 100, 7], 'int8'))
    add('_np_cumsum', 'bool', {}, v([1, 0, 1], 'bool'))
    add('_np_cumsum', 'float64', dict(dtype='float64'), v([1, 5, 2], 'int32'))
    add('_np_trace', 'matrix', {}, u(3, 4))
    add('_np_trace', 'axes', dict(offset=1, axis1=0, axis2=2), u(2, 3, 4))
    add('_np_trace', 'below', dict(offset=-1, axis1=-1, axis2=1), u(2, 3, 4))
    add('_np_trace', 'int32', {}, u(3, 3, low=-9, high=9, dtype='int32'))
    for op in ['_npi_argmax', '_npi_argmin']:
        add(op, 'flat', {}, u(3, 4), grad=[])
        add(op, 'rows', dict(axis=1), v([3, 1, 3, 0, 5, 0], shape=(2, 3)), grad=[])
        add(op, 'kept', dict(axis=-2, keepdims=True), u(3, 4), grad=[])
        add(op, 'int32', dict(axis=0), u(3, 4, low=-9, high=9, dtype='int32'))
    for name, a, b in [('matrices', (3, 4), (4, 2)), ('vectors', (4,), (4,)), ('vector', (2, 3, 4), (4,)), ('scalar', (), (2,
            3))]:
        add('_np_dot', name, {}, u(*a), u(*b))
    add('_np_dot', 'more_axes', {}, u(2, 3), u(2, 3, 2), grad=[])
    for name, a, b in [('matrices', (3, 4), (4, 2)), ('batches', (2, 1, 3, 4), (3, 4, 2)), ('row', (4,), (2, 4, 3)), ('column',
            (2, 3, 4), (4,)),
                       ('vectors', (4,), (4,))]:
        # MXNet's gradient of a batch axis of size 1 that was stretched is wrong.
        add('_npi_matmul', name, {}, u(*a), u(*b), grad=[1] if name == 'batches' else None)
    for n, a, b in [(1, (3, 4), (4, 2)), (2, (2, 3, 4), (3, 4, 2)), (0, (2,), (3,))]:
        add('_npi_tensordot_int_axes', 'axes_%d' % n, dict(axes=n), u(*a), u(*b))
    for name, of_a, of_b, a, b in [
            ('last_and_first', (1,), (0,), (3, 4), (4, 2)), ('two', (1, 2), (0, 1), (2, 3, 4), (3, 4, 2)),
            ('crossed', (2, 0), (0, 1), (2, 3, 4), (4, 2, 3)), ('from_the_end', (-1,), (-1,), (2, 3), (4, 3)),
            ('middle', (1,), (1,), (2, 3, 2), (4, 3)), ('ones', (1, 2), (1, 0), (2, 1, 3), (3, 1, 2)),
            ('whole', (0, 1), (0, 1), (2, 3), (2, 3)), ('outer', (), (), (2,), (3,)), ('scalar', (), (), (), (2, 3)),
            ('to_scalar', (), (), (2, 3), ())]:
        add('_npi_tensordot', name, dict(a_axes_summed=of_a, b_axes_summed=of_b), u(*a), u(*b))
    add('_npi_tensordot', 'float64', dict(a_axes_summed=(0,), b_axes_summed=(1,)), u(3, 2, dtype='float64'), u(2, 3, dtype='float64'))
    norm(add)
    condition = v([1, 0, -1, 0, 2, 0], shape=(2, 3))
    add('_npi_where', 'tensors', {}, condition, u(2, 3), u(2, 3), grad=[1, 2])
    add('_npi_where', 'broadcast', {}, v([1, 0, 1], 'bool'), u(2, 1), u(2, 3), grad=[1, 2])
    add('_npi_where', 'int64', {}, v([1, 0, 1], 'int32'), v([2**53 + 1, 2, 3], 'int64'), v([4, 5, 6], 'int64'))
    # MXNet gives the gradient to the elements that the forward pass does not choose.
    add('_npi_where_lscalar', 'row', dict(scalar=2.5), v([1, 0, 1]), u(2, 3), grad=[])
    add('_npi_where_rscalar', 'row', dict(scalar=2.5), v([1, 0, 1]), u(2, 3), grad=[])
    add('_npi_where_scalar2', 'row', dict(x=2.5, y=-1), v([1, 0, 1]), grad=[])
    add('_npi_broadcast_to', 'row', dict(shape='(2, 3, 4)'), u(3, 1))
    add('_npi_broadcast_to', 'scalar', dict(shape='(2,)'), u())
    two = dict(uniform=('low', 'high'), uniform_n=('low', 'high'), normal=('loc', 'scale'), normal_n=('loc', 'scale'),
               gamma=('shape', 'scale'),
               gumbel=('loc', 'scale'), logistic=('loc', 'scale'))
    one = dict(exponential='scale', rayleigh='scale', pareto='a', weibull='a')
    parameter = u(2, 3, low=.5, high=.9)
    for law, (first, second) in two.items():
        add('_npi_' + law, 'numbers', {first: .5, second: .75, 'size': '(3, 2)'}, not_compared=[0])
        add('_npi_' + law, 'scalar', {first: .5, second: .75}, not_compared=[0])
        add('_npi_' + law, 'tensors', {first: 'None', second: 'None'}, parameter, parameter, grad=[], not_compared=[0])
        add('_npi_' + law, 'one', {first: .5, second: 'None', 'size': '(2, 3)' if not law.endswith('_n') else '(4,)'}, u(3,
            low=.5, high=.9),
            grad=[], not_compared=[0])
        if law.split('_')[0] in ('uniform', 'normal', 'gamma'):
            add('_npi_' + law, 'double', {first: .5, second: .75, 'size': '(3,)', 'dtype': 'float64'}, not_compared=[0])
    for law, first in one.items():
        add('_npi_' + law, 'numbers', {first: .5, 'size': '(3, 2)'}, not_compared=[0])
        add('_npi_' + law, 'tensor', {first: 'None'}, parameter, grad=[], not_compared=[0])
    # Inserted, padded and differenced elements.
    for op, names in [('_npi_insert_scalar', dict(int_ind=1)), ('_npi_insert_slice', dict(start=0, stop=2, step=1))]:
        add(op, 'number', dict(names, val=2.5, axis=0), u(3, 4), grad=[])
        add(op, 'columns', dict(names, axis=1), u(2, 3), u(1), grad=[])
        add(op, 'flat', names, u(2, 3), u(1), grad=[])
        add(op, 'last', dict(names, axis=-1, val=7), u(2, 3, low=-9, high=9, dtype='int32'))
    add('_npi_insert_scalar', 'rows', dict(int_ind=-1, axis=0), u(3, 2), u(2, 2), grad=[])
    add('_npi_insert_scalar', 'moved', dict(int_ind=2, axis=1), u(2, 3), u(2, 2), grad=[])
    add('_npi_insert_scalar', 'volume', dict(int_ind=1, axis=1), u(2, 3, 2), u(2), grad=[])
    add('_npi_insert_scalar', 'row', dict(int_ind=3, axis=0), u(3, 2), u(2), grad=[])
    add('_npi_insert_slice', 'steps', dict(start=5, step=-2, axis=0), u(6, 2), u(3, 2), grad=[])
    add('_npi_insert_slice', 'one', dict(start=1, stop=2, axis=1), u(2, 3), u(2, 2), grad=[])
    add('_npi_insert_slice', 'one_column', dict(start=1, stop=2, axis=1), u(2, 3), u(2, 1), grad=[])
    add('_npi_insert_slice', 'integers', dict(start=0, stop=3, step=2, axis=0), u(3, 2, low=-9, high=9, dtype='int32'),
        v([1.5, -2.5]), grad=[])
    add('_npi_insert_slice', 'none', dict(start=2, stop=1, axis=0), u(3, 2), u(1), grad=[])
    add('_npi_insert_tensor', 'places', dict(axis=0), u(3, 2), u(3, 2), v([0, 2, 2], 'int64'), grad=[])
    add('_npi_insert_tensor', 'unsorted', dict(axis=1), u(2, 4), u(3), v([3, -4, 1], 'int64'), grad=[])
    add('_npi_insert_tensor', 'number', dict(axis=1, val=-1.5), u(2, 4), v([3, 0], 'int64'), grad=[])
    add('_npi_insert_tensor', 'flat', {}, u(2, 3), u(2), v([6, 1], 'int64'), grad=[])
    add('_npi_insert_tensor', 'one', dict(axis=1), u(2, 3), u(2, 2), v([1], 'int64'), grad=[])
    add('_npi_insert_tensor', 'scalar', dict(axis=1), u(2, 3), u(2, 2), u(low=1, high=2, dtype='int64'), grad=[])
    for mode in ['constant', 'edge', 'reflect', 'symmetric', 'maximum', 'minimum']:
        # MXNet's gradient is that of the constant mode in every mode.
        grad = None if mode == 'constant' else []
        add('_npi_pad', mode, dict(mode=mode, pad_width='((1, 2), (0, 1))'), u(3, 4), grad=grad)
        add('_npi_pad', mode + '_volume', dict(mode=mode, pad_width='((3, 0), (1, 2), (2, 5))'), u(2, 3, 2), grad=grad)
        add('_npi_pad', mode + '_vector', dict(mode=mode, pad_width='((7,), (8,))'), u(3), grad=grad)
        add('_npi_pad', mode + '_integers', dict(mode=mode, pad_width='((1, 1), (2, 2))'), u(2, 2, low=-9, high=9, dtype='int32'))
    add('_npi_pad', 'value', dict(constant_value=2.5, pad_width='((1, 0), (0, 1))'), u(1, 2))
    add('_npi_pad', 'one_element', dict(mode='reflect', pad_width='((2, 1), (1, 1))'), u(1, 2), grad=[])
    add('_npi_diff', 'last', {}, u(2, 4))
    add('_npi_diff', 'rows', dict(n=2, axis=0), u(4, 3))
    add('_npi_diff', 'third', dict(n=3, axis=1), u(2, 5, 2))
    add('_npi_diff', 'none', dict(n=0), u(2, 3))
    add('_npi_diff', 'more', dict(n=5), u(2, 3), grad=[])
    add('_npi_diff', 'int32', {}, u(2, 4, low=-9, high=9, dtype='int32'))
    add('_npi_diff', 'float64', {}, u(5, dtype='float64'))
    add('_npi_ediff1d', 'plain', {}, u(2, 3))
    add('_npi_ediff1d', 'numbers', dict(to_begin_scalar=1.5, to_end_scalar=-2.5), u(5))
    add('_npi_ediff1d', 'arrays', dict(to_begin_arr_given=True, to_end_arr_given=True), u(4), u(2), u(2, 3))
    add('_npi_ediff1d', 'end', dict(to_end_arr_given=True), u(4), u(2))
    add('_npi_ediff1d', 'begin', dict(to_begin_arr_given=True, to_end_scalar=7), u(4), u(2))
    add('_npi_ediff1d', 'one', dict(to_end_scalar=7), u(1), grad=[])
    add('_npi_ediff1d', 'int32', {}, u(5, low=-9, high=9, dtype='int32'))
    add('_npi_polyval', 'vector', {}, u(3), u(4))
    add('_npi_polyval', 'matrix', {}, u(4), u(2, 3))
    add('_npi_polyval', 'constant', {}, u(1), u(3))
    add('_npi_polyval', 'int32', {}, u(3, low=-3, high=3, dtype='int32'), u(4, low=-3, high=3, dtype='int32'))
    add('_npi_diag_indices_from', 'matrix', {}, u(3, 3), grad=[])
    add('_npi_diag_indices_from', 'volume', {}, u(2, 2, 2), grad=[])
    add('_npi_average', 'all', dict(weighted=False), u(2, 3))
    add('_npi_average', 'rows', dict(weighted=False, axis='(1,)'), u(2, 3))
    add('_npi_average', 'returned', dict(weighted=False, axis='(0,)', returned=True), u(2, 3), grad=[])
    add('_npi_average', 'weights', {}, u(2, 3), u(2, 3, low=.5, high=2))
    add('_npi_average', 'vector', dict(axis='(1,)'), u(2, 3, 2), u(3, low=.5, high=2))
    add('_npi_average', 'same', dict(axis='(0, 2)'), u(2, 3, 2), u(2, 3, 2, low=.5, high=2))
    add('_npi_average', 'both', dict(axis='(-1,)', returned=True), u(2, 3), u(3, low=.5, high=2), grad=[])
    add('_npi_average', 'int32', dict(weighted=False), u(2, 3, low=-9, high=9, dtype='int32'))
    add('_npi_average', 'float64', {}, u(5, dtype='float64'), u(5, low=.5, high=2, dtype='float64'))
    for name in ['linear', 'lower', 'higher', 'midpoint', 'nearest']:
        add('_npi_percentile', name, dict(interpolation=name, axis='(1,)'), u(2, 6), v([0, 23, 50, 100]), grad=[])
        add('_npi_percentile', name + '_number', dict(interpolation=name, q_scalar=30), u(3, 4), grad=[])
    add('_npi_percentile', 'kept', dict(q_scalar=40, axis='(0, 2)', keepdims=True), u(2, 3, 4), grad=[])
    add('_npi_percentile', 'kept_many', dict(axis='(-1,)', keepdims=True), u(2, 3, 4), v([10, 90]), grad=[])
    add('_npi_percentile', 'scalar_tensor', dict(axis='(0,)'), u(4, 3), u(low=60, high=61), grad=[])
    add('_npi_percentile', 'int32', dict(axis='(0,)'), u(5, 2, low=-9, high=9, dtype='int32'), v([50, 75]))
    add('_npi_percentile', 'float64', dict(axis='(0,)'), u(5, 2, dtype='float64'), v([50, 75], 'float64'))
    # MXNet's gradient of these is zero.
    for op in ['_np_atleast_1d', '_np_atleast_2d', '_np_atleast_3d']:
        add(op, 'scalar', {}, u(), grad=[], count='num_args')
        add(op, 'vector', {}, u(3), grad=[], count='num_args')
        add(op, 'several', {}, u(), u(3), u(2, 3), u(2, 1, 3), u(1, 2, 1, 2), grad=[], count='num_args')
        add(op, 'int32', {}, u(2, low=1, high=9, dtype='int32'), count='num_args')
    add('_npi_boolean_mask_assign_scalar', 'elements', dict(value=2.5, start_axis=0), u(2, 3), v([1, 0, 1, 0, 0, 1], 'bool', (2,
        3)), grad=[], inplace=True)
    add('_npi_boolean_mask_assign_scalar', 'rows', dict(value=-1, start_axis=0), u(3, 2), v([1, 0, 1], 'bool'), grad=[],
        inplace=True)
    add('_npi_boolean_mask_assign_scalar', 'columns', dict(value=-1, start_axis=1), u(2, 3, 2), v([1, 0, 1], 'bool'), grad=[],
        inplace=True)
    add('_npi_boolean_mask_assign_scalar', 'int32', dict(value=3, start_axis=0), u(4, low=-9, high=9, dtype='int32'), v([1, 0,
        1, 0]), grad=[], inplace=True)
    mask = v([1, 0, 1, 0, 0, 1], 'bool', (2, 3))
    add('_npi_boolean_mask_assign_tensor', 'elements', dict(start_axis=0), u(2, 3), mask, u(3), grad=[], inplace=True)
    add('_npi_boolean_mask_assign_tensor', 'one', dict(start_axis=0), u(2, 3), mask, u(1), grad=[], inplace=True)
    add('_npi_boolean_mask_assign_tensor', 'scalar', dict(start_axis=0), u(2, 3), mask, u(), grad=[], inplace=True)
    add('_npi_boolean_mask_assign_tensor', 'rows', dict(start_axis=0), u(3, 2), v([1, 0, 1], 'bool'), u(2, 2), grad=[], inplace=True)
    add('_npi_boolean_mask_assign_tensor', 'repeated', dict(start_axis=0), u(3, 2), v([1, 0, 1], 'bool'), u(1, 2), grad=[],
        inplace=True)
    add('_npi_boolean_mask_assign_tensor', 'row', dict(start_axis=0), u(3, 2), v([1, 0, 1], 'bool'), u(2), grad=[], inplace=True)
    add('_npi_boolean_mask_assign_tensor', 'columns', dict(start_axis=1), u(2, 3, 2), v([1, 0, 1], 'bool'), u(2, 2, 2), grad=[],
        inplace=True)
    add('_npi_share_memory', 'apart', {}, u(2, 3), u(2, 3), grad=[])
    add('_npi_share_memory', 'types', {}, u(2, dtype='float64'), u(3, low=1, high=9, dtype='int32'))
    add('_npx_constraint_check', 'true', dict(msg='wrong'), v([1, 1, 1], 'bool'))
    add('_npx_constraint_check', 'matrix', {}, v([1, 1], 'bool', (1, 2)))
    add('_npi_powerd', 'numbers', dict(a=.5, size='(3, 2)'), not_compared=[0])
    add('_npi_powerd', 'scalar', dict(a=.5), not_compared=[0])
    add('_npi_powerd', 'tensor', dict(a='None'), parameter, grad=[], not_compared=[0])
    add('_npi_powerd', 'sized', dict(a='None', size='(2, 3)'), u(3, low=.5, high=.9), grad=[], not_compared=[0])
    odds = [('probability', dict(prob=.5, logit='None', is_logit=False)), ('odds', dict(prob='None', logit=.5, is_logit=True))]
    for name, attrs in odds:
        add('_npi_bernoulli', name, dict(attrs, size='(3, 2)'), not_compared=[0])
        add('_npi_bernoulli', name + '_scalar', dict(attrs, dtype='bool'), not_compared=[0])
        tensor = dict(attrs, prob='None', logit='None')
        add('_npi_bernoulli', name + '_tensor', dict(tensor, dtype='int32'), parameter, grad=[], not_compared=[0])
        add('_npi_bernoulli', name + '_sized', dict(tensor, size='(2, 3)', dtype='float64'), u(3, low=.5, high=.9), grad=[],
            not_compared=[0])
    add('_npi_bernoulli', 'certain', dict(prob=1, logit='None', is_logit=False, size='(4,)', dtype='uint8'))
    # One outcome is certain, so the draws are known.
    add('_npi_multinomial', 'certain', dict(n=5, pvals='(0.0, 1.0, 0.0)'))
    add('_npi_multinomial', 'certain_many', dict(n=3, pvals='(0.0, 0.0, 1.0)', size='(2, 2)'))
    add('_npi_multinomial', 'tensor', dict(n=4, pvals='None', size='(2,)'), v([1, 0, 0]), grad=[])
    add('_npi_multinomial', 'drawn', dict(n=4, pvals='(0.2, 0.3, 0.5)', size='(2,)'), not_compared=[0])
    add('_npi_choice', 'one', dict(a=1, size='(2, 3)'))
    add('_npi_choice', 'scalar', dict(a=1, size='None'))
    add('_npi_choice', 'drawn', dict(a=5, size='(4,)'), not_compared=[0])
    add('_npi_choice', 'distinct', dict(a=5, size='(3,)', replace=False), not_compared=[0])
    add('_npi_choice', 'weighted', dict(a=3, size='(4,)', weighted=True), v([0, 1, 0]), grad=[])
    add('_npi_choice', 'weighted_distinct', dict(a=3, size='(1,)', weighted=True, replace=False), v([.2, .3, .5]), grad=[],
        not_compared=[0])
    add('_npi_choice', 'places', dict(a='None', size='(4,)', weighted=True), u(3), v([0, 0, 1]), grad=[])
    for name, subscripts, shapes in [
            ('product', 'ij,jk->ik', [(2, 3), (3, 4)]), ('implicit', 'ij,jk', [(2, 3), (3, 4)]), ('trace', 'ii', [(3, 3)]),
            ('diagonal', 'ii->i', [(3, 3)]), ('transposed', 'ji', [(2, 3)]), ('sum', 'ij->', [(2, 3)]),
            ('batch', 'bij,bjk->bik', [(2, 2, 3), (2, 3, 2)]), ('ellipsis', '...ij,...jk->...ik', [(2, 2, 3), (3, 2)]),
            ('outer', 'i,j->ij', [(2,), (3,)]), ('three', 'ij,jk,kl->il', [(2, 3), (3, 2), (2, 2)]),
            ('stretched', 'ij,ij->ij', [(2, 3), (1, 3)]), ('scalar', ',ij->ji', [(), (2, 3)]),
            ('spaces', ' i j , j -> i ', [(2, 3), (3,)])]:
        add('_npi_einsum', name, dict(subscripts=subscripts, optimize=0), *[u(*shape) for shape in shapes], count='num_args',
            grad=[] if name == 'stretched' else None)
    add('_npi_einsum', 'optimized', dict(subscripts='ij,jk,kl->il', optimize=1), u(2, 3), u(3, 2), u(2, 2), count='num_args')
    add('_npi_einsum', 'int32', dict(subscripts='ij,jk->ik'), u(2, 3, low=-9, high=9, dtype='int32'), u(3, 2, low=-9, high=9,
        dtype='int32'), count='num_args')
    add('_npi_pinv', 'matrix', {}, v([1, 2, -1, .5, 3, 1, -2, 1, 1.5], shape=(3, 3)), u(low=.01, high=.02), grad=[])
    add('_npi_pinv', 'symmetric', dict(hermitian=True), v([4, 1, .5, 1, 3, -.5, .5, -.5, 2], shape=(3, 3)), u(low=.01, high=.02),
        grad=[])
    return out


def shape_cases():
    return [
        ('_npi_add', {}, [(2, 3), (2, 4)]),
        ('_npi_add', {}, [(2, 3), (4, 2, 3)]),
        ('_np_sum', dict(axis='(2,)'), [(2, 3)]),
        ('_np_reshape', dict(newshape='(4, -1)'), [(2, 3)]),
        ('_npx_reshape', dict(newshape='(-2, -3)'), [(2, 3)]),
        ('_np_squeeze', dict(axis='(0,)'), [(2, 3)]),
        ('_np_transpose', dict(axes='(0, 0)'), [(2, 3)]),
        ('_npi_identity', dict(shape='(2, 3)'), []),
        ('_npi_pad', dict(pad_width='((1, 2), (3, 4))'), [(2, 3)]),
        ('_npi_diff', dict(n='2', axis='3'), [(2, 3)]),
        ('_npi_polyval', {}, [(2, 3), (2, 3)]),
        ('_npi_diag_indices_from', {}, [(2, 3)]),
        ('_npi_average', dict(axis='(1,)'), [(2, 3), (2,)]),
        ('_npi_percentile', dict(axis='(1,)'), [(2, 3), (4,)]),
        ('_npi_einsum', dict(num_args='2', subscripts='ij,jk'), [(2, 3), (4, 5)]),
        ('_npi_einsum', dict(num_args='1', subscripts='ij->k'), [(2, 3)]),
        ('_npi_insert_scalar', dict(int_ind='1', axis='0'), [(2, 3), (2, 3)]),
        ('_npi_boolean_mask_assign_scalar', dict(value='1', start_axis='0'), [(2, 3), (3,)]),
        ('_npi_tensordot', dict(a_axes_summed='(2, 0)', b_axes_summed='(0, 1)'), [(2, 3, 4), (4, 2, 3)]),
        ('_npi_tensordot', dict(a_axes_summed='(2, 0)', b_axes_summed='(0, 1)'), [(2, 3, 4), (4, 5, 3)]),
        ('_npi_tensordot', dict(a_axes_summed='(1,)', b_axes_summed='(0, 1)'), [(2, 3), (3, 4)]),
        ('_npi_norm', {}, [(2, 3, 4)]),
        ('_npi_norm', dict(axis='(0, 2)', keepdims='True'), [(2, 3, 4)]),
        ('_npi_norm', dict(axis='(1,)', ord='3'), [(2, 3, 4)]),
        ('_npi_norm', dict(axis='(1,)', flag='2'), [(2, 3, 4)]),
        ('_npi_norm', dict(axis='(0, 1, 2)'), [(2, 3, 4)]),
        ('_npi_norm', dict(axis='(0, 0)'), [(2, 3, 4)]),
        ('_npi_norm', dict(axis='(3,)'), [(2, 3, 4)]),
    ]


if __name__ == '__main__':
    record(cases(), shape_cases(), np_shape=True)
