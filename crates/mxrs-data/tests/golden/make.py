"""Writes the images of this folder and expected.params: what MXNet's ImageRecordIter makes of them.

Needs MXNet 1.9.1, NumPy and Pillow. From the root of the repository:
    python crates/mxrs-data/tests/golden/make.py
"""
import io
import os
import tempfile

import mxnet as mx
import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "..")
DIGITS = os.path.join(ROOT, "data", "digits", "digits_val")
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
NORMALIZE = dict(mean_r=123.68, mean_g=116.28, mean_b=103.53, std_r=58.395, std_g=57.12, std_b=57.375, scale=1.7)

expected = {}
random = np.random.RandomState(7)
folder = tempfile.mkdtemp()


def batches(rec, **settings):
    iterator = mx.io.ImageRecordIter(path_imgrec=rec, preprocess_threads=1, verbose=False, **settings)
    return [(b.data[0].asnumpy(), b.label[0].asnumpy(), b.pad) for b in iterator]


def pack(images):
    rec = os.path.join(folder, "images.rec")
    writer = mx.recordio.MXRecordIO(rec, "w")
    for i, encoded in enumerate(images):
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, float(i), i, 0), encoded))
    writer.close()
    return rec


def one(encoded, shape, **settings):
    return batches(pack([encoded]), data_shape=shape, batch_size=1, **settings)[0][0][0]


def keep(name, array, dtype):
    expected[name] = mx.nd.array(array, dtype=dtype)


def encode(image, kind, **settings):
    out = io.BytesIO()
    image.save(out, kind, **settings)
    return out.getvalue()


def save(name, encoded):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(encoded)


def read(path):
    with open(path, "rb") as f:
        return f.read()


# 1. The digits: sums that change with any pixel, labels, padding, shares.
whole = batches(DIGITS + ".rec", data_shape=(1, 28, 28), batch_size=32)
pixels = np.stack([b[0] for b in whole]).reshape(10, 32, 784).astype(np.float64)
keep("digits.sum", pixels.sum(-1), "float64")
keep("digits.weighted", (pixels * np.arange(1, 785)).sum(-1), "float64")
keep("digits.label", np.stack([b[1] for b in whole]), "float32")
keep("digits.pad", np.array([b[2] for b in whole]), "int32")
scaled = batches(DIGITS + ".rec", data_shape=(1, 28, 28), batch_size=32, scale=1 / 255)
keep("digits.scaled.first", scaled[0][0][0], "float32")
keep("digits.scaled.last", scaled[-1][0][-1], "float32")
for part in range(3):
    shares = {"idx": dict(path_imgidx=DIGITS + ".idx"), "bytes": {}}
    for name, settings in shares.items():
        share = batches(DIGITS + ".rec", data_shape=(1, 28, 28), batch_size=16, num_parts=3, part_index=part, **settings)
        keep("digits.part.%s.%d" % (name, part), np.concatenate([b[1] for b in share])[: 16 * len(share) - share[-1][2]], "float32")

# 2. The photographs: normalized crops, and every 32nd row as decoded (MXNet and Pillow agree on every pixel).
photos = [read(os.path.join(FIXTURES, f)) for f in ("china.jpg", "flower.jpg")]
for i, (name, photo) in enumerate(zip(("china", "flower"), photos)):
    decoded = np.asarray(Image.open(io.BytesIO(photo)).convert("RGB"))
    assert (one(photo, (3, 427, 640)).transpose(1, 2, 0) == decoded).all()
    gray = Image.open(io.BytesIO(photo))
    gray.draft("L", None)
    assert (one(photo, (1, 427, 640))[0] == np.asarray(gray)).all()
    keep(name + ".rgb", decoded[::32], "uint8")
    keep(name + ".gray", np.asarray(gray)[::32], "uint8")
data, label, pad = batches(pack(photos), data_shape=(3, 24, 32), batch_size=2, resize=30, **NORMALIZE)[0]
keep("photos.normalized", data, "float32")

# 3. PNG of every kind, decoded to 1, 3 and 4 channels.
color = Image.fromarray(random.randint(0, 256, (13, 17, 3)).astype(np.uint8))
kinds = {m: color.convert(m) for m in ("1", "L", "LA", "P", "RGB")}
kinds["RGBA"] = Image.fromarray(random.randint(0, 256, (13, 17, 4)).astype(np.uint8))
kinds["I16"] = Image.fromarray(random.randint(0, 65536, (13, 17)).astype(np.uint16))
for kind, image in kinds.items():
    encoded = encode(image, "PNG")
    save(kind + ".png", encoded)
    for channels in (1, 3, 4):
        if channels < 4 or kind in ("LA", "RGBA"):
            keep("png.%s.%d" % (kind, channels), one(encoded, (channels, 13, 17)), "uint8")
four = dict(mean_r=1.5, mean_g=2.5, mean_b=3.5, mean_a=4.5, std_r=2, std_g=3, std_b=5, std_a=7, scale=0.3)
keep("png.RGBA.normalized", one(encode(kinds["RGBA"], "PNG"), (4, 9, 11), **four), "float32")

# 4. JPEG: sampling, progressive, restart markers, gray, CMYK, Exif orientation.
photo = Image.open(os.path.join(FIXTURES, "china.jpg")).crop((300, 150, 353, 187))
jpegs = {}
for sampling in (0, 1, 2):
    for progressive in (False, True):
        jpegs["s%d%s" % (sampling, "p" if progressive else "b")] = encode(
            photo, "JPEG", quality=90, subsampling=sampling, progressive=progressive)
jpegs["restart"] = encode(photo, "JPEG", quality=90, restart_marker_blocks=3)
jpegs["gray"] = encode(photo.convert("L"), "JPEG", quality=90)
jpegs["cmyk"] = encode(photo.convert("CMYK"), "JPEG", quality=95, subsampling=0)
for name, encoded in jpegs.items():
    save(name + ".jpg", encoded)
    for channels in (1, 3):
        keep("jpeg.%s.%d" % (name, channels), one(encoded, (channels, 37, 53)), "uint8")
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x112] = orientation
    encoded = encode(photo, "JPEG", quality=90, subsampling=0, exif=exif)
    save("exif%d.jpg" % orientation, encoded)
    keep("jpeg.exif%d.3" % orientation, one(encoded, (3, 53, 37) if orientation >= 5 else (3, 37, 53)), "uint8")

# 5. Sizes: shorter edge, enlarging, crop. Name: height, width, data height, data width, resize (0 for none).
for h, w, dh, dw, edge in [
    (40, 60, 20, 20, 20), (60, 40, 20, 20, 20), (41, 63, 20, 30, 25), (63, 41, 30, 20, 25), (41, 63, 17, 19, 0),
    (10, 14, 28, 28, 0), (14, 10, 28, 28, 0), (10, 40, 28, 28, 0), (40, 10, 20, 28, 0), (37, 53, 64, 64, 50),
    (53, 37, 31, 33, 80), (50, 50, 25, 25, 25), (40, 80, 10, 10, 20), (1, 9, 12, 12, 0), (5, 5, 7, 3, 6),
]:
    noise = random.randint(0, 256, (h, w)).astype(np.uint8)
    name = "size.%d.%d.%d.%d.%d" % (h, w, dh, dw, edge)
    keep(name + ".in", noise, "uint8")
    keep(name, one(encode(Image.fromarray(noise), "PNG"), (1, dh, dw), **(dict(resize=edge) if edge else {}))[0], "uint8")

mx.nd.save(os.path.join(HERE, "expected.params"), expected)
