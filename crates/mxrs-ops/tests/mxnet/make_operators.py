#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators of `src/tables`, and of those that move elements, multiply matrices or
draw random numbers, with MXNet 1.9.1: numbers, gradients, shapes, types and refusals.

    python make_operators.py         needs mxnet==1.9.1 (CPU) and numpy 1.23

The numbers come from MXNet's native kernels (MXNET_MKLDNN_ENABLED=0). Gradients of outputs are 1, 2, 3, ... Random numbers
are not compared, only their shapes and types.
"""
import json
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
os.environ['MXNET_USE_MKLDNN_RNN'] = '0'  # otherwise RNN takes a state of oneDNN for its own
from make_golden import GOLDEN, encode, fill, u, v
from make_updates import call

SPECIAL = [0.0, -0.0, 'inf', '-inf', 'nan', 1.0, -1.0, 0.001]
UNARY = dict(
    abs=(-4, 4), sign=(-4, 4), round=(-4, 4), rint=(-4, 4), ceil=(-4, 4), floor=(-4, 4), trunc=(-4, 4), fix=(-4, 4),
    square=(-4, 4),
    sqrt=(.05, 4), cbrt=(.05, 4), rsqrt=(.05, 4), rcbrt=(.05, 4), reciprocal=(.05, 4), exp=(-4, 4), expm1=(-4, 4), log=(.05, 4),
    log1p=(-.9, 4), log2=(.05, 4), log10=(.05, 4), sin=(-4, 4), cos=(-4, 4), tan=(-1.4, 1.4), arcsin=(-.9, .9), arccos=(-.9, .9),
    arctan=(-4, 4), sinh=(-4, 4), cosh=(-4, 4), tanh=(-4, 4), arcsinh=(-4, 4), arccosh=(1.1, 4), arctanh=(-.9, .9),
    degrees=(-4, 4), radians=(-4, 4), negative=(-4, 4), relu=(-4, 4), sigmoid=(-4, 4), softsign=(-4, 4), erf=(-3, 3),
    erfinv=(-.9, .9), gamma=(.5, 4), gammaln=(.5, 4), logical_not=(-4, 4))
# MXNet's values at 0 and infinity differ: gamma and gammaln of 0 and of -0, and erfinv outside its range.
NO_SPECIAL = ('gamma', 'gammaln', 'erfinv')
# The functions give NaN, of which C leaves the conversion to an integer undefined.
NOT_NUMBERS = ('arcsin', 'arccos', 'arctanh', 'erfinv')
HALVES = [0.5, 1.5, -0.5, -1.5, 2.5, -2.5, 0.49, -3.0]
BINARY = dict(add=(-1, 1), sub=(-1, 1), mul=(-1, 1), div=(.25, 2), mod=(.25, 2), power=(.25, 2), hypot=(-2, 2), maximum=(-1, 1),
              minimum=(-1, 1), equal=(-1, 1), not_equal=(-1, 1), greater=(-1, 1), greater_equal=(-1, 1), lesser=(-1, 1),
              lesser_equal=(-1, 1), logical_and=(-1, 1), logical_or=(-1, 1), logical_xor=(-1, 1))
SCALARS = dict(plus=(-1, 1), minus=(-1, 1), rminus=(-1, 1), mul=(-1, 1), div=(.25, 2), rdiv=(.25, 2), mod=(.25, 2), rmod=(.25, 2),
               power=(.25, 2), rpower=(.25, 2), hypot=(-2, 2), maximum=(-1, 2), minimum=(-1, 2), equal=(-1, 1), not_equal=(-1, 1),
               greater=(-1, 2), greater_equal=(-1, 2), lesser=(-1, 2), lesser_equal=(-1, 2), logical_and=(-1, 1),
               logical_or=(-1, 1), logical_xor=(-1, 1))
SIGNS = [1.0, -2.0, 0.0, 3.5, -3.5, 5.0, -5.0, 2.0]
OTHERS = [2.0, 2.0, 0.0, -2.0, -2.0, 5.0, 5.0, 0.0]


def cases():
    """(operator, name, attributes, input specs, options); option `grad` lists the inputs whose gradients are recorded."""
    out = []

    def add(op, name, attrs, *specs, grad=None, **options):
        if grad is None:
            grad = [i for i, spec in enumerate(specs) if spec['dtype'] == 'float32']
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=grad)))

    for op, (low, high) in UNARY.items():
        add(op, 'matrix', {}, u(3, 4, low=low, high=high))
        if op not in ('degrees', 'radians'):  # MXNet computes them with a factor in float32
            add(op, 'float64', {}, u(5, low=low, high=high, dtype='float64'))
        if op not in NOT_NUMBERS:
            add(op, 'int32', {}, u(6, low=1, high=9, dtype='int32'))
        if op not in NO_SPECIAL:
            add(op, 'special', {}, v(SPECIAL), grad=[])
    for op in ['round', 'rint', 'fix', 'trunc', 'ceil', 'floor']:
        add(op, 'halves', {}, v(HALVES))
    for name, (low, high) in BINARY.items():
        pair = 'elemwise_' + name if name in ('add', 'sub', 'mul', 'div') else '_' + name
        add(pair, 'matrix', {}, u(3, 4, low=low, high=high), u(3, 4, low=low, high=high))
        add(pair, 'float64', {}, u(5, low=low, high=high, dtype='float64'), u(5, low=low, high=high, dtype='float64'))
        add(pair, 'int32', {}, u(3, 4, low=1, high=9, dtype='int32'), u(3, 4, low=1, high=9, dtype='int32'))
        broadcast = 'broadcast_' + name
        add(broadcast, 'row', {}, u(3, 4, low=low, high=high), u(1, 4, low=low, high=high))
        add(broadcast, 'both', {}, u(2, 1, 3, low=low, high=high), u(1, 4, 1, low=low, high=high))
        add(broadcast, 'int32', {}, u(3, 4, low=1, high=9, dtype='int32'), u(1, 4, low=1, high=9, dtype='int32'))
        if name in ('mod', 'maximum', 'minimum', 'equal', 'greater', 'greater_equal', 'logical_and', 'logical_or', 'logical_xor'):
            add(pair, 'signs', {}, v(SIGNS), v(OTHERS), grad=[])
            add(pair, 'integer_signs', {}, v([1, -2, 0, 3, -3, 5, -5, 2], 'int32'), v([2, 2, 0, -2, -2, 5, 5, 0], 'int32'))
    for name, (low, high) in SCALARS.items():
        op = '_%s_scalar' % name
        add(op, 'matrix', dict(scalar=0.75), u(3, 4, low=low, high=high))
        add(op, 'two', dict(scalar=2), u(5, low=low, high=high))
        add(op, 'int32', dict(scalar=3), u(6, low=1, high=9, dtype='int32'))
        add(op, 'float64', dict(scalar=0.1), u(4, low=low, high=high, dtype='float64'))

    for op, extra in [('slice', {}), ('_slice_assign_scalar', dict(scalar=2.5))]:
        for name, shape, begin, end, step in [
                ('rows', (4, 5), '(1,)', '(3,)', '()'), ('block', (3, 5), '(0, 1)', '(2, -1)', '()'),
                ('steps', (5, 6), '(None, 4)', '(None, 0)', '(2, -2)'), ('backward', (7,), '(None,)', '(None,)', '(-1,)'),
                ('mixed', (2, 3, 4), '(None, 0)', '(None, 2)', '(None, 1)')]:
            add(op, name, dict(extra, begin=begin, end=end, step=step), u(*shape))
        add(op, 'integers', dict(extra, begin='(1,)', end='(3,)'), u(4, 2, low=0, high=9, dtype='int32'))
    add('_slice_assign', 'block', dict(begin='(0, 1)', end='(2, -1)'), u(3, 5), u(2, 3))
    add('_slice_assign', 'steps', dict(begin='(None, 4)', end='(None, 0)', step='(2, -2)'), u(5, 6), u(3, 2))
    add('slice_like', 'all', {}, u(4, 5), u(3, 2))
    add('slice_like', 'axes', dict(axes='(1, -1)'), u(2, 4, 5), u(9, 3, 2))
    add('SwapAxis', 'outer', dict(dim1=0, dim2=2), u(2, 3, 4))
    add('SwapAxis', 'inner', dict(dim1=1, dim2=3), u(2, 3, 2, 4))
    add('tile', 'both', dict(reps='(2, 3)'), u(2, 3))
    add('tile', 'fewer', dict(reps='(2,)'), u(2, 3))
    add('tile', 'more', dict(reps='(2, 1, 2)'), u(3, 2))
    add('repeat', 'flat', dict(repeats=2), u(2, 3))
    add('repeat', 'rows', dict(repeats=3, axis=0), u(2, 3))
    add('repeat', 'last', dict(repeats=2, axis=-1), u(2, 3, 2))
    add('reverse', 'rows', dict(axis='0'), u(3, 5))
    add('reverse', 'both', dict(axis='(0, 2)'), u(2, 3, 4))
    for mode in ['constant', 'edge', 'reflect']:
        value = dict(constant_value=2.5) if mode == 'constant' else {}
        add('Pad', mode, dict(value, mode=mode, pad_width='(0,0,0,0,1,2,2,1)'), u(1, 2, 3, 4))
        add('Pad', mode + '_volume', dict(value, mode=mode, pad_width='(0,0,0,0,1,0,0,1,1,1)'), u(1, 1, 2, 3, 3))
    for op, shape in [('depth_to_space', (2, 8, 2, 3)), ('space_to_depth', (2, 2, 4, 6))]:
        add(op, 'two', dict(block_size=2), u(*shape))
    add('stack', 'first', dict(axis=0), u(2, 3), u(2, 3), u(2, 3), count='num_args')
    add('stack', 'last', dict(axis=-1), u(2, 3), u(2, 3), count='num_args')
    add('SliceChannel', 'channels', dict(num_outputs=3), u(2, 6, 2))
    add('SliceChannel', 'squeezed', dict(num_outputs=3, axis=-1, squeeze_axis=True), u(2, 4, 3))
    add('where', 'elements', {}, v([1, 0, 0, 2, -1, 0], shape=(2, 3)), u(2, 3), u(2, 3), grad=[1, 2])
    add('where', 'rows', {}, v([1, 0, 3]), u(3, 2), u(3, 2), grad=[1, 2])
    add('where', 'integers', {}, v([1, 0, 3], 'int32'), u(3), u(3), grad=[1, 2])
    add('one_hot', 'words', dict(depth=4), v([0, 3, 1, 3], shape=(2, 2)))
    add('one_hot', 'outside', dict(depth=3, on_value=5, off_value=-1, dtype='int32'), v([-1, 3, 2]))
    add('take', 'rows', {}, u(4, 3), v([0, 3, 3, 1], shape=(2, 2)), grad=[0])
    add('take', 'columns', dict(axis=-1), u(2, 3), v([2, 0, 1, 2]), grad=[0])
    add('take', 'clipped', {}, u(3, 2), v([-2, 7, 1.9]), grad=[0])
    add('take', 'wrapped', dict(axis=1, mode='wrap'), u(2, 3, 2), v([-1, 7, -4]), grad=[0])
    add('take', 'checked', dict(mode='raise'), u(3), v([2, 0], 'int32'), grad=[0])
    add('batch_take', 'rows', {}, u(3, 4), v([3, 0, 1], 'int32'), grad=[0])
    add('gather_nd', 'elements', {}, u(3, 4), v([0, 2, 2, 1, 3, 3], shape=(2, 3)), grad=[0])
    add('gather_nd', 'rows', {}, u(3, 2), v([2, 0, 1, 2], shape=(1, 4)), grad=[0])
    add('gather_nd', 'from_the_end', {}, u(3, 2), v([-1, 0], shape=(1, 2)), grad=[])  # MXNet's gradient writes outside
    add('scatter_nd', 'elements', dict(shape='(3, 4)'), u(3), v([0, 2, 1, 1, 3, 0], shape=(2, 3)), grad=[0])
    add('scatter_nd', 'rows', dict(shape='(4, 2)'), u(3, 2), v([2, 0, 3], shape=(1, 3)), grad=[0])
    add('Embedding', 'words', dict(input_dim=5, output_dim=3), v([0, 4, 4, 1, 2, 0], shape=(2, 3)), u(5, 3), grad=[1])
    add('Embedding', 'clipped', dict(input_dim=5, output_dim=3), v([-1, 9, 2.9]), u(5, 3), grad=[1])
    for op in ['SequenceMask', 'SequenceLast', 'SequenceReverse']:
        used = dict(use_sequence_length=True, **(dict(value=-1) if op == 'SequenceMask' else {}))
        # MXNet's gradient of SequenceLast writes outside its arrays if there are no lengths.
        add(op, 'whole', {}, u(3, 2), grad=[] if op == 'SequenceLast' else [0])
        add(op, 'lengths', used, u(4, 3, 2), v([4, 1, 2]), grad=[0])
        if op != 'SequenceReverse':
            add(op, 'batch_first', dict(used, axis=1), u(2, 4, 3), v([3, 2]), grad=[0])
    for op in ['dot', 'batch_dot']:
        batch = () if op == 'dot' else (2,)
        for name, a, b in [('matrices', False, False), ('left', True, False), ('right', False, True), ('both', True, True)]:
            lhs, rhs = ((5, 3) if a else (3, 5)), ((4, 5) if b else (5, 4))
            add(op, name, dict(transpose_a=a, transpose_b=b), u(*batch, *lhs), u(*batch, *rhs))
    add('dot', 'vectors', {}, u(5), u(5))
    add('dot', 'more_axes', {}, u(2, 3, 4), u(4, 2, 3))
    add('dot', 'vector', {}, u(3, 4), u(4))
    add('norm', 'all', {}, u(3, 5))
    add('norm', 'last', dict(axis=-1), u(2, 3, 4))
    add('norm', 'absolute', dict(ord=1, axis=0), u(5, 3))
    add('norm', 'kept', dict(axis='(0, 2)', keepdims=True), u(2, 3, 4))
    add('min', 'all', {}, u(3, 5))
    add('min', 'axis', dict(axis=1), v([1, 3, 1, 2, 5, 2], shape=(2, 3)))
    add('min', 'excluded', dict(axis=1, exclude=True, keepdims=True), u(2, 3, 4))
    add('min', 'int32', dict(axis=0), u(3, 4, low=-9, high=9, dtype='int32'))
    for op, attrs in [('hard_sigmoid', dict(alpha=.3)), ('smooth_l1', dict(scalar=1.5)), ('_contrib_quadratic', dict(a=2, b=-1,
            c=.5)),
                      ('_contrib_div_sqrt_dim', {}), ('_contrib_gradientmultiplier', dict(scalar=-.5)),
                      ('_scatter_plus_scalar', dict(scalar=3)), ('_scatter_minus_scalar', dict(scalar=3))]:
        add(op, 'matrix', attrs, u(3, 4, low=-3, high=3))
        add(op, 'float64', attrs, u(5, low=-3, high=3, dtype='float64'))
    add('hard_sigmoid', 'defaults', {}, u(3, 4, low=-4, high=4))
    for op in ['_contrib_round_ste', '_contrib_sign_ste']:
        add(op, 'matrix', {}, u(3, 4, low=-3, high=3))
        add(op, 'halves', {}, v(HALVES), grad=[])
    add('_npi_nan_to_num', 'defaults', {}, v(SPECIAL))
    add('_npi_nan_to_num', 'given', dict(nan=2, posinf=3, neginf=-4), v(SPECIAL))
    add('_npi_nan_to_num', 'float64', dict(nan=2), v(SPECIAL, 'float64'))
    for attrs, name in [(dict(axis=-1), 'rows'), (dict(axis=0, is_ascend=False), 'columns'), (dict(axis='None'), 'flat')]:
        add('sort', name, attrs, u(3, 4), grad=[] if name == 'flat' else None)
        add('argsort', name, attrs, u(3, 4), grad=[])
        add('sort', name + '_int32', attrs, u(3, 4, low=-99, high=99, dtype='int32'))
        add('argsort', name + '_int32', dict(attrs, dtype='int32'), v([7, -3, 9, 1, 0, 5, -8, 2], 'int32', (2, 4)))
        for kind in ['value', 'indices', 'mask', 'both']:
            add('topk', name + '_' + kind, dict(attrs, k=2, ret_typ=kind), u(3, 4), grad=[0] if kind in ('value', 'both') else [],
                visible_gradients=1)
    add('topk', 'all', dict(k=0, ret_typ='value'), u(2, 3))
    add('topk', 'places', dict(k=2, dtype='int32'), u(2, 3, low=-99, high=99, dtype='int32'))
    for op, shape in [('_split_v2', (2, 6)), ('_npi_hsplit', (2, 6)), ('_npi_dsplit', (2, 1, 6))]:
        # MXNet's gradient reads the axis, and its forward computation does not.
        axis = dict(axis=2 if op == '_npi_dsplit' else 1)
        add(op, 'indices', dict(axis, indices='(0, 1, 4)'), u(*shape))
        add(op, 'sections', dict(axis, indices='()', sections=3), u(*shape))
        if op == '_split_v2':
            add(op, 'squeezed', dict(indices='()', sections=2, axis=0, squeeze_axis=True), u(*shape))
            add(op, 'rows', dict(indices='(0, 1)', axis=-2), u(3, 2))
    add('_npi_hsplit', 'vector', dict(indices='(0, 2)', axis=0), u(5))
    add('_ravel_multi_index', 'matrix', dict(shape='(3, 4)'), v([0, 2, 1, 3, 1, 0], shape=(2, 3)), grad=[])
    add('_ravel_multi_index', 'open', dict(shape='(-1, 4)'), v([5, 2, 1, 3], 'int32', (2, 2)))
    add('_unravel_index', 'matrix', dict(shape='(3, 4)'), v([3, 9, 4]), grad=[])
    add('_unravel_index', 'open', dict(shape='(-1, 4)'), v([21, 11], 'int64'))
    add('_contrib_index_array', 'matrix', {}, u(2, 3), grad=[])
    add('_contrib_index_array', 'axes', dict(axes='(1, 0)'), u(2, 3, 2), grad=[])
    for mode in ['instance', 'channel', 'spatial']:
        add('L2Normalization', mode, dict(mode=mode), u(2, 3, 4))
        add('L2Normalization', mode + '_image', dict(mode=mode, eps=.1), u(2, 3, 2, 2))
    heads = dict(heads=2)
    add('_contrib_interleaved_matmul_selfatt_qk', 'two', heads, u(3, 2, 12))
    add('_contrib_interleaved_matmul_selfatt_valatt', 'two', heads, u(3, 2, 12), u(4, 3, 3))
    add('_contrib_interleaved_matmul_encdec_qk', 'two', heads, u(3, 2, 4), u(2, 2, 8))
    add('_contrib_interleaved_matmul_encdec_valatt', 'two', heads, u(2, 2, 8), u(4, 3, 2))
    for name, attrs in [('all', {}), ('axis', dict(axis=-1, start=2, step=3)), ('repeated', dict(repeat=2, start=.5))]:
        add('_contrib_arange_like', name, attrs, u(2, 4), grad=[])
    add('reshape_like', 'all', {}, u(6), u(2, 3), grad=[0])
    add('reshape_like', 'part', dict(lhs_begin=1, lhs_end=2, rhs_begin=0, rhs_end=2), u(2, 6), u(3, 2), grad=[0])
    add('reshape_like', 'from_the_end', dict(lhs_begin=-2, rhs_begin=-1), u(2, 2, 3), u(5, 6), grad=[0])
    add('_identity_with_attr_like_rhs', 'matrix', {}, u(2, 3), u(2, 3), grad=[0])
    add('_scatter_elemwise_div', 'matrix', {}, u(2, 3), u(2, 3, low=.5, high=2))
    add('_scatter_set_nd', 'elements', dict(shape='(3, 4)'), u(3, 4), u(3), v([0, 2, 1, 1, 3, 0], shape=(2, 3)), grad=[])
    add('_scatter_set_nd', 'rows', dict(shape='(4, 2)'), u(4, 2), u(3, 2), v([2, 0, 3], 'int32', (1, 3)), grad=[])
    labels = v([2, 0, 3])
    for name, attrs in [('quadratic', {}), ('linear', dict(use_linear=True, margin=.5)), ('scaled',
                                                                                          dict(regularization_coefficient=2.5))]:
        add('SVMOutput', name, attrs, u(3, 4, low=-2, high=2), labels, grad=[0])
    for name, attrs in [('plain', {}), ('batch', dict(normalization='batch', grad_scale=2)), ('valid',
            dict(normalization='valid', valid_thresh=.25))]:
        add('MakeLoss', name, attrs, u(3, 4))
    # MXNet's gradient over an instance of more than one axis is not the derivative.
    add('SoftmaxActivation', 'instance', dict(mode='instance'), u(2, 3, 4), grad=[])
    add('SoftmaxActivation', 'channel', dict(mode='channel'), u(2, 3, 4))
    add('SoftmaxActivation', 'rows', {}, u(2, 3))
    for name, attrs in [('rows', {}), ('columns', dict(axis=0)), ('warm', dict(temperature=2.5))]:
        add('softmin', name, attrs, u(3, 4))
    for name, attrs in [('rows', dict(axes='(1,)')), ('kept', dict(axes='(0, -1)', keepdims=True)), ('all',
            dict(axes='(0, 1, 2)'))]:
        add('moments', name, attrs, u(2, 3, 4))
    add('softmax_cross_entropy', 'three', {}, u(3, 4, low=-2, high=2), labels, grad=[0])
    add('argmax_channel', 'rows', {}, v([3, 1, 3, 0, 5, 0], shape=(2, 3)), grad=[])
    add('_shuffle', 'rows', {}, u(4, 3), grad=[], not_compared=[0])
    for mode, gates in [('rnn_relu', 1), ('rnn_tanh', 1), ('lstm', 4), ('gru', 3)]:
        for name, layers, both, states in [('one', 1, False, True), ('deep', 2, True, True), ('plain', 2, False, False)]:
            d, h, c, t, n = 2 if both else 1, 3, 2, 4, 2
            size = sum(d * gates * h * ((c if k == 0 else d * h) + h + 2) for k in range(layers))
            inputs = [u(t, n, c), u(size), u(layers * d, n, h)] + ([u(layers * d, n, h)] if mode == 'lstm' else [])
            attrs = dict(state_size=h, num_layers=layers, mode=mode, bidirectional=both, state_outputs=states)
            add('RNN', '%s_%s' % (mode, name), attrs, *inputs, train_mode=True)
    add('_rnn_param_concat', 'vectors', dict(dim=0), u(3), u(2), u(4), count='num_args')
    for op in ['prod', 'nansum', 'nanprod']:
        add(op, 'all', {}, u(3, 5))
        add(op, 'last', dict(axis=-1), u(2, 3, 4))
        add(op, 'kept', dict(axis='(0, 2)', keepdims=True), u(2, 3, 4))
        add(op, 'excluded', dict(axis=1, exclude=True), u(2, 3, 4))
        add(op, 'int32', dict(axis=0), u(3, 4, low=-9, high=9, dtype='int32'))
        if op != 'prod':
            add(op, 'nan', dict(axis=1), v([1, 'nan', 2, 3, 'nan', 'nan'], shape=(2, 3)))
    add('broadcast_to', 'row', dict(shape='(3, 5)'), u(1, 5))
    add('broadcast_to', 'kept', dict(shape='(0, 4, 0)'), u(2, 1, 3))
    add('broadcast_axis', 'two', dict(axis='(0, 2)', size='(2, 3)'), u(1, 2, 1))
    add('broadcast_like', 'all', {}, u(1, 5), u(3, 5), grad=[0])
    add('broadcast_like', 'axes', dict(lhs_axes='(0,)', rhs_axes='(-1,)'), u(1, 2), u(3, 4), grad=[0])
    for op in ['_copyto', 'BlockGrad', 'make_loss']:
        add(op, 'matrix', {}, u(3, 4), grad=[] if op == '_copyto' else None)
    add('cast_storage', 'dense', dict(stype='default'), u(3, 4))
    for op in ['LinearRegressionOutput', 'MAERegressionOutput', 'LogisticRegressionOutput']:
        add(op, 'matrix', {}, u(3, 4), u(3, 4), grad=[0])
        add(op, 'scaled', dict(grad_scale=2.5), u(2, 3, 2), u(2, 3, 2), grad=[0])
        add(op, 'column', {}, u(4, 1), u(4), grad=[0])
    add('LayerNorm', 'last', {}, u(3, 5), u(5), u(5))
    add('LayerNorm', 'middle', dict(axis=1, eps=0.1), u(2, 3, 4), u(3), u(3))
    add('LayerNorm', 'moments', dict(output_mean_var=True), u(3, 5), u(5), u(5), grad=[])
    add('InstanceNorm', 'images', {}, u(2, 3, 4, 2), u(3), u(3))
    add('GroupNorm', 'two', dict(num_groups=2), u(2, 4, 3, 2), u(2), u(2))
    add('GroupNorm', 'each', dict(num_groups=3, eps=0.1), u(2, 3, 4), u(3), u(3))
    for act in ['leaky', 'elu', 'gelu', 'selu']:
        # MXNet's gradient of selu is not the derivative where data is negative.
        add('LeakyReLU', act, dict(act_type=act), v([-2, -0.5, 0, 1.5, -0.1, 3]), grad=[] if act == 'selu' else [0])
    add('LeakyReLU', 'slope', dict(act_type='elu', slope=0.7), u(3, 4, low=-3, high=3))
    add('LeakyReLU', 'prelu', dict(act_type='prelu'), u(2, 3, 2, low=-3, high=3), u(3))
    add('LeakyReLU', 'prelu_of_rows', dict(act_type='prelu'), u(4, 3, low=-3, high=3), u(3))
    add('LeakyReLU', 'prelu_of_one', dict(act_type='prelu'), u(2, 3, 2, low=-3, high=3), u(1))
    for name, a, b in [('same', [1, 2, 'nan'], [1, 2.00001, 'nan']), ('different', [1, 2], [1, 2.1])]:
        add('_contrib_allclose', name, {}, v(a), v(b), grad=[])
    for op in ['shape_array', 'size_array']:
        add(op, 'three', {}, u(2, 3, 4), grad=[])
    add('argmin', 'rows', dict(axis=1), v([3, 1, 2, 5, 0, 0], shape=(2, 3)), grad=[])
    add('argmin', 'flat', {}, u(3, 4), grad=[])
    add('argmin', 'kept', dict(axis=0, keepdims=True), u(3, 4), grad=[])
    for name, attrs in [('to', dict(start=5)), ('steps', dict(start=1, stop=9, step=2.5)),
                        ('down', dict(start=4, stop=0, step=-1, dtype='int32')), ('repeated', dict(start=0, stop=3, repeat=2))]:
        add('_arange', name, attrs)
    for name, attrs in [('square', dict(N=3)), ('above', dict(N=3, M=5, k=1)), ('below', dict(N=4, M=2, k=-2, dtype='int32'))]:
        add('_eye', name, attrs)
    for op, attrs in [('_random_uniform', dict(low=-2, high=3)), ('_random_normal', dict(loc=2, scale=.5)),
                      ('_random_exponential', dict(lam=4))]:
        add(op, 'plain', dict(shape='(3, 2)'), not_compared=[0])
        add(op, 'double', dict(attrs, shape='(4,)', dtype='float64'), not_compared=[0])
    add('khatri_rao', 'two', {}, u(2, 3), u(4, 3), count='num_args', grad=[])
    add('khatri_rao', 'three', {}, u(2, 2), u(3, 2), u(2, 2), count='num_args', grad=[])
    add('khatri_rao', 'one', {}, u(2, 3), count='num_args', grad=[])
    # MXNet has only a kernel for row-sparse data.
    for keepdims in [False, True]:
        add('_square_sum', 'columns_%d' % keepdims, dict(axis=1, keepdims=keepdims), u(3, 4), grad=[], stype='row_sparse')
    add('_square_sum', 'rows', dict(axis=0), u(3, 4), grad=[], stype='row_sparse')
    add('_histogram', 'counted', dict(bin_cnt=4, range='(-0.5, 1.0)'), u(3, 5), grad=[])
    add('_histogram', 'edges', dict(bin_cnt=5, range='(0, 5)'), v([0, 1, 2, 2, 3, 4, 5, -1, 6]), grad=[])
    add('_histogram', 'point', dict(bin_cnt=3, range='(2, 2)'), v([0, 1.5, 2, 2.4, 2.5]), grad=[])
    add('_histogram', 'bins', {}, u(3, 5), v([-.8, -.5, 0, .75]), grad=[])
    add('_histogram', 'bins_edges', {}, v([0, 1, 2, 2, 3, 4, 5, -1, 6]), v([0, 1, 2, 5]), grad=[])
    add('_histogram', 'int32', dict(bin_cnt=3, range='(0, 6)'), v([0, 1, 2, 2, 3, 4, 5, 6], 'int32'))
    add('fill_element_0index', 'rows', {}, u(3, 4), u(3), v([0, 3, 1]), grad=[], graph=False)
    add('_onehot_encode', 'rows', {}, v([0, 3, 1]), u(3, 4), grad=[], out=1, graph=False)
    for name, attrs in [('five', dict(start=0, stop=2, num=5)), ('open', dict(start=1, stop=2, num=4, endpoint=False)),
                        ('one', dict(start=1, stop=2, num=1)), ('down', dict(start=3, stop=-4, num=4, dtype='int32')),
                        ('double', dict(start=.1, stop=.7, num=7, dtype='float64'))]:
        add('_linspace', name, attrs)
    add('_contrib_index_copy', 'rows', {}, u(4, 2), v([3, 1], 'int32'), u(2, 2))
    add('_contrib_index_copy', 'int64', {}, u(3, 2, 2), v([0], 'int64'), u(1, 2, 2))
    add('_contrib_index_copy', 'vector', {}, u(5), v([4, 0, 2], 'int32'), u(3))
    statistics = [u(3, low=.5, high=2), u(3), u(3, low=-.5, high=.5), u(3, low=.5, high=2)]
    for op, more in [('_contrib_SyncBatchNorm', dict(key='bn'))]:
        data = u(2, 3, 4, 5, low=-2, high=3)
        for name, attrs in [('plain', {}), ('scaled', dict(fix_gamma=False)), ('global', dict(use_global_stats=True, fix_gamma=False)),
                            ('eps', dict(eps=.1, fix_gamma=False))]:
            add(op, name, dict(more, **attrs), data, *statistics, grad=[])
            add(op, name + '_training', dict(more, **attrs), data, *statistics, grad=[0, 1, 2], train_mode=True)
        # MXNet does not set the statistics at inference.
        add(op, 'statistics', dict(more, output_mean_var=True), data, *statistics, grad=[], not_compared=[1, 2])
        add(op, 'statistics_training', dict(more, output_mean_var=True), data, *statistics, grad=[], train_mode=True)
        add(op, 'matrix_training', dict(more, fix_gamma=False), u(6, 3, low=-2, high=3), *statistics, grad=[0, 1, 2], train_mode=True)
    hawkes = [u(2, 3, low=.5, high=1.5), u(3, low=.1, high=.5), u(3, low=.5, high=2), u(2, 3, low=0, high=1), u(2, 4, low=.1, high=1)]
    add('_contrib_hawkesll', 'two', {}, *hawkes, v([0, 1, 0, 2, 2, 2, 1, 0], 'int32', (2, 4)), v([4, 2]), v([9, 5]), grad=[0, 1, 2], heads=[0])
    one = [u(1, 1, low=.5, high=1.5), u(1, low=.1, high=.5), u(1, low=.5, high=2), u(1, 1, low=0, high=1), u(1, 3, low=.1, high=1)]
    add('_contrib_hawkesll', 'one', {}, *one, v([0, 0, 0], 'int32', (1, 3)), v([3]), v([4]), grad=[0, 1, 2], heads=[0])
    add('_sample_unique_zipfian', 'all', dict(range_max=4, shape='(2, 3)'), not_compared=[0, 1])
    add('_sample_unique_zipfian', 'one', dict(range_max=1, shape='(2, 1)'))
    add('_set_value', 'matrix', dict(src=2.5), made=(2, 3), graph=False)
    add('_set_value', 'integers', dict(src=-2.5), made=(4,), dtype='int32', graph=False)
    add('reset_arrays', 'two', dict(num_arrays=2), u(2, 3), u(4), grad=[], rewritten=[0, 1], graph=False)
    add('reset_arrays', 'types', dict(num_arrays=3), u(2), u(2, dtype='float64'), u(3, dtype='float16'), grad=[], rewritten=[0, 1, 2], graph=False)
    return out


def shape_cases():
    """(operator, attributes, known input shapes by position): 0 is an unknown size, None an unknown shape."""
    return [
        ('broadcast_maximum', {}, [(2, 1), (1, 3)]),
        ('broadcast_equal', {}, [(2, 3), (2, 4)]),
        ('_power', {}, [(2, 0), (0, 3)]),
        ('slice', dict(begin='(1,)', end='(3,)'), [(4, 0)]),
        ('SwapAxis', dict(dim1='0', dim2='1'), [(2, 0)]),
        ('stack', dict(num_args='2', axis='1'), [(2, 3), None]),
        ('SliceChannel', dict(num_outputs='3'), [(2, 6, 0)]),
        ('SliceChannel', dict(num_outputs='4'), [(2, 6)]),
        ('where', {}, [(3,), (3, 2), None]),
        ('take', {}, [(4, 3), (2, 2)]),
        ('Embedding', dict(input_dim='5', output_dim='3'), [(2, 4), None]),
        ('dot', {}, [(3, 5), (5, 4)]),
        ('dot', {}, [(3, 5), (4, 4)]),
        ('batch_dot', {}, [(2, 3, 5), (2, 5, 4)]),
        ('batch_dot', {}, [(2, 3, 5), (3, 5, 4)]),
        ('broadcast_to', dict(shape='(3, 5)'), [(2, 5)]),
        ('LinearRegressionOutput', {}, [(3, 4), None]),
        ('LinearRegressionOutput', {}, [(3, 1), None]),
        ('reverse', dict(axis='0'), [(2, 3)]),
        ('LayerNorm', dict(axis='1'), [(2, 3, 0), None, None]),
        ('GroupNorm', dict(num_groups='2'), [(2, 4, 3), None, None]),
        ('InstanceNorm', {}, [(2, 4, 3), None, None]),
        ('LeakyReLU', dict(act_type='prelu'), [(2, 3, 4), None]),
        ('repeat', dict(repeats='2', axis='1'), [(2, 3)]),
        ('depth_to_space', dict(block_size='2'), [(1, 6, 2, 2)]),
        ('_contrib_interleaved_matmul_selfatt_qk', dict(heads='2'), [(3, 2, 12)]),
        ('_contrib_interleaved_matmul_encdec_qk', dict(heads='2'), [(3, 2, 4), (2, 2, 8)]),
        ('sort', dict(axis='2'), [(2, 6)]),
        ('topk', dict(k='7'), [(2, 6)]),
        ('RNN', dict(state_size='3', num_layers='1', mode='lstm', state_outputs='True'), [(4, 2, 2), None, None, None]),
        ('L2Normalization', dict(mode='channel'), [(2, 6, 3)]),
    ]


def compose(mx, name, attrs, n):
    """The symbol of a call with variables `v0`, `v1`, ..., and of a call that names its own inputs."""
    import ctypes
    from mxnet.base import _LIB, check_call, c_str, c_str_array

    def atomic():
        handle, made = ctypes.c_void_p(), ctypes.c_void_p()
        check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
        check_call(_LIB.MXSymbolCreateAtomicSymbol(handle, len(attrs), c_str_array(list(attrs)),
                                                   c_str_array(list(attrs.values())), ctypes.byref(made)))
        return mx.symbol.Symbol(made)
    own = atomic()
    own._compose(name='node')
    given = atomic()
    given._compose(*[mx.sym.Variable('v%d' % i) for i in range(n)], name='node')
    return given, own


def compute(mx, np, cases):
    for op, name, attrs, specs, options in cases:
        rng = np.random.default_rng(sum(map(ord, op + name)))
        arrays = [fill(spec, rng) for spec in specs]
        stypes = options.get('stypes', [options.get('stype', 'default')] * len(arrays))
        nd = [mx.nd.array(a, dtype=a.dtype).tostype(stype) for a, stype in zip(arrays, stypes)]
        if 'count' in options:
            attrs = dict(attrs, **{options['count']: str(len(nd))})
        grads = options['grad']
        for i in grads:
            nd[i].attach_grad()
        try:
            with mx.autograd.record(train_mode=options.get('train_mode', False)):
                out = mx.nd.zeros(arrays[0].shape) if op == '_copyto' else nd[0] if op == '_scatter_set_nd' or options.get('inplace') else None
                out = nd[options['out']] if 'out' in options else out
                if 'made' in options:
                    out = mx.nd.zeros(options['made'], dtype=options.get('dtype', 'float32'))
                outputs = call(mx, op, nd, attrs, out)
                outputs = outputs if isinstance(outputs, list) else [outputs]
                if 'stypes' in options:
                    outputs = [output.tostype('default') for output in outputs]
            document = dict(name=name, attrs=attrs, is_train=options.get('train_mode', False), inputs=[encode(a) for a in arrays],
                            outputs=[encode(o.asnumpy()) for o in outputs])
        except mx.base.MXNetError as error:
            print('%s/%s is not recorded: %s' % (op, name, str(error).strip().split('\n')[-1]))
            continue
        if grads and all(o.dtype.__name__.startswith('float') for o in outputs):
            # MXNet ignores the gradients of other outputs than those of the option.
            chosen = [outputs[i] for i in options.get('heads', range(len(outputs)))]
            heads = [mx.nd.array(np.arange(1, o.size + 1).reshape(o.shape), dtype=o.dtype) for o in chosen]
            try:
                mx.autograd.backward(chosen, heads, train_mode=options.get('train_mode', False))
                document['gradients'] = [encode(x.grad.asnumpy()) if i in grads else None for i, x in enumerate(nd)]
            except mx.base.MXNetError:
                pass  # there is no gradient
        if 'heads' in options:
            document['heads'] = options['heads']
        if 'rewritten' in options:
            document['rewritten'] = [encode(nd[i].asnumpy()) for i in options['rewritten']]
        if 'not_compared' in options:
            document['not_compared'] = options['not_compared']
        if options.get('graph', True):
            _, own = compose(mx, op, attrs, len(nd))
            graph = json.loads(own.tojson())
            rows, aux = graph['node_row_ptr'], own.list_auxiliary_states()
            names = [n[len('node_'):] for n in own.list_arguments() + aux]
            document.update(input_names=names if len(names) == len(nd) and options.get('names', True) else [], n_aux=len(aux),
                            n_outputs=rows[-1] - rows[-2])
        else:
            # MXNet cannot make a node of a graph of it.
            document.update(input_names=[], n_aux=0, n_outputs=len(outputs))
        yield op, document


def compute_shapes(mx, cases):
    def plain(shape):
        return None if shape is None or len(shape) == 0 else [d or None for d in shape]
    for op, attrs, known in cases:
        document = dict(attrs=attrs, given=[plain(k) for k in known])
        try:
            symbol, _ = compose(mx, op, attrs, len(known))
            shapes = {'v%d' % i: k for i, k in enumerate(known) if k is not None}
            ins, outs, aux = symbol.infer_shape_partial(**shapes)
            document['inputs'] = [plain(s) for s in ins + aux]
            document['outputs'] = [plain(s) for s in outs]
        except mx.base.MXNetError:
            document['is_refused'] = True
        yield op, document


def compute_types(mx, np, cases):
    seen = set()
    for op, _, attrs, specs, options in cases:
        if op in seen or not specs or not options.get('graph', True):
            continue
        seen.add(op)
        if 'count' in options:
            attrs = dict(attrs, **{options['count']: str(len(specs))})
        for dtype in ['float32', 'float16', 'int32']:
            try:
                symbol, _ = compose(mx, op, attrs, len(specs))
                ins, outs, aux = symbol.infer_type(v0=dtype)
            except mx.base.MXNetError:
                continue
            if ins is not None:
                yield op, dict(attrs=attrs, given=dtype, inputs=[np.dtype(t).name for t in ins + aux],
                               outputs=[np.dtype(t).name for t in outs])


def record(cases, shape_cases, np_shape=False):
    """Records these cases, or those of the operators that the command line names. Cases of an operator that were recorded before
    stay. With `np_shape`, shapes are as in NumPy. If MXNet fails in an allocation, recording fewer operators at once helps."""
    import sys
    import mxnet as mx
    if sys.argv[1:]:
        cases, shape_cases = [[case for case in all_cases if case[0] in sys.argv[1:]] for all_cases in (cases, shape_cases)]
    import numpy as np
    mx.util.set_np_shape(np_shape)
    documents = {}
    for key, results in [('values', compute(mx, np, cases)), ('shapes', compute_shapes(mx, shape_cases)),
                         ('types', compute_types(mx, np, cases))]:
        for op, document in results:
            documents.setdefault(op, dict(values=[], shapes=[], types=[]))[key].append(document)
    for op, document in documents.items():
        path = os.path.join(GOLDEN, op + '.json')
        if os.path.exists(path):
            with open(path) as f:
                before = json.load(f)
            for key in ('values', 'shapes', 'types'):
                old = before[key]
                names = {c.get('name') or json.dumps(c, sort_keys=True) for c in old}
                fresh = [c for c in document[key] if (c.get('name') or json.dumps(c, sort_keys=True)) not in names]
                document[key] = old + fresh
        with open(path, 'w') as f:
            lines = ['"%s": [%s]' % (k, ''.join('\n  ' + json.dumps(c) + ',' for c in document[k])[:-1])
                     for k in ('values', 'shapes', 'types')]
            f.write('{"op": "%s", "mxnet": "1.9.1",\n%s\n}\n' % (op, ',\n'.join(lines)))


if __name__ == '__main__':
    record(cases(), shape_cases())
