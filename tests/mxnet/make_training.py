"""Losses of twenty steps of training on the digits by MXNet 1.9.1.

    python make_training.py <folder with the digits> <file to write>

The networks start from a part of their committed parameters (so that there is something to learn), with batches of 32 images in the
order of the file, stochastic gradient descent with learning rate 0.02, momentum 0.9 and weight decay 1e-4. Writes JSON: the
cross-entropy and accuracy of each batch, before it is learnt from.
"""
import json
import sys

import mxnet as mx

folder, out = sys.argv[1:]
result = {}
for name, part in (('lenet', .2), ('resnet8', .5)):
    symbol, arg, aux = mx.model.load_checkpoint(f'{folder}/{name}', 10)
    arg = {k: v * part for k, v in arg.items()}
    data = mx.io.ImageRecordIter(path_imgrec=f'{folder}/digits_train.rec', data_shape=(1, 28, 28), batch_size=32,
                                 scale=1 / 255., preprocess_threads=1)
    module = mx.mod.Module(symbol, context=mx.cpu())
    module.bind(data.provide_data, data.provide_label)
    module.init_params(arg_params=arg, aux_params=aux)
    module.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': .02, 'momentum': .9, 'wd': 1e-4})
    metrics = mx.metric.create(['ce', 'acc'])
    rows = []
    for i, batch in enumerate(data):
        if i == 20:
            break
        metrics.reset()
        module.forward_backward(batch)
        module.update_metric(metrics, batch.label)
        module.update()
        rows.append([float(v) for v in metrics.get()[1]])
    result[name] = rows
json.dump(result, open(out, 'w'), indent=0)
