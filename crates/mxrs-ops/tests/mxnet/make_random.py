#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators of `src/random` with MXNet 1.9.1, as `make_operators.py` does. Random
numbers are not compared, only their shapes and types; densities are.

    python make_random.py            needs mxnet==1.9.1 (CPU) and numpy 1.23
"""
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
from make_golden import u, v
from make_operators import record

LAWS = dict(uniform=dict(low=-2, high=3), normal=dict(loc=2, scale=.5), exponential=dict(lam=4), gamma=dict(alpha=2, beta=.5),
            poisson=dict(lam=3), negative_binomial=dict(k=3, p=.5), generalized_negative_binomial=dict(mu=2, alpha=.5))
# Ranges of the parameters, and of samples.
DENSITIES = dict(uniform=[(-1, 0), (2, 3)], normal=[(-1, 1), (.5, 2)], gamma=[(.5, 3), (.5, 2)], exponential=[(.5, 2)],
                 poisson=[(.5, 4)],
                 negative_binomial=[(1, 5), (.2, .8)], generalized_negative_binomial=[(.5, 4), (.2, 2)])
CONTINUOUS = ['uniform', 'normal', 'gamma', 'exponential']


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=None, **options):
        if grad is None:
            grad = [i for i, spec in enumerate(specs) if spec['dtype'] == 'float32']
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=grad)))

    for law, attrs in LAWS.items():
        if law not in ('uniform', 'normal', 'exponential'):
            add('_random_' + law, 'plain', dict(shape='(3, 2)'), not_compared=[0])
            add('_random_' + law, 'double', dict(attrs, shape='(4,)', dtype='float64'), not_compared=[0])
        add('_random_%s_like' % law, 'matrix', attrs, u(3, 4), grad=[], not_compared=[0])
        add('_random_%s_like' % law, 'double', {}, u(3, dtype='float64'), grad=[], not_compared=[0])
        n = len(attrs)
        ranges = [u(3, low=.1, high=.4), u(3, low=.5, high=.9)][:n]
        add('_sample_' + law, 'one_each', {}, *ranges, grad=[], not_compared=[0])
        add('_sample_' + law, 'many', dict(shape='(2, 4)'), *ranges, grad=[], not_compared=[0])
        add('_sample_' + law, 'half', dict(shape='(2,)', dtype='float16'), *ranges, grad=[], not_compared=[0])
    add('_random_randint', 'plain', dict(low=-3, high=7, shape='(3, 2)'), not_compared=[0])
    add('_random_randint', 'long', dict(low=-3, high=7, shape='(4,)', dtype='int64'), not_compared=[0])
    add('_random_randint', 'one', dict(low=5, high=6, shape='(2,)'))
    for law, ranges in DENSITIES.items():
        for log in [False, True]:
            parameters = [u(2, low=low, high=high) for low, high in ranges]
            sample = u(2, 3, low=.2, high=3) if law in CONTINUOUS else v([0, 1, 2, 3, 5, 1], shape=(2, 3))
            grad = None if law in CONTINUOUS else list(range(1, 1 + len(ranges)))
            add('_random_pdf_' + law, 'many_%d' % log, dict(is_log=log), sample, *parameters, grad=grad)
            add('_random_pdf_' + law, 'one_each_%d' % log, dict(is_log=log), u(2, low=.2,
                                                                               high=2) if law in CONTINUOUS else v([2, 4]),
                *parameters, grad=grad)
    for log in [False, True]:
        sample = v([.2, .3, .5, .1, .6, .3, .25, .25, .5, .4, .4, .2], shape=(2, 2, 3))
        add('_random_pdf_dirichlet', 'many_%d' % log, dict(is_log=log), sample, u(2, 3, low=.5, high=3))
        add('_random_pdf_dirichlet', 'vector_%d' % log, dict(is_log=log), v([.2, .3, .5]), u(3, low=.5, high=3))
    # A distribution with one place: the draws are known. MXNet writes outside its arrays if they are uint8.
    certain = v([0, 1, 0, 1, 0, 0], shape=(2, 3))
    for name, attrs in [('one', {}), ('many', dict(shape='(4,)')), ('matrix', dict(shape='(2, 2)'))]:
        add('_sample_multinomial', name, attrs, certain, grad=[])
        add('_sample_multinomial', name + '_logarithms', dict(attrs, get_prob=True), certain, grad=[])
    add('_sample_multinomial', 'vector', {}, v([0, 0, 1]), grad=[])
    add('_sample_multinomial', 'gradient', dict(dtype='float32', get_prob=True, shape='(3,)'), certain)
    return out


def shape_cases():
    return [
        ('_sample_normal', dict(shape='(2,)'), [(3,), (3,)]),
        ('_random_pdf_normal', {}, [(3, 2), (3,), (3,)]),
        ('_random_pdf_normal', {}, [(3, 2), (2,), (2,)]),
        ('_sample_multinomial', dict(shape='(2,)'), [(3, 4)]),
    ]


if __name__ == '__main__':
    record(cases(), shape_cases())
