"""Measures the input pipeline of MXNet 1.9.1, to compare it with `mxrs train imagenet --test-io 1`.

    python compare_pipeline.py make <folder of photographs> <folder to write> <number>   (needs Pillow)
        Cuts JPEGs of 256 x 256 pixels and quality 95 from the photographs. Pack them with `mxrs im2rec`.
    python compare_pipeline.py read <.rec> <threads> <batch size>                        (needs MXNet)
        Reads one epoch with the full augmentation of train_imagenet.py, and prints images per second.
"""
import glob
import os
import random
import sys
import time


def make(photographs, folder, number):
    from PIL import Image
    random.seed(1)
    images = [Image.open(path) for path in sorted(glob.glob(f'{photographs}/*.jpg'))]
    for i in range(int(number)):
        image = images[i % len(images)]
        x, y = random.randint(0, image.width - 256), random.randint(0, image.height - 256)
        path = f'{folder}/{i % len(images)}'
        os.makedirs(path, exist_ok=True)
        image.crop((x, y, x + 256, y + 256)).save(f'{path}/{i:05}.jpg', quality=95)


def read(path, threads, batch_size):
    import mxnet as mx
    data = mx.io.ImageRecordIter(
        path_imgrec=path, data_shape=(3, 224, 224), batch_size=int(batch_size), shuffle=True, rand_mirror=True,
        random_resized_crop=True, min_random_area=.08, max_random_area=1, min_aspect_ratio=3 / 4., max_aspect_ratio=4 / 3.,
        brightness=.4, contrast=.4, saturation=.4, pca_noise=.1, mean_r=123.68, mean_g=116.779, mean_b=103.939,
        std_r=58.393, std_g=57.12, std_b=57.375, preprocess_threads=int(threads))
    n, start = 0, time.time()
    for batch in data:
        batch.data[0].wait_to_read()
        n += int(batch_size) - batch.pad
    print(f'{n / (time.time() - start):.2f} images/s')


if __name__ == '__main__':
    {'make': make, 'read': read}[sys.argv[1]](*sys.argv[2:])
