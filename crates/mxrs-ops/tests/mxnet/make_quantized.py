#!/usr/bin/env python3
"""Writes tests/golden/_contrib_*.json of the quantized operators with MXNet 1.9.1: numbers, shapes, types.

    python make_quantized.py         needs mxnet==1.9.1 (CPU, with oneDNN) and numpy 1.23

The numbers come from MXNet's oneDNN kernels, the only ones most of these operators have. `not_compared` names outputs
that differ on purpose; each operator's head says how. `_contrib_quantized_elemwise_mul` cannot be called imperatively
in 1.9.1, so only its shapes and types are recorded.
"""
import json
import os

from make_golden import GOLDEN, encode, fill, u, v


def i8(*shape):
    return u(*shape, low=-128, high=128, dtype='int8')


def u8(*shape):
    return u(*shape, low=0, high=256, dtype='uint8')


def r(*values):
    """Ranges, each a tensor of one number."""
    return [v([x]) for x in values]


def cases():
    out = []

    def add(op, name, attrs, *specs, **options):
        out.append(('_contrib_' + op, name, {k: str(x) for k, x in attrs.items()}, list(specs), options))

    calib = dict(min_calib_range=-1.5, max_calib_range=1.25)
    positive = dict(min_calib_range=0, max_calib_range=1.75)
    for out_type, ranges in [('int8', calib), ('uint8', positive), ('auto', calib), ('auto', positive)]:
        name = '%s_%s' % (out_type, 'signed' if ranges is calib else 'positive')
        add('quantize_v2', name, dict(out_type=out_type, **ranges), u(2, 3, 4, 5, low=-2, high=2))
        add('requantize', name, dict(out_type=out_type, **ranges),
            u(2, 3, 4, 5, low=-2000000, high=2000000, dtype='int32'), *r(-2000, 1500))
    add('quantize_v2', 'uint8_above_0', dict(out_type='uint8', min_calib_range=0.5, max_calib_range=1.5),
        u(13, low=-2, high=2))
    add('quantize_v2', 'int8_own', dict(out_type='int8'), u(3, 7, low=-2, high=1.5))
    add('quantize_v2', 'uint8_own', dict(out_type='uint8'), u(3, 7, low=-1, high=2))
    add('quantize_v2', 'auto_own', dict(out_type='auto'), u(3, 7, low=0, high=2))
    add('quantize_v2', 'passed', dict(out_type='uint8'), u8(3, 7))
    add('quantize_v2', 'passed_signed', dict(out_type='int8', **calib), i8(3, 7))
    add('quantize', 'int8', dict(out_type='int8'), u(3, 7, low=-2, high=2), *r(-1.5, 1.25))
    add('quantize', 'uint8', dict(), u(2, 3, 2, 2, low=-2, high=2), *r(0, 1.5))
    add('dequantize', 'int8', dict(), i8(2, 3, 4, 2), *r(-2, 1))
    add('dequantize', 'uint8', dict(), u8(5, 7), *r(0, 3))
    add('requantize', 'int8_own', dict(), u(3, 7, low=-2000000, high=2000000, dtype='int32'), *r(-2000, 2000))
    add('requantize', 'auto_own', dict(out_type='auto'), u(30, low=-2000000, high=100, dtype='int32'), *r(-2000, 2000))
    add('quantized_act', 'relu', dict(act_type='relu'), i8(2, 3, 4), *r(-1, 1.5))
    add('quantized_flatten', 'images', {}, u8(2, 3, 2, 2), *r(0, 1.5))
    add('quantized_flatten', 'signed', {}, i8(2, 3), *r(-1, 1.5))
    for name, data in [('', u8), ('_signed', i8)]:
        for kind in ['max', 'avg']:
            pad = dict(kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type=kind)
            add('quantized_pooling', kind + name, pad, data(1, 3, 7, 8), *r(-1, 1.5))
        add('quantized_pooling', 'global' + name, dict(kernel=(2, 2), pool_type='avg', global_pool=True),
            data(2, 3, 4, 5), *r(-1, 1.5))
        add('quantized_batch_norm', 'free_gamma' + name,
            dict(fix_gamma=False, eps=2e-5, min_calib_range=-2, max_calib_range=3), data(2, 3, 4, 5),
            u(3, low=0.5, high=2), u(3), u(3), u(3, low=0.1, high=2), *r(-1, 1.5))
        for other, right in [('', u8), ('_signed', i8)]:
            pair = [data(2, 3, 2, 4), right(2, 3, 2, 4)] + r(-1, 1.5, -0.5, 2.5)
            if name == other:
                # With sides of two types MXNet saturates one of them before it adds.
                add('quantized_elemwise_add', 'own%s%s' % (name, other), {}, *pair)
            add('quantized_elemwise_add', 'calibrated%s%s' % (name, other),
                dict(min_calib_range=-3, max_calib_range=4), *pair)
            add('quantized_concat', 'two%s%s' % (name, other), dict(num_args=2), data(2, 3, 2, 4), right(2, 1, 2, 4),
                *r(-1, 1.5, -0.5, 2.5))
        fc = dict(num_hidden=4)
        add('quantized_fully_connected', 'rows' + name, fc, data(3, 5), i8(4, 5), i8(4), *r(-1, 1.5, -2, 1, -0.5, 0.5),
            not_compared=[1, 2])
        add('quantized_fully_connected', 'no_bias' + name, dict(fc, no_bias=True), data(2, 3, 2, 2), i8(4, 12),
            *r(-1, 1.5, -2, 1), not_compared=[1, 2])
    add('quantized_concat', 'same_range', dict(num_args=3, dim=2), u8(2, 1, 2), u8(2, 1, 3), u8(2, 1, 1),
        *r(0, 1, 0, 1, 0, 1))
    conv = dict(kernel=(3, 3), num_filter=4, no_bias=True)
    add('quantized_conv', 'plain', conv, u8(2, 3, 6, 5), i8(4, 3, 3, 3), *r(0, 1.5, -2, 1), not_compared=[1, 2])
    add('quantized_conv', 'pad_stride', dict(conv, stride=(2, 2), pad=(1, 1)), u8(1, 3, 6, 5), i8(4, 3, 3, 3),
        *r(0, 1.5, -2, 1), not_compared=[1, 2])
    add('quantized_conv', 'dilate', dict(conv, dilate=(2, 1)), u8(1, 3, 6, 5), i8(4, 3, 3, 3), *r(0, 1.5, -2, 1),
        not_compared=[1, 2])
    add('quantized_embedding', 'rows', dict(input_dim=5, output_dim=3), v([0, 4, 2, 7, -1]), i8(5, 3), *r(-1, 1.5))
    return out


def compose(mx, op, attrs):
    """A call of variables, and their names in the order of its inputs.

    MXNet has the statistics of batch normalization in the middle and calls them auxiliary; mxrs calls them inputs.
    """
    symbol = getattr(mx.sym.contrib, op[len('_contrib_'):])(name='node', **attrs)
    nodes = json.loads(symbol.tojson())['nodes']
    return symbol, [nodes[i]['name'] for i, *_ in nodes[-1]['inputs']]


def compute(mx, np):
    for op, name, attrs, specs, options in cases():
        rng = np.random.default_rng(sum(map(ord, op + name)))
        arrays = [fill(spec, rng) for spec in specs]
        short = op[len('_contrib_'):]
        outputs = getattr(mx.nd.contrib, short)(*[mx.nd.array(a, dtype=a.dtype) for a in arrays], **attrs)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        document = dict(name=name, attrs=attrs, is_train=False, inputs=[encode(a) for a in arrays],
                        outputs=[encode(o.asnumpy()) for o in outputs])
        symbol, names = compose(mx, op, attrs)
        rows = json.loads(symbol.tojson())['node_row_ptr']
        document.update(input_names=[n[len('node_'):] for n in names], n_aux=0, n_outputs=rows[-1] - rows[-2])
        document.update(options)
        yield op, document


def shape_cases():
    """(operator, attributes, shape of the first inputs, number of all); the others are unknown."""
    conv = dict(kernel='(3, 3)', num_filter='8')
    fc = dict(num_hidden='4')
    pool = dict(kernel='(3, 3)', stride='(2, 2)')
    return [
        ('_contrib_quantize_v2', {}, [(2, 3)], 1),
        ('_contrib_quantize', {}, [(2, 3)], 3),
        ('_contrib_dequantize', {}, [(2, 3)], 3),
        ('_contrib_requantize', {}, [(2, 3)], 3),
        ('_contrib_quantized_conv', conv, [(2, 4, 9, 9)], 9),
        ('_contrib_quantized_conv', dict(conv, no_bias='True', stride='(3, 2)', pad='(1, 2)'), [(2, 4, 9, 9)], 6),
        ('_contrib_quantized_conv', dict(conv, no_bias='True'), [(2, 4, 9, 9), (8, 3, 3, 3)], 6),
        ('_contrib_quantized_fully_connected', fc, [(2, 3, 5)], 9),
        ('_contrib_quantized_fully_connected', dict(fc, flatten='False', no_bias='True'), [(2, 3, 5)], 6),
        ('_contrib_quantized_pooling', pool, [(2, 3, 9, 8)], 3),
        ('_contrib_quantized_pooling', dict(pool, pooling_convention='full'), [(2, 3, 8, 8)], 3),
        ('_contrib_quantized_act', dict(act_type='relu'), [(2, 3)], 3),
        ('_contrib_quantized_flatten', {}, [(2, 3, 4)], 3),
        ('_contrib_quantized_concat', dict(num_args='2'), [(2, 3, 4), (2, 5, 4)], 6),
        ('_contrib_quantized_elemwise_add', {}, [(2, 3), (2, 3)], 6),
        ('_contrib_quantized_elemwise_add', {}, [(2, 3), (2, 4)], 6),
        ('_contrib_quantized_elemwise_mul', {}, [(2, 3), (2, 3)], 6),
        ('_contrib_quantized_elemwise_mul', {}, [(2, 3), (2, 4)], 6),
        ('_contrib_quantized_batch_norm', dict(min_calib_range='-1', max_calib_range='1'), [(2, 3, 4, 4)], 7),
        ('_contrib_quantized_embedding', dict(input_dim='5', output_dim='3'), [(2, 4)], 4),
    ]


def compute_shapes(mx):
    def plain(shape):
        return None if shape is None or len(shape) == 0 else [d or None for d in shape]
    for op, attrs, known, n in shape_cases():
        document = dict(attrs=attrs, given=[plain(k) for k in known] + [None] * (n - len(known)))
        try:
            symbol, names = compose(mx, op, attrs)
            ins, outs, aux = symbol.infer_shape_partial(**dict(zip(names, known)))
            found = dict(zip(symbol.list_arguments() + symbol.list_auxiliary_states(), ins + aux))
            document['inputs'] = [plain(found[name]) for name in names]
            document['outputs'] = [plain(s) for s in outs]
        except mx.base.MXNetError:
            document['is_refused'] = True
        yield op, document


FIRST = {'_contrib_quantize_v2': 'float32', '_contrib_quantize': 'float32', '_contrib_requantize': 'int32',
         '_contrib_quantized_act': 'int8', '_contrib_quantized_embedding': 'float32'}
# Their output follows from more than the first input.
NO_TYPES = ('_contrib_quantized_concat', '_contrib_quantized_elemwise_add', '_contrib_quantized_elemwise_mul')


def compute_types(mx, np):
    for op, attrs, known, n in shape_cases():
        if op in NO_TYPES:
            continue
        for dtype in [FIRST[op]] if op in FIRST else ['int8', 'uint8']:
            symbol, names = compose(mx, op, attrs)
            ins, outs, aux = symbol.infer_type(**{names[0]: dtype})
            if ins is not None:
                found = dict(zip(symbol.list_arguments() + symbol.list_auxiliary_states(), ins + aux))
                yield op, dict(attrs=attrs, given=dtype, inputs=[np.dtype(found[name]).name for name in names],
                               outputs=[np.dtype(t).name for t in outs])


def main():
    import mxnet as mx
    import numpy as np
    documents = {}
    for key, results in [('values', compute(mx, np)), ('shapes', compute_shapes(mx)), ('types', compute_types(mx, np))]:
        for op, document in results:
            documents.setdefault(op, dict(values=[], shapes=[], types=[]))[key].append(document)
    for op, document in documents.items():
        with open(os.path.join(GOLDEN, op + '.json'), 'w') as f:
            lines = ['"%s": [%s]' % (k, ''.join('\n  ' + json.dumps(c) + ',' for c in document[k])[:-1])
                     for k in ('values', 'shapes', 'types')]
            f.write('{"op": "%s", "mxnet": "1.9.1",\n%s\n}\n' % (op, ',\n'.join(lines)))


if __name__ == '__main__':
    main()
