"""Exchanges checkpoints between mxrs and MXNet 1.9.1, on the digits.

    python exchange.py score <validation .rec> <prefix> <epoch> [<prefix> <epoch> ...]
        Loads checkpoints that `mxrs train` wrote, and prints the accuracy of each in MXNet. Compare with `mxrs evaluate`.
    python exchange.py train <training .rec> <validation .rec> <prefix>-symbol.json <new prefix> <epochs> <learning rate>
        Trains the network of a symbol file in MXNet from random weights, writes a checkpoint, and prints its accuracy.
        Compare with `mxrs evaluate --model <new prefix> --load-epoch <epochs>`.

The networks get pixels divided by 255.
"""
import sys

import mxnet as mx


def images(path, **options):
    return mx.io.ImageRecordIter(path_imgrec=path, data_shape=(1, 28, 28), batch_size=33, scale=1 / 255.,
                                 preprocess_threads=1, **options)


def accuracy(module, path):
    return module.score(images(path, round_batch=True), mx.metric.Accuracy())[0][1]


def score(path, *checkpoints):
    for prefix, epoch in zip(checkpoints[::2], checkpoints[1::2]):
        data = images(path)
        module = mx.mod.Module.load(prefix, int(epoch))
        module.bind(data.provide_data, data.provide_label, for_training=False)
        print(f'{prefix} {epoch} accuracy={accuracy(module, path):.6f}')


def train(train_path, val_path, symbol, prefix, epochs, rate):
    mx.random.seed(1)
    module = mx.mod.Module(mx.sym.load(symbol))
    module.fit(images(train_path, shuffle=True), num_epoch=int(epochs), optimizer='sgd',
               optimizer_params={'learning_rate': float(rate), 'momentum': .9, 'wd': 1e-4},
               initializer=mx.init.Xavier(rnd_type='gaussian', factor_type='in', magnitude=2))
    module.save_checkpoint(prefix, int(epochs))
    print(f'{prefix} {epochs} accuracy={accuracy(module, val_path):.6f}')


if __name__ == '__main__':
    {'score': score, 'train': train}[sys.argv[1]](*sys.argv[2:])
