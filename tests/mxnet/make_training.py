"""Records losses and weights of twenty training steps on the digits in MXNet 1.9.1.

    python make_training.py <folder with the digits> <folder to write to>

Batches of 32 images in the order of the file, stochastic gradient descent with learning rate 0.02, momentum 0.9 and weight decay
1e-4. Writes
- training.json: the cross-entropy and accuracy of each batch before its update. The networks start from a fraction of
  their committed parameters, so that there is something to learn;
- training.params: the parameters and moving averages after the last step, starting from the committed ones. Of arrays
  longer than 2000, only every (n // 2000)-th value is stored, in row-major order. Names are <network>/<array>.
"""
import json
import sys

import mxnet as mx

folder, out = sys.argv[1:]


def train(name, part):
    """Returns the module after the steps, and the metrics of each step."""
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
    return module, rows


losses = {name: train(name, part)[1] for name, part in (('lenet', .2), ('resnet8', .5))}
json.dump(losses, open(f'{out}/training.json', 'w'), indent=0)
weights = {}
for network in ('lenet', 'resnet8'):
    for arrays in train(network, 1)[0].get_params():
        for name, array in arrays.items():
            step = max(1, array.size // 2000)
            weights[f'{network}/{name}'] = mx.nd.array(array.asnumpy().ravel()[::step])
mx.nd.save(f'{out}/training.params', weights)
