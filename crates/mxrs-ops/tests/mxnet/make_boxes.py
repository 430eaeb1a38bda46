#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators of `src/boxes` with MXNet 1.9.1, as `make_operators.py` does.

    python make_boxes.py             needs mxnet==1.9.1 (CPU) and numpy 1.23
"""
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
from make_golden import u, v
from make_operators import record

# Class, score, corners.
BOXES = v([0, .5, .1, .1, .2, .2, 1, .4, .1, .1, .2, .2, 0, .3, .1, .1, .19, .19, 2, .6, .5, .5, .7, .8, 0, .05, .4, .4, .9, .9],
          shape=(5, 6))
ANCHORS = v([0, 0, .25, .5, .1, 0, .35, .5, .2, .1, .5, .6, .5, .5, 1, 1, .4, .4, .8, .9], shape=(1, 5, 4))
LABELS = v([1, .1, 0, .4, .5, 0, .5, .55, 1, 1, -1, -1, -1, -1, -1, 2, .2, .1, .5, .5, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
           shape=(2, 3, 5))


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=(), **options):
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=list(grad))))

    corners = dict(low=0, high=1)
    for form in ['corner', 'center']:
        add('_contrib_box_iou', form, dict(format=form), u(3, 4, **corners), u(2, 4, **corners))
        add('_contrib_box_iou', form + '_batch', dict(format=form), u(2, 2, 4, **corners), u(3, 4, **corners))
    nms = '_contrib_box_nms'
    add(nms, 'plain', {}, BOXES, grad=[0])
    add(nms, 'classes', dict(id_index=0, overlap_thresh=.1), BOXES, grad=[0])
    add(nms, 'forced', dict(id_index=0, overlap_thresh=.1, force_suppress=True), BOXES, grad=[0])
    add(nms, 'few', dict(topk=2, valid_thresh=.1), BOXES, grad=[0])
    add(nms, 'background', dict(id_index=0, background_id=0, overlap_thresh=.9), BOXES, grad=[0])
    add(nms, 'centers', dict(in_format='center', out_format='corner', overlap_thresh=.2), u(2, 4, 6, **corners), grad=[0])
    add(nms, 'to_centers', dict(out_format='center', overlap_thresh=.2), BOXES, grad=[0])
    match = '_contrib_bipartite_matching'
    for name, attrs in [('plain', dict(threshold=1e-12)), ('ascending', dict(threshold=.5, is_ascend=True)), ('two',
            dict(threshold=-1, topk=2)),
                        ('above', dict(threshold=.3))]:
        add(match, name, attrs, u(3, 4))
        add(match, name + '_batch', attrs, u(2, 4, 3))
    add('_contrib_box_encode', 'plain', {}, v([1, -1, 1, 0, 1, 1], shape=(2, 3)), v([0, 1, 1, 0, 0, 1], shape=(2, 3)),
        v([.1, .1, .4, .5, .2, .2, .5, .8, .3, .1, .9, .4] * 2, shape=(2, 3, 4)), v([.1, .2, .5, .5, .3, .3, .8, .9] * 2,
                                                                                    shape=(2, 2, 4)),
        v([0, .1, 0, -.1]), v([.1, .1, .2, .2]))
    decode = '_contrib_box_decode'
    add(decode, 'centers', {}, u(2, 3, 4), u(1, 3, 4, **corners))
    add(decode, 'corners', dict(format='corner', std0=.1, std1=.2, std2=.3, std3=.4), u(2, 5, 4), ANCHORS)
    add(decode, 'clipped', dict(clip=.25), u(2, 3, 4), u(1, 3, 4, **corners))
    prior = '_contrib_MultiBoxPrior'
    add(prior, 'plain', {}, u(1, 3, 2, 3))
    add(prior, 'many', dict(sizes='(0.5, 0.25)', ratios='(1, 2, 0.5)'), u(2, 1, 3, 2))
    add(prior, 'first_ratio', dict(sizes='(0.5, 0.25)', ratios='(2, 1)'), u(2, 1, 3, 2))
    add(prior, 'clipped', dict(sizes='(0.75,)', clip=True, offsets='(0.25, 0.75)'), u(1, 1, 2, 2))
    add(prior, 'steps', dict(steps='(0.1, 0.2)'), u(1, 1, 2, 3))
    target = '_contrib_MultiBoxTarget'
    for name, attrs in [('plain', {}), ('low', dict(overlap_threshold=.2)), ('mining', dict(negative_mining_ratio=1,
            negative_mining_thresh=.4)),
                        ('more', dict(negative_mining_ratio=3, negative_mining_thresh=.9, ignore_label=-7,
                                      variances='(1, 1, 1, 1)')),
                        ('least', dict(negative_mining_ratio=.5, minimum_negative_samples=2))]:
        add(target, name, attrs, ANCHORS, LABELS, u(2, 4, 5))
    detection = '_contrib_MultiBoxDetection'
    for name, attrs in [('plain', {}), ('forced', dict(force_suppress=True, nms_threshold=.2)), ('few', dict(nms_topk=2)),
                        ('sure', dict(threshold=.6)), ('open', dict(clip=False, nms_threshold=.3, variances='(1, 1, 1, 1)'))]:
        add(detection, name, attrs, u(2, 3, 5, **corners), u(2, 20), ANCHORS)
    proposals = dict(rpn_pre_nms_top_n=12, rpn_post_nms_top_n=5, rpn_min_size=4, scales='(1, 2)', ratios='(0.5, 1, 2)', feature_stride=8)
    for op, n in [('_contrib_Proposal', 1), ('_contrib_MultiProposal', 2)]:
        shapes = [u(n, 12, 3, 4, low=0), u(n, 24, 3, 4, low=-.5, high=.5), v([24, 32, 1] * n, shape=(n, 3))]
        add(op, 'plain', proposals, *shapes)
        add(op, 'scores', dict(proposals, output_score=True, threshold=.3), *shapes)
        add(op, 'corners', dict(proposals, iou_loss=True), *shapes)
        add(op, 'all', dict(proposals, rpn_pre_nms_top_n=-1, rpn_post_nms_top_n=80, threshold=.9), *shapes)
        add(op, 'padded', dict(proposals, rpn_min_size=16), *shapes[:2], v([17, 20, 1.5] * n, shape=(n, 3)))
    return out


def shape_cases():
    return [
        ('_contrib_box_iou', {}, [(3, 4), (2, 4)]),
        ('_contrib_box_nms', {}, [(3, 4, 6)]),
        ('_contrib_MultiBoxPrior', dict(sizes='(0.5, 0.25)'), [(3, 4, 6, 5)]),
        ('_contrib_MultiBoxTarget', {}, [(1, 5, 4), (2, 3, 5), (2, 4, 5)]),
        ('_contrib_MultiBoxDetection', {}, [(2, 3, 5), (2, 20), (1, 5, 4)]),
    ]


if __name__ == '__main__':
    record(cases(), shape_cases())
