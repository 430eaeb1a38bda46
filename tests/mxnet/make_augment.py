"""Writes crates/mxrs-data/tests/golden/augment.params and augment.png: the output of MXNet's augmenters for one photograph.

For deterministic augmenters, pixels are stored; for random ones, a statistic of `draws` images: every 20th sorted value.
Needs MXNet 1.9.1 and NumPy. From the root of the repository:
    python tests/mxnet/make_augment.py
"""
import os
import struct
import zlib

import mxnet as mx
import numpy as np
from pictures import GOLDEN, ROOT, STATISTICS, pack, save

# Number of images of each random augmenter, and number of stored values of a statistic.
N = 10000
KEPT = 500

with open(os.path.join(ROOT, "tests", "fixtures", "china.jpg"), "rb") as f:
    photo = mx.image.imdecode(f.read()).asnumpy()[150:198, 300:357]


def png(image):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in image)
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


ENCODED = png(photo)
with open(os.path.join(GOLDEN, "augment.png"), "wb") as f:
    f.write(ENCODED)

expected = {"draws": mx.nd.array([N], dtype="float32")}
ONE, MANY = (pack(n, 0.0, ENCODED) for n in (1, N))


def run(rec, n, shape=(3, 24, 32), **settings):
    it = mx.io.ImageRecordIter(path_imgrec=rec, data_shape=shape, batch_size=n, preprocess_threads=1, verbose=False,
                               ctx="cpu", **settings)
    return next(iter(it)).data[0].asnumpy()


# Stores pixels. The name holds the settings, so that the test can read them from it.
def pixels(shape=(3, 24, 32), **settings):
    name = ";".join(["%d,%d" % shape[1:]] + ["%s=%s" % (k, settings[k]) for k in sorted(settings)])
    expected["pixels:" + name] = mx.nd.array(run(ONE, 1, shape, **settings)[0], dtype="uint8")


for method in (0, 1, 2, 3, 4, 9):
    # MXNet rejects method 0 in these two cases only.
    if method != 0:
        pixels(inter_method=method, resize=26)
        pixels(inter_method=method, resize=70)
        pixels((3, 40, 50), inter_method=method, rotate=30)
        pixels(inter_method=method, min_random_scale=0.75, max_random_scale=0.75)
    pixels((3, 48, 48), inter_method=method)
    pixels((3, 60, 40), inter_method=method)
    pixels(inter_method=method, min_crop_size=40, max_crop_size=40)
    pixels((3, 48, 48), inter_method=method, min_crop_size=30, max_crop_size=30)
pixels(resize=24, inter_method=3)
pixels((3, 48, 57), rotate=90)
pixels((3, 48, 57), rotate=180, fill_value=7)
pixels((3, 40, 50), rotate_list="-15", fill_value=0)
pixels((3, 40, 50), max_aspect_ratio=1.25, min_aspect_ratio=1.25)
pixels((3, 40, 50), min_random_scale=1.5, max_random_scale=1.5, rotate=12)
pixels((3, 60, 60), min_img_size=64)
pixels((3, 20, 20), max_img_size=30)
pixels((3, 60, 60), pad=8, fill_value=100)
pixels((3, 20, 20), mirror=True)
pixels((1, 40, 40), rotate=45, pad=3)


# Stores sorted statistics of many images. One thread draws random numbers for all images, one after the other.
def statistic(kinds, **settings):
    data = run(MANY, N, **settings)
    name = ";".join("%s=%s" % (k, settings[k]) for k in sorted(settings))
    step = N // KEPT
    for kind in kinds.split():
        values = np.sort(STATISTICS[kind](data))
        expected["statistic:%s:%s" % (kind, name)] = mx.nd.array(values[step - 1::step], dtype="float32")


statistic("mean", brightness=0.4)
statistic("mean spread", contrast=0.4)
statistic("mean colors", saturation=0.8)
statistic("mean spread colors", brightness=0.3, contrast=0.6, saturation=0.6)
statistic("red blue", random_h=40)
statistic("mean colors", random_s=60)
statistic("mean spread", random_l=60)
statistic("mean colors", random_h=30, random_s=50, random_l=50)
statistic("red blue near", pca_noise=0.3)
statistic("mean corner sides", rand_crop=1)
statistic("corner sides", rand_mirror=1)
statistic("mean spread sides", random_resized_crop=1, min_random_area=0.08, max_aspect_ratio=1.3333, min_aspect_ratio=0.75)
statistic("mean spread sides", random_resized_crop=1, min_random_area=0.9, max_aspect_ratio=1.4, min_aspect_ratio=0.9)
statistic("mean near sides", max_rotate_angle=45)
statistic("sides near", max_shear_ratio=0.3)
statistic("mean spread sides", max_random_scale=1.5, min_random_scale=0.8)
statistic("sides near", max_aspect_ratio=0.4)
statistic("mean sides", min_crop_size=20, max_crop_size=44, rand_crop=1)
statistic("mean spread", min_crop_size=20, max_crop_size=44)
statistic("mean spread", inter_method=10, resize=26)
statistic("mean spread", max_random_contrast=0.5, mean_r=100, mean_g=100, mean_b=100, std_r=2, std_g=2, std_b=2)
statistic("mean", max_random_illumination=20, scale=0.5, std_r=4, std_g=4, std_b=4)

save("augment.params", expected)
