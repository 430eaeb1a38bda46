"""Writes crates/mxrs-data/tests/golden/detection.params: the output of MXNet's ImageDetRecordIter for augment.png.

For deterministic changes, images and labels are stored; for random ones, sorted statistics of many images. Needs MXNet 1.9.1
and NumPy. From the root of the repository:
    python tests/mxnet/make_detection.py
"""
import mxnet as mx
import numpy as np
from pictures import STATISTICS, pack, read_photo, save

N = 400
# The label: a header of four numbers (its own length, the numbers per object, and two more), then three objects of six
# numbers each. The last object has no area.
LABEL = [4, 6, 57, 48, 1, 0.1, 0.2, 0.45, 0.7, 0.5, 3, 0.5, 0.3, 0.95, 0.9, 0.25, 2, 0.3, 0.3, 0.3, 0.6, 1]
ONE, MANY = (pack(n, np.array(LABEL, "float32"), read_photo()) for n in (1, N))
expected = {}


def run(rec, n, shape=(3, 24, 32), **settings):
    it = mx.io.ImageDetRecordIter(path_imgrec=rec, data_shape=shape, batch_size=n, preprocess_threads=1, verbose=False,
                                  **settings)
    batch = next(iter(it))
    return batch.data[0].asnumpy(), batch.label[0].asnumpy()


def name_of(shape, settings):
    return ";".join(["%d,%d,%d" % shape] + ["%s=%s" % (k, settings[k]) for k in sorted(settings)])


def exact(shape=(3, 24, 32), **settings):
    data, label = run(ONE, 1, shape, **settings)
    # MXNet does not initialize the area beyond the image.
    _, height, width = label[0, :3].astype(int)
    expected["data:" + name_of(shape, settings)] = mx.nd.array(data[0][:, :height, :width])
    expected["label:" + name_of(shape, settings)] = mx.nd.array(label[0])


exact()
exact(label_pad_width=30, label_pad_value=-7)
exact(rand_mirror_prob=1)
exact(resize=30, inter_method=2)
exact((3, 20, 60), resize_mode="fit")
exact((3, 100, 70), resize_mode="fit")
exact((3, 100, 70), resize_mode="shrink")
exact((3, 40, 70), resize_mode="shrink")
exact((1, 24, 32))
exact(mean_r=10, mean_g=20, mean_b=30, std_g=2, std_b=4, scale=0.5)


OF_LABELS = {"numbers": lambda y: y[:, 3], "left": lambda y: y[:, 9], "bottom": lambda y: y[:, 12]}


def statistic(kinds, **settings):
    shape = (3, 24, 32)
    x, label = run(MANY, N, shape, **settings)
    for kind in kinds.split():
        values = OF_LABELS[kind](label) if kind in OF_LABELS else STATISTICS[kind](x)
        expected["statistic:%s:%s" % (kind, name_of(shape, settings))] = mx.nd.array(np.sort(values))


statistic("left sides corner", rand_mirror_prob=0.3)
statistic("left bottom mean corner", rand_pad_prob=0.7, max_pad_scale=3)
statistic("left bottom numbers mean sides", rand_crop_prob=0.8, min_crop_scales=0.3, max_crop_scales=0.9,
          min_crop_aspect_ratios=0.5, max_crop_aspect_ratios=2)
statistic("left bottom numbers mean", rand_crop_prob=1, min_crop_scales=0.2, min_crop_overlaps=0.3,
          crop_emit_mode="overlap", emit_overlap_thresh=0.5, min_crop_aspect_ratios=0.5, max_crop_aspect_ratios=2)
statistic("left bottom numbers spread", rand_crop_prob=1, num_crop_sampler=2, min_crop_scales="(0.2, 0.6)",
          min_crop_sample_coverages="(0.3, 0)", max_crop_object_coverages="(1, 0.8)", max_crop_trials="(10, 30)")
statistic("red blue colors mean", max_random_hue=30, random_hue_prob=0.5, max_random_saturation=60,
          random_saturation_prob=0.6, max_random_illumination=50, random_illumination_prob=0.7)
statistic("mean spread", max_random_contrast=0.5, random_contrast_prob=0.6)

save("detection.params", expected)
