#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of operators of MXNet 1.9.1 from `contrib`: numbers, gradients, shapes, types.

    python make_contrib.py           needs mxnet==1.9.1 (CPU, with oneDNN) and numpy 1.23

MXNet has `_contrib_fft`, `_contrib_ifft` and `_contrib_count_sketch` only on GPUs. Their numbers and gradients are computed with
NumPy; names, shapes and types are those of MXNet. `_contrib_edge_id` gets its data in CSR storage. Gradients of outputs are 1, 2, 3, ...
"""
import json
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
from make_golden import GOLDEN, encode, fill, u, v
from make_operators import compose, compute, compute_shapes, compute_types


def complex_of(parts):
    return parts[..., ::2] + 1j * parts[..., 1::2]


def parts_of(numbers):
    import numpy as np
    return np.stack([numbers.real, numbers.imag], axis=-1).reshape(numbers.shape[:-1] + (-1,))


def fft(attrs, data):
    """The outputs, and the gradients of the inputs as a function of that of the output."""
    import numpy as np
    n = data.shape[-1]
    return parts_of(np.fft.fft(data)), lambda head: [np.fft.ifft(complex_of(head)).real * n]


def ifft(attrs, data):
    import numpy as np
    n = data.shape[-1] // 2
    return np.fft.ifft(complex_of(data)).real * n, lambda head: [parts_of(np.fft.fft(head))]


def count_sketch(attrs, data, h, s):
    import numpy as np
    places, signs = h[0].astype(int), s[0]
    out = np.zeros(data.shape[:-1] + (int(attrs['out_dim']),))
    for i, place in enumerate(places):
        out[..., place] += data[..., i] * signs[i]
    return out, lambda head: [head[..., places] * signs, None, None]


NUMPY = dict(_contrib_fft=fft, _contrib_ifft=ifft, _contrib_count_sketch=count_sketch)


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=()):
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(grad=list(grad))))

    for op, times in [('_contrib_fft', 1), ('_contrib_ifft', 2)]:
        add(op, 'rows', {}, u(3, 8 * times))
        add(op, 'images', dict(compute_size=4), u(2, 3, 2, 6 * times))
        add(op, 'prime', {}, u(2, 13 * times))
        add(op, 'large_prime', {}, u(1, 131 * times))
        add(op, 'one', {}, u(4, times))
    add('_contrib_count_sketch', 'rows', dict(out_dim=5), u(2, 3), v([0, 3, 4], shape=(1, 3)), v([1, -1, 1], shape=(1, 3)))
    add('_contrib_count_sketch', 'images', dict(out_dim=4, processing_batch_size=2), u(2, 3, 2, 7),
        v([3, 0, 3, 1, 1, 0, 3], shape=(1, 7)), v([1, -1, -1, 1, 1, -1, 1], shape=(1, 7)))
    graph = v([1, 0, 0, 0, 2, 5, 4, 0, 3], shape=(3, 3))
    for name, dtype in [('six', 'float32'), ('integers', 'int32'), ('bytes', 'uint8')]:
        add('_contrib_edge_id', name, {}, dict(graph, dtype=dtype), v([0, 0, 1, 1, 2, 2]), v([0, 1, 1, 2, 0, 1]))
    add('_contrib_edge_id', 'other_columns', {}, graph, v([2, 0], 'int64'), v([3, 7], 'int64'))
    calibrated = dict(min_calib_range=-1.5, max_calib_range=1.25)
    add('_contrib_quantize_asym', 'own_range', {}, u(4, 2, 5, low=-2, high=2))
    add('_contrib_quantize_asym', 'positive', {}, u(4, 2, 5, low=.5, high=2))
    add('_contrib_quantize_asym', 'calibrated', calibrated, u(4, 2, 5, low=-2, high=2))
    histograms = [('peak', 5, lambda i, d, n: int(1000 / (1 + d * d))), ('triangle', 4, lambda i, d, n: 4 * n - 8 * d),
                  ('gaps', 7, lambda i, d, n: i % 7 if d < n / 3 else 5 if d > n // 2 - 3 else 0),
                  ('one_side', 15, lambda i, d, n: int(500 / (1 + d)) if i >= n // 2 else 0)]
    for name, quantized, count in histograms:
        n = 61
        hist = [count(i, abs(i - n // 2), n) for i in range(n)]
        edges = [round(-2 + 4 * i / n, 4) for i in range(n + 1)]
        add('_contrib_calibrate_entropy', name, dict(num_quantized_bins=quantized), v(hist), v(edges))
    add('_contrib_calibrate_entropy', 'no_counts', dict(num_quantized_bins=3), v([0] * 7), v(list(range(8))))
    psroi = '_contrib_DeformablePSROIPooling'
    two = dict(spatial_scale=1, output_dim=2, group_size=2, pooled_size=2, trans_std=.5)
    regions = v([0, 0, 0, 3, 4, 1, 1, 2, 2, 3], shape=(2, 5))
    add(psroi, 'moved', two, u(2, 8, 6, 5), regions, u(2, 2, 2, 2), grad=[0, 2])
    add(psroi, 'points', dict(two, sample_per_part=3), u(2, 8, 6, 5), regions, u(2, 2, 2, 2), grad=[0, 2])
    add(psroi, 'classes', dict(two, pooled_size=3, part_size=2, sample_per_part=2, spatial_scale=.5), u(1, 8, 5, 4),
        v([0, 1, 0, 7, 9, 0, 2.5, 1.4, 4, 5.5], shape=(2, 5)), u(2, 4, 2, 2), grad=[0, 2])
    add(psroi, 'not_moved', dict(two, no_trans=True, sample_per_part=4), u(2, 8, 6, 5), regions, grad=[0])
    add(psroi, 'outside', dict(two, sample_per_part=2), u(1, 8, 4, 4), v([0, -3, 2, 9, 2], shape=(1, 5)), u(1, 2, 2, 2), grad=[0, 2])
    return out


def shape_cases():
    psroi = dict(spatial_scale='1', output_dim='2', group_size='2', pooled_size='2')
    return [
        ('_contrib_fft', {}, [(3, 4)]),
        ('_contrib_fft', {}, [(2, 3, 4, 5)]),
        ('_contrib_ifft', {}, [(3, 8)]),
        ('_contrib_ifft', {}, [(2, 3, 4, 10)]),
        ('_contrib_count_sketch', dict(out_dim='5'), [(2, 3), (1, 3), (1, 3)]),
        ('_contrib_count_sketch', dict(out_dim='5'), [(2, 4, 2, 3), (1, 3), (1, 3)]),
        ('_contrib_count_sketch', dict(out_dim='5'), [(2, 3), (1, 4), (1, 3)]),
        ('_contrib_count_sketch', dict(out_dim='5'), [(2, 4, 3), (1, 3), (1, 3)]),
        ('_contrib_edge_id', {}, [(3, 3), (6,), (6,)]),
        ('_contrib_edge_id', {}, [(3, 3), (6,), (5,)]),
        ('_contrib_quantize_asym', {}, [(2, 3, 4)]),
        ('_contrib_calibrate_entropy', {}, [(301,), (302,)]),
        ('_contrib_DeformablePSROIPooling', psroi, [(2, 8, 6, 5), (3, 5), (3, 2, 2, 2)]),
        ('_contrib_DeformablePSROIPooling', psroi, [(2, 8, 6, 5), (3, 4), (3, 2, 2, 2)]),
        ('_contrib_DeformablePSROIPooling', psroi, [(2, 8, 6, 5), (3, 5), (3, 2, 2)]),
        ('_contrib_DeformablePSROIPooling', dict(psroi, no_trans='True'), [(2, 8, 6, 5), (3, 5)]),
    ]


def facts(mx, op, attrs, n):
    """What a node of a graph says of a call."""
    _, own = compose(mx, op, attrs, n)
    rows = json.loads(own.tojson())['node_row_ptr']
    names = [name[len('node_'):] for name in own.list_arguments()]
    return dict(input_names=names, n_aux=0, n_outputs=rows[-1] - rows[-2])


def by_numpy(mx, np, op, name, attrs, specs):
    arrays = [fill(spec, np.random.default_rng(sum(map(ord, op + name)) + i)) for i, spec in enumerate(specs)]
    out, gradient = NUMPY[op](attrs, *[a.astype('float64') for a in arrays])
    head = np.arange(1.0, out.size + 1).reshape(out.shape)
    gradients = [None if g is None else encode(g.astype('float32')) for g in gradient(head)]
    return dict(name=name, attrs=attrs, is_train=False, inputs=[encode(a) for a in arrays], outputs=[encode(out.astype('float32'))],
                gradients=gradients, **facts(mx, op, attrs, len(arrays)))


def edges(mx, np, op, name, attrs, specs):
    arrays = [fill(spec, None) for spec in specs]
    nd = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
    out = mx.nd.contrib.edge_id(nd[0].tostype('csr'), nd[1], nd[2])
    return dict(name=name, attrs=attrs, is_train=False, inputs=[encode(a) for a in arrays], outputs=[encode(out.asnumpy())],
                **facts(mx, op, attrs, 3))


def values(mx, np):
    for op, name, attrs, specs, options in cases():
        if op in NUMPY:
            yield op, by_numpy(mx, np, op, name, attrs, specs)
        elif op == '_contrib_edge_id':
            yield op, edges(mx, np, op, name, attrs, specs)
        else:
            yield from compute(mx, np, [(op, name, attrs, specs, options)])


def main():
    import mxnet as mx
    import numpy as np
    documents = {}
    for key, results in [('values', values(mx, np)), ('shapes', compute_shapes(mx, shape_cases())),
                         ('types', compute_types(mx, np, cases()))]:
        for op, document in results:
            documents.setdefault(op, dict(values=[], shapes=[], types=[]))[key].append(document)
    for op, document in documents.items():
        with open(os.path.join(GOLDEN, op + '.json'), 'w') as f:
            lines = ['"%s": [%s]' % (k, ''.join('\n  ' + json.dumps(c) + ',' for c in document[k])[:-1])
                     for k in ('values', 'shapes', 'types')]
            numbers = ', "numbers": "numpy"' if op in NUMPY else ''
            f.write('{"op": "%s", "mxnet": "1.9.1"%s,\n%s\n}\n' % (op, numbers, ',\n'.join(lines)))


if __name__ == '__main__':
    main()
