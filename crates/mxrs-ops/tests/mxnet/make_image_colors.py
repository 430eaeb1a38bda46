#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators that change colors, mirror images at random, resize images and add borders,
with MXNet 1.9.1, as `make_operators.py` does.

    python make_image_colors.py      needs mxnet==1.9.1 (CPU) and numpy 1.23

Random operators get ranges of one number, or pictures that look the same in a mirror, so their results are compared. A few are
not compared: there only shape and type count.
"""
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
from make_golden import u, v
from make_operators import record


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=None, **options):
        if grad is None:
            grad = [i for i, spec in enumerate(specs) if spec['dtype'] == 'float32']
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=grad)))

    picture = u(9, 8, 3, low=0, high=256, dtype='uint8')
    gray = u(5, 4, 1, low=0, high=256, dtype='uint8')
    floats = u(4, 5, 3, low=0, high=255)
    for kind, factors in dict(brightness=[0, .3, 1, 1.7], contrast=[0, .4, 1.6], saturation=[0, .3, 1, 1.8]).items():
        op = '_image_random_' + kind
        for factor in factors:
            given = dict(min_factor=factor, max_factor=factor)
            word = str(factor).replace('.', '_')
            add(op, 'picture_' + word, given, picture)
            add(op, 'gray_' + word, given, gray)
            add(op, 'floats_' + word, given, floats)
        half = dict(min_factor=.5, max_factor=.5)
        add(op, 'float16', half, u(2, 3, 3, low=0, high=255, dtype='float16'))
        add(op, 'int32', half, u(2, 3, 3, low=0, high=900, dtype='int32'))
        add(op, 'drawn', dict(min_factor=.5, max_factor=1.5), floats, not_compared=[0])
    # MXNet leaves the results of gray images unset. Its table of the six parts of the circle has no entry for a hue that a sum of
    # rounded numbers turns exactly to the end of the circle.
    for turn in [.05, .3, .5, .9, 2.6]:
        given = dict(min_factor=turn, max_factor=turn)
        word = str(turn).replace('.', '_')
        add('_image_random_hue', 'picture_' + word, given, picture)
        add('_image_random_hue', 'floats_' + word, given, floats)
    add('_image_random_hue', 'corners', dict(min_factor=.1, max_factor=.1),
        v([255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 9, 9, 9, 40, 200, 200], 'uint8', (2, 4, 3)))
    add('_image_random_hue', 'gray', dict(min_factor=.1, max_factor=.1), gray, not_compared=[0])
    add('_image_random_hue', 'drawn', dict(min_factor=.1, max_factor=.2), floats, not_compared=[0])
    jitter = '_image_random_color_jitter'
    tiny = 1e-30  # 1 plus this number is 1
    add(jitter, 'tiny', dict(brightness=tiny, contrast=tiny, saturation=tiny, hue=0), picture)
    add(jitter, 'tiny_floats', dict(brightness=tiny, contrast=tiny, saturation=tiny, hue=-1), floats)
    add(jitter, 'tiny_hue', dict(brightness=0, contrast=tiny, saturation=0, hue=tiny), v([40, 200, 170, 9, 80, 3, 7, 90, 255, 250, 3,
        77], 'uint8', (2, 2, 3)))
    add(jitter, 'drawn', dict(brightness=.4, contrast=.3, saturation=.5, hue=.1), floats, not_compared=[0])
    lighting = '_image_adjust_lighting'
    for name, alpha in [('more', '(0.1, 0.2, -0.3)'), ('less', '(-0.5, 1, 2)'), ('none', '(0, 0, 0)')]:
        add(lighting, 'picture_' + name, dict(alpha=alpha), picture)
        add(lighting, 'floats_' + name, dict(alpha=alpha), floats)
    add(lighting, 'far', dict(alpha='(3, -2, 5)'), picture)
    add(lighting, 'float16', dict(alpha='(0.1, 0.2, 0.3)'), u(2, 3, 3, low=0, high=255, dtype='float16'))
    # MXNet leaves the results of gray images unset.
    add(lighting, 'gray', dict(alpha='(0.1, 0.2, 0.3)'), gray, not_compared=[0])
    add('_image_random_lighting', 'none', dict(alpha_std=0), picture)
    add('_image_random_lighting', 'none_floats', dict(alpha_std=0), floats)
    add('_image_random_lighting', 'drawn', {}, floats, not_compared=[0])
    # MXNet leaves the middle column or row of a mirrored image unset, if their number is odd.
    columns = v([1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 7, 8, 9, 10, 11, 12, 10, 11, 12, 7, 8, 9], 'uint8', (2, 4, 3))
    add('_image_random_flip_left_right', 'mirror', {}, columns)
    add('_image_random_flip_left_right', 'mirror_floats', {}, v([1, 2.5, 2.5, 1, -3, 4, 4, -3], shape=(2, 4, 1)))
    add('_image_random_flip_left_right', 'drawn', {}, u(3, 4, 3), not_compared=[0])
    add('_image_random_flip_top_bottom', 'mirror', {}, v([1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6], 'uint8', (2, 2, 3)))
    add('_image_random_flip_top_bottom', 'mirror_floats', {}, v([1, 2.5, -3, 4, -3, 4, 1, 2.5], shape=(4, 2, 1)))
    add('_image_random_flip_top_bottom', 'drawn', {}, u(4, 3, 3), not_compared=[0])
    for interp in range(5):
        add('_cvimresize', 'larger_%d' % interp, dict(w=9, h=7, interp=interp), u(4, 5, 3, low=0, high=256, dtype='uint8'),
            names=False)
        add('_cvimresize', 'smaller_%d' % interp, dict(w=3, h=2, interp=interp), u(7, 8, 3, low=0, high=256, dtype='uint8'),
            names=False)
        add('_cvimresize', 'floats_%d' % interp, dict(w=6, h=3, interp=interp), u(4, 5, 2), grad=[], names=False)
    border = '_cvcopyMakeBorder'
    margins = dict(top=1, bot=2, left=3, right=4)
    for kind in range(5):
        add(border, 'picture_%d' % kind, dict(margins, type=kind, values='(7, 8.5, 300, 1)'), u(4, 5, 3, low=0, high=256,
            dtype='uint8'), names=False)
        add(border, 'small_%d' % kind, dict(margins, top=5, type=kind + 16, value=2.5), u(2, 3, 1), grad=[], names=False)
    add(border, 'line', dict(margins, type=4), u(1, 3, 2), grad=[], names=False)
    add(border, 'value', dict(margins, value=9.5), u(2, 2, 4), grad=[], names=False)
    add(border, 'values', dict(margins, values='(1.25, -2, 0.1, 4)'), u(2, 2, 4, dtype='float64'), names=False)
    add(border, 'int32', dict(margins, values='(2.5, 3.5, -1.5, 1e5)'), u(2, 2, 4, low=-99, high=99, dtype='int32'), names=False)
    add(border, 'five', dict(margins, values='(3, 3, 3, 3)'), u(2, 2, 5), grad=[], names=False)
    add(border, 'nothing', dict(top=0, bot=0, left=0, right=0), u(2, 3, 3), grad=[], names=False)
    return out


def shape_cases():
    half = dict(min_factor='0.5', max_factor='0.5')
    return [
        ('_image_random_brightness', half, [(4, 5, 3)]),
        ('_image_random_brightness', half, [(4, 5, 2)]),
        ('_image_random_brightness', half, [(5, 3)]),
        ('_image_random_flip_left_right', {}, [(4, 5, 4)]),
        ('_image_random_flip_top_bottom', {}, [(2, 4, 5, 3)]),
        ('_image_adjust_lighting', dict(alpha='(1, 1, 1)'), [(4, 5, 1)]),
        ('_cvimresize', dict(w='4', h='6'), [(4, 5, 3)]),
        ('_cvimresize', dict(w='4', h='0'), [(4, 5, 3)]),
        ('_cvcopyMakeBorder', dict(top='1', bot='2', left='3', right='4'), [(4, 5, 3)]),
    ]


if __name__ == '__main__':
    record(cases(), shape_cases())
