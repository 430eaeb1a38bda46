"""Records values and gradients of the Gluon losses of MXNet 1.9.1 on random batches.

    python make_losses.py <file to write>

Writes JSON: for each case the name of the loss, inputs, weight, the loss of each example and the gradient of the first input.
"""
import json
import sys

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon

rng = np.random.RandomState(11)
L = gluon.loss


def r(*shape):
    return rng.randn(*shape).astype('float32')


def p(*shape):
    x = np.exp(r(*shape))
    return (x / x.sum(axis=-1, keepdims=True)).astype('float32')


def signs(*shape):
    return np.where(rng.rand(*shape) > .5, 1, -1).astype('float32')


def bits(*shape):
    return (rng.rand(*shape) > .5).astype('float32')


classes = rng.randint(0, 5, 4).astype('float32')
SAID = np.array([[1, 0, -1, -1], [2, 1, 1, -1], [0, 1, 0, 2]], 'float32')
CASES = [
    ('l2', L.L2Loss(), [r(4, 3), r(4, 3)], None),
    ('l2', L.L2Loss(), [r(4, 3), r(4, 3)], r(4, 1)),
    ('l1', L.L1Loss(), [r(4, 3), r(4, 3)], None),
    ('huber', L.HuberLoss(rho=.5), [r(4, 3), r(4, 3)], None),
    ('kl', L.KLDivLoss(), [np.log(p(4, 3)), p(4, 3)], None),
    ('kl_probabilities', L.KLDivLoss(from_logits=False), [r(4, 3), p(4, 3)], None),
    ('poisson', L.PoissonNLLLoss(), [r(4, 3), np.abs(r(4, 3))], None),
    ('poisson_numbers', L.PoissonNLLLoss(from_logits=False), [np.abs(r(4, 3)), np.abs(r(4, 3))], None),
    ('bce', L.SigmoidBCELoss(), [r(4, 3), bits(4, 3)], None),
    ('bce', L.SigmoidBCELoss(), [r(4, 3), bits(4, 3)], np.abs(r(4, 1))),
    ('bce_sigmoid', L.SigmoidBCELoss(from_sigmoid=True), [p(4, 3), bits(4, 3)], None),
    ('softmax', L.SoftmaxCrossEntropyLoss(), [r(4, 5), classes], None),
    ('softmax', L.SoftmaxCrossEntropyLoss(), [10 * r(4, 5), classes], np.abs(r(4, 1))),
    ('softmax_dense', L.SoftmaxCrossEntropyLoss(sparse_label=False), [r(4, 5), p(4, 5)], None),
    ('softmax_logits', L.SoftmaxCrossEntropyLoss(from_logits=True), [np.log(p(4, 5)), classes], None),
    ('hinge', L.HingeLoss(), [r(4, 3), signs(4, 3)], None),
    ('squared_hinge', L.SquaredHingeLoss(), [r(4, 3), signs(4, 3)], None),
    ('logistic', L.LogisticLoss(), [r(4, 3), signs(4, 3)], None),
    ('logistic_bits', L.LogisticLoss(label_format='binary'), [r(4, 3), bits(4, 3)], None),
    ('triplet', L.TripletLoss(), [r(4, 3), r(4, 3), r(4, 3)], None),
    ('cosine', L.CosineEmbeddingLoss(margin=.1), [r(4, 3), r(4, 3), signs(4)], None),
    ('ctc', L.CTCLoss(), [r(3, 7, 5), SAID], None),
    ('ctc_time_major', L.CTCLoss(layout='TNC', label_layout='TN'), [r(7, 3, 5), SAID.T], None),
    ('ctc_lengths', L.CTCLoss(), [r(3, 7, 5), SAID, np.array([5, 7, 4], 'float32'), np.array([2, 3, 4], 'float32')], None),
    ('sdml', L.SDMLLoss(), [r(4, 3), r(4, 3)], None),
    ('sdml', L.SDMLLoss(smoothing_parameter=.3), [r(2, 5), r(2, 5)], None),
]


def array(a):
    return {'shape': list(a.shape), 'values': [float(v) for v in a.ravel()]}


out = []
for name, loss, inputs, weight in CASES:
    inputs = [mx.nd.array(i) for i in inputs]
    inputs[0].attach_grad()
    with autograd.record():
        value = loss(*inputs) if weight is None else loss(*inputs, mx.nd.array(weight))
    value.backward()
    out.append({'loss': name, 'inputs': [array(i.asnumpy()) for i in inputs],
                'weight': None if weight is None else array(weight),
                'value': array(value.asnumpy()), 'grad': array(inputs[0].grad.asnumpy())})
json.dump(out, open(sys.argv[1], 'w'))
