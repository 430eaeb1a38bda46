"""Writes crates/mxrs-data/tests/golden/transforms.params: the output of Gluon's transforms and mxnet.image's augmenters.

The input is augment.png. Without randomness, or with fixed random numbers, images are stored; else sorted statistics of many.
Needs MXNet 1.9.1 and NumPy. From the root of the repository:
    python tests/mxnet/make_transforms.py
"""
import random
from unittest import mock

import mxnet as mx
import numpy as np
from mxnet.gluon.data.vision import transforms as T
from pictures import STATISTICS, read_photo, save

N = 400
photo = mx.image.imdecode(read_photo())
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
expected = {}


def keep(name, image):
    expected["image:" + name] = image


def still(augmenter, part, image):
    """Runs the augmenter with every random number from (-x, x) replaced by x * part."""
    with mock.patch.object(random, "uniform", lambda low, high: low + (high - low) * (1 + part) / 2):
        return augmenter(image)


# Resizing and cropping.
for method in (0, 1, 2, 3, 4):
    keep("resize 20x30 %d" % method, T.Resize((30, 20), interpolation=method)(photo))
    keep("resize shorter 60 %d" % method, T.Resize(60, keep_ratio=True, interpolation=method)(photo))
keep("resize 25", T.Resize(25)(photo))
keep("resize tall shorter 31", T.Resize(31, keep_ratio=True)(mx.nd.transpose(photo, (1, 0, 2))))
keep("force 33x70 auto", mx.image.ForceResizeAug((70, 33), 9)(photo))
keep("center 24x32", T.CenterCrop((32, 24))(photo))
keep("center 27x31", T.CenterCrop((31, 27))(photo))
keep("center 60x50", T.CenterCrop((50, 60))(photo))
keep("center 30x80", T.CenterCrop((80, 30))(photo))
keep("center 100x100 cubic", mx.image.CenterCropAug((100, 100), 2)(photo))
keep("part", T.CropResize(7, 3, 21, 18)(photo))
keep("part resized", T.CropResize(7, 3, 21, 18, (40, 25), 1)(photo))

# Conversions to numbers, on a part of the photograph, which keeps the file small.
part = photo[10:34, 12:44]
tensor = T.ToTensor()(part)
numbers = part.astype("float32")
keep("tensor", tensor)
keep("normalized", T.Normalize(MEAN, STD)(tensor))
keep("normalized alike", T.Normalize(0.5, 0.25)(tensor))
keep("cast back", (numbers * 1.7 - 20).clip(0, 255).astype("uint8"))

# Rotations.
for degrees in (30, -100, 180):
    keep("rotate %d" % degrees, T.Rotate(degrees)(tensor))
keep("rotate 25 in", T.Rotate(25, zoom_in=True)(tensor))
keep("rotate 25 out", T.Rotate(25, zoom_out=True)(tensor))
keep("rotate -70 in", T.Rotate(-70, zoom_in=True)(tensor))
keep("rotate 160 out", T.Rotate(160, zoom_out=True)(tensor))

# Colors.
for name, image in (("uint8", part), ("float32", numbers)):
    keep("brightness %s" % name, mx.nd.image.random_brightness(image, 1.3, 1.3))
    keep("contrast %s" % name, mx.nd.image.random_contrast(image, 1.7, 1.7))
    keep("contrast less %s" % name, mx.nd.image.random_contrast(image, 0.3, 0.3))
    keep("hue %s" % name, mx.nd.image.random_hue(image, 0.2, 0.2))
    keep("hue back %s" % name, mx.nd.image.random_hue(image, 0.9, 0.9))
keep("gray brightness", mx.nd.image.random_brightness(part[:, :, :1], 0.6, 0.6))
keep("gray contrast", mx.nd.image.random_contrast(part[:, :, :1], 0.6, 0.6))
keep("saturation more", still(mx.image.SaturationJitterAug(0.6), 1, numbers.copy()))
keep("saturation less", still(mx.image.SaturationJitterAug(0.8), -1, numbers.copy()))
keep("contrast python", still(mx.image.ContrastJitterAug(0.4), 1, numbers.copy()))
keep("hue python", still(mx.image.HueJitterAug(0.3), 1, numbers.copy()))
keep("hue python back", still(mx.image.HueJitterAug(0.3), -1, numbers.copy()))
keep("gray", mx.image.RandomGrayAug(1)(numbers.copy()))
keep("mirrored", mx.image.HorizontalFlipAug(1)(part))
keep("upside down", mx.nd.image.flip_top_bottom(part))


def run(augmenters, image):
    for augmenter in augmenters:
        image = augmenter(image)
    return image


keep("augmenter", run(mx.image.CreateAugmenter((3, 24, 32), resize=30, mean=True, std=True), photo))
keep("augmenter plain", run(mx.image.CreateAugmenter((3, 60, 32)), photo))


# Stores statistics. Images are 24 x 32 x 3, or have channels first.
def statistic(name, kinds, transform, image):
    images = []
    for _ in range(N):
        out = transform(image.copy()).asnumpy().astype("float32")
        images.append(out if out.shape[0] == 3 else out.transpose(2, 0, 1))
    x = np.stack(images)
    assert x.shape[1:] == (3, 24, 32), x.shape
    for kind in kinds.split():
        expected["statistic:%s:%s" % (kind, name)] = mx.nd.array(np.sort(STATISTICS[kind](x)), dtype="float32")


random.seed(1)
np.random.seed(2)
mx.random.seed(3)
small = T.Resize((32, 24))(photo)
small_numbers = small.astype("float32")
size = (32, 24)
statistic("random crop", "mean sides corner", mx.image.RandomCropAug(size), photo)
statistic("random crop small", "mean sides", mx.image.RandomCropAug(size, 1), T.Resize((40, 12))(photo))
statistic("sized crop", "mean spread sides near", mx.image.RandomSizedCropAug(size, 0.08, (3 / 4, 4 / 3), 1), photo)
statistic("sized crop wide", "mean spread sides", mx.image.RandomSizedCropAug(size, (0.3, 0.6), (1.2, 2.5), 2), photo)
statistic("sized crop random", "mean spread sides", T.RandomResizedCrop(size, interpolation=10), photo)
statistic("flip", "corner sides", T.RandomFlipLeftRight(), small)
statistic("flip down", "corner near", T.RandomFlipTopBottom(), small)
statistic("flip rarely", "corner sides", mx.image.HorizontalFlipAug(0.2), small)
statistic("brightness", "mean spread", T.RandomBrightness(0.4), small_numbers)
statistic("brightness 1.5", "mean spread", T.RandomBrightness(1.5), small)
statistic("contrast", "mean spread", T.RandomContrast(0.4), small)
statistic("saturation", "mean colors", mx.image.SaturationJitterAug(0.6), small_numbers)
statistic("hue", "red blue colors", T.RandomHue(0.3), small)
statistic("hue python", "red blue colors", mx.image.HueJitterAug(0.3), small_numbers)
statistic("jitter", "mean spread red", T.RandomColorJitter(0.4, 0.5, 0, 0.2), small)
statistic("jitter python", "mean spread colors", mx.image.ColorJitterAug(0.4, 0.5, 0.6), small_numbers)
statistic("lighting", "red blue near", T.RandomLighting(0.3), small_numbers)
statistic("gray", "colors near", mx.image.RandomGrayAug(0.3), small_numbers)
statistic("rotation", "mean sides near", T.RandomRotation((-50, 80)), small_numbers.transpose((2, 0, 1)))
statistic("rotation rarely", "mean sides", T.RandomRotation((10, 60), zoom_in=True, rotate_with_proba=0.4),
          small_numbers.transpose((2, 0, 1)))
everything = mx.image.CreateAugmenter((3, 24, 32), resize=30, rand_crop=True, rand_resize=True, rand_mirror=True,
                                      mean=True, std=True, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.2,
                                      pca_noise=0.1, rand_gray=0.3, inter_method=10)
statistic("augmenter", "mean spread colors sides red", lambda image: run(everything, image), photo)

save("transforms.params", expected)
