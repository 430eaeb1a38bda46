//! Tests of transforms against MXNet: images of deterministic transforms, and distributions of random ones.
//! `tests/mxnet/make_transforms.py` wrote the expected values.

mod golden;

use golden::{distance, image, named, statistic};
use mxrs_data::transform::*;
use mxrs_data::{DataLoader, Dataset, DecodeLimits, Image, InterMethod, Interpolation, decode};
use mxrs_format::{Dense, Tensor};
use mxrs_types::{DType, Result};
use std::collections::HashSet;
use std::sync::Arc;

fn photo() -> Picture {
    Picture::Pixels(decode(&image("augment.png"), 3, &DecodeLimits::default()).unwrap())
}

/// Applies these transforms to the photograph, in sequence.
fn through(transforms: &[&dyn Transform]) -> Picture {
    go(photo(), transforms)
}

/// A region of the photograph.
fn part() -> Picture {
    through(&[&CropResize::new((10, 12), (24, 32))])
}

/// Applies these transforms to the region.
fn part_through(transforms: &[&dyn Transform]) -> Picture {
    go(part(), transforms)
}

fn go(picture: Picture, transforms: &[&dyn Transform]) -> Picture {
    let mut draw = Draw::keyed(&[4]);
    transforms.iter().fold(picture, |picture, transform| transform.apply(picture, &mut draw).unwrap())
}

fn method(number: i64) -> InterMethod {
    InterMethod::from_number(number).unwrap()
}

fn exactly(height: usize, width: usize) -> ResizeTo {
    ResizeTo::Exactly { height, width }
}

/// Computes the image that corresponds to the expected array with this name.
fn make(name: &str) -> Picture {
    let number = |text: &str| text.parse().unwrap();
    let numbers = Cast::float32();
    let gray_image = || {
        let Picture::Pixels(image) = part() else { panic!() };
        let red: Vec<u8> = image.pixels().iter().copied().step_by(3).collect();
        Picture::Pixels(Image::new(image.height(), image.width(), 1, red).unwrap())
    };
    let tall = || {
        let Picture::Pixels(image) = photo() else { panic!() };
        let (h, w) = (image.height(), image.width());
        let pixel = |y: usize, x: usize| image.pixels()[(x * w + y) * 3..][..3].to_vec();
        let pixels = (0..w).flat_map(|y| (0..h).map(move |x| (y, x))).flat_map(|(y, x)| pixel(y, x)).collect();
        Picture::Pixels(Image::new(w, h, 3, pixels).unwrap())
    };
    let saturation = |factor| RandomSaturation::between(factor, factor).unwrap();
    let contrast = |factor| RandomContrast::between(factor, factor).unwrap();
    let brightness = |factor| RandomBrightness::between(factor, factor).unwrap();
    let hue = |part, space| RandomHue::between(part, part, space).unwrap();
    let rotate =
        |degrees: &str, zoom| part_through(&[&ToTensor, &Rotate::new(degrees.parse().unwrap(), zoom).unwrap()]);
    let mean_std = || Normalize::new([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]).unwrap();
    let words: Vec<&str> = name.split(' ').collect();
    match words[..] {
        ["resize", "20x30", n] => through(&[&Resize::new(exactly(20, 30)).method(method(number(n)))]),
        ["resize", "shorter", "60", n] => through(&[&Resize::new(ResizeTo::ShorterEdge(60)).method(method(number(n)))]),
        ["resize", "25"] => through(&[&Resize::new(exactly(25, 25))]),
        ["resize", "tall", "shorter", "31"] => go(tall(), &[&Resize::new(ResizeTo::ShorterEdge(31))]),
        ["force", "33x70", "auto"] => through(&[&Resize::new(exactly(33, 70)).method(InterMethod::Auto)]),
        ["center", "100x100", "cubic"] => through(&[&CenterCrop::new(100, 100).method(method(2))]),
        ["center", size] => {
            let (height, width) = size.split_once('x').unwrap();
            through(&[&CenterCrop::new(height.parse().unwrap(), width.parse().unwrap())])
        }
        ["part"] => through(&[&CropResize::new((3, 7), (18, 21))]),
        ["part", "resized"] => through(&[&CropResize::new((3, 7), (18, 21)).size(25, 40)]),
        ["tensor"] => part_through(&[&ToTensor]),
        ["normalized"] => part_through(&[&ToTensor, &mean_std()]),
        ["normalized", "alike"] => part_through(&[&ToTensor, &Normalize::new([0.5], [0.25]).unwrap()]),
        ["cast", "back"] => {
            let line = Normalize::new([20.0 / 1.7], [1.0 / 1.7]).unwrap();
            part_through(&[&numbers, &line, &Cast::new(DType::U8).unwrap()])
        }
        ["rotate", degrees] => rotate(degrees, Zoom::None),
        ["rotate", degrees, "in"] => rotate(degrees, Zoom::In),
        ["rotate", degrees, "out"] => rotate(degrees, Zoom::Out),
        ["brightness", "uint8"] => part_through(&[&brightness(1.3)]),
        ["brightness", "float32"] => part_through(&[&numbers, &brightness(1.3)]),
        ["contrast", "uint8"] => part_through(&[&contrast(1.7)]),
        ["contrast", "float32"] => part_through(&[&numbers, &contrast(1.7)]),
        ["contrast", "less", "uint8"] => part_through(&[&contrast(0.3)]),
        ["contrast", "less", "float32"] => part_through(&[&numbers, &contrast(0.3)]),
        ["contrast", "python"] => part_through(&[&numbers, &contrast(1.4)]),
        ["hue", "uint8"] => part_through(&[&hue(0.2, HueSpace::Hls)]),
        ["hue", "float32"] => part_through(&[&numbers, &hue(0.2, HueSpace::Hls)]),
        ["hue", "back", "uint8"] => part_through(&[&hue(-0.1, HueSpace::Hls)]),
        ["hue", "back", "float32"] => part_through(&[&numbers, &hue(-0.1, HueSpace::Hls)]),
        ["hue", "python"] => part_through(&[&numbers, &hue(0.3, HueSpace::Yiq)]),
        ["hue", "python", "back"] => part_through(&[&numbers, &hue(-0.3, HueSpace::Yiq)]),
        ["gray", "brightness"] => go(gray_image(), &[&brightness(0.6)]),
        ["gray", "contrast"] => go(gray_image(), &[&contrast(0.6)]),
        ["saturation", "more"] => part_through(&[&numbers, &saturation(1.6)]),
        ["saturation", "less"] => part_through(&[&numbers, &saturation(0.2)]),
        ["gray"] => part_through(&[&numbers, &RandomGray::new(1.0).unwrap().weights([0.21, 0.72, 0.07])]),
        ["mirrored"] => part_through(&[&RandomFlip::left_right().with_probability(1.0).unwrap()]),
        ["upside", "down"] => part_through(&[&RandomFlip::top_bottom().with_probability(1.0).unwrap()]),
        ["augmenter"] => {
            let (mean, std) = (Some(IMAGENET_MEAN), Some(IMAGENET_STD));
            through(&[&Augmenter { resize: Some(30), mean, std, ..Augmenter::new(24, 32) }.build().unwrap()])
        }
        ["augmenter", "plain"] => through(&[&Augmenter::new(60, 32).build().unwrap()]),
        _ => panic!("{name}"),
    }
}

/// Pixels agree within one level; float values within a few thousandths of a level, or within one level after a resize.
#[test]
fn what_is_not_random_is_equal_to_mxnet() {
    let cases = named("transforms.params", "image:");
    assert_eq!(cases.len(), 53);
    let mut failures = Vec::new();
    for (name, want) in &cases {
        let (got, want) = (make(name).into_dense().unwrap(), want.as_dense().unwrap());
        assert_eq!((got.shape(), got.dtype()), (want.shape(), want.dtype()), "{name}");
        let numbers = |dense: &Dense| -> Vec<f32> {
            match dense.dtype() {
                DType::U8 => dense.bytes().iter().copied().map(f32::from).collect(),
                _ => dense.as_slice::<f32>().unwrap().to_vec(),
            }
        };
        let (got, want) = (numbers(&got), numbers(want));
        let most = got.iter().zip(&want).map(|(a, b)| (a - b).abs()).max_by(f32::total_cmp).unwrap();
        let level = match name.split(' ').next() {
            Some("tensor") => 1e-3 / 255.0,
            // Positions between pixels are rounded differently from MXNet.
            Some("rotate") => 1e-2 / 255.0,
            Some("normalized") => 1e-3 / 255.0 / 0.224,
            Some("augmenter") => {
                if name.ends_with("plain") {
                    1.01
                } else {
                    1.01 / 57.12
                }
            }
            _ if name.ends_with("float32") || name.starts_with("saturation") || name.contains("python") => 2e-3,
            _ if name == "gray" => 2e-3,
            _ => 1.0,
        };
        if most.is_nan() || most > level {
            failures.push(format!("{name}: {most}, allowed {level}"));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// The transform with this name, and its input image.
fn random(name: &str) -> (Box<dyn Transform>, Picture) {
    let small = || through(&[&Resize::new(exactly(24, 32))]);
    let floats = || go(small(), &[&Cast::float32()]);
    let planes = || go(small(), &[&ToTensor]);
    let planes = || {
        let Picture::Numbers(mut numbers) = planes() else { panic!() };
        numbers.values_mut().iter_mut().for_each(|value| *value *= 255.0);
        Picture::Numbers(numbers)
    };
    let jitter = |b, c, s, h| RandomColorJitter::new(b, c, s, h).unwrap().boxed();
    match name {
        "random crop" => (RandomCrop::new(24, 32).boxed(), photo()),
        "random crop small" => (RandomCrop::new(24, 32).boxed(), through(&[&Resize::new(exactly(12, 40))])),
        "sized crop" => (RandomResizedCrop::new(24, 32).boxed(), photo()),
        "sized crop wide" => {
            let (area, ratio) = ((0.3, 0.6), (1.2, 2.5));
            (RandomResizedCrop { area, ratio, ..RandomResizedCrop::new(24, 32).method(method(2)) }.boxed(), photo())
        }
        "sized crop random" => (RandomResizedCrop::new(24, 32).method(InterMethod::Random).boxed(), photo()),
        "flip" => (RandomFlip::left_right().boxed(), small()),
        "flip down" => (RandomFlip::top_bottom().boxed(), small()),
        "flip rarely" => (RandomFlip::left_right().with_probability(0.2).unwrap().boxed(), small()),
        "brightness" => (RandomBrightness::new(0.4).unwrap().boxed(), floats()),
        "brightness 1.5" => (RandomBrightness::new(1.5).unwrap().boxed(), small()),
        "contrast" => (RandomContrast::new(0.4).unwrap().boxed(), small()),
        "saturation" => (RandomSaturation::new(0.6).unwrap().boxed(), floats()),
        "hue" => (RandomHue::new(0.3, HueSpace::Hls).unwrap().boxed(), small()),
        "hue python" => (RandomHue::new(0.3, HueSpace::Yiq).unwrap().boxed(), floats()),
        "jitter" => (jitter(0.4, 0.5, 0.0, 0.2), small()),
        "jitter python" => (jitter(0.4, 0.5, 0.6, 0.0), floats()),
        "lighting" => (RandomLighting::new(0.3).unwrap().boxed(), floats()),
        "gray" => (RandomGray::new(0.3).unwrap().weights([0.21, 0.72, 0.07]).boxed(), floats()),
        "rotation" => (RandomRotation::new((-50.0, 80.0), Zoom::None, 1.0).unwrap().boxed(), planes()),
        "rotation rarely" => (RandomRotation::new((10.0, 60.0), Zoom::In, 0.4).unwrap().boxed(), planes()),
        "augmenter" => {
            let augmenter = Augmenter {
                resize: Some(30),
                rand_crop: true,
                rand_resize: true,
                rand_mirror: true,
                mean: Some(IMAGENET_MEAN),
                std: Some(IMAGENET_STD),
                brightness: 0.4,
                contrast: 0.4,
                saturation: 0.4,
                hue: 0.2,
                pca_noise: 0.1,
                rand_gray: 0.3,
                inter_method: InterMethod::Random,
                ..Augmenter::new(24, 32)
            };
            (augmenter.build().unwrap().boxed(), photo())
        }
        other => panic!("{other}"),
    }
}

/// With 400 images each, the distance of two samples from one distribution exceeds 0.138 with probability 1/1000. None of
/// the about 50 pairs may exceed it.
#[test]
fn what_is_random_is_distributed_as_in_mxnet() {
    let cases = named("transforms.params", "statistic:");
    assert!(cases.len() > 50, "{}", cases.len());
    let mut failures = Vec::new();
    let mut names: HashSet<&str> = cases.keys().map(|name| name.split_once(':').unwrap().1).collect();
    for name in names.drain() {
        let (transform, picture) = random(name);
        let images: Vec<Vec<f32>> = (0..400)
            .map(|i| {
                let out = transform.apply(picture.clone(), &mut Draw::keyed(&[11, i])).unwrap();
                let out = Cast::float32().apply(out, &mut Draw::keyed(&[])).unwrap();
                let Picture::Numbers(numbers) = &out else { panic!() };
                let last = numbers.channels() == Channels::Last;
                let place = |i: usize| if last { (i % 768) * 3 + i / 768 } else { i };
                (0..3 * 768).map(|i| numbers.values()[place(i)]).collect()
            })
            .collect();
        for (case, want) in &cases {
            let (kind, _) = case.split_once(':').filter(|(_, of)| *of == name).unwrap_or_default();
            if kind.is_empty() {
                continue;
            }
            let mut got: Vec<f32> = images.iter().map(|image| statistic(kind, image)).collect();
            got.sort_by(f32::total_cmp);
            let want = want.as_slice::<f32>().unwrap();
            let near = if name == "augmenter" { 1e-3 } else { 0.05 };
            let far = distance(&got, want, near);
            if far > 0.138 {
                failures.push(format!("{case}: {far}, medians {} {}", got[200], want[200]));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// A data set of identical photographs.
struct Photos(usize);

impl Dataset for Photos {
    fn len(&self) -> usize {
        self.0
    }
    fn get(&self, index: usize) -> Result<Vec<Dense>> {
        Ok(vec![photo().into_dense()?, Tensor::from_slice([], &[index as f32])?.into_dense()?])
    }
}

/// The images of the first two epochs, by epoch and sample.
fn epochs(workers: usize, seed: u64) -> Vec<Vec<Vec<u8>>> {
    let crop = Compose::of([RandomCrop::new(8, 8).boxed(), RandomBrightness::between(0.3, 0.9).unwrap().boxed()]);
    let dataset = Transformed::new(Arc::new(Photos(6)), crop, seed);
    let mut loader = DataLoader::builder(Arc::new(dataset), 2).shuffle(3).num_workers(workers).build().unwrap();
    let mut epochs = Vec::new();
    for _ in 0..2 {
        let mut images = vec![Vec::new(); 6];
        while let Some(batch) = loader.next_batch().unwrap() {
            assert_eq!(&batch[0].shape()[..], [2, 8, 8, 3]);
            for (image, label) in batch[0].bytes().chunks(192).zip(batch[1].as_slice::<f32>().unwrap()) {
                images[*label as usize] = image.to_vec();
            }
        }
        epochs.push(images);
        loader.reset().unwrap();
    }
    epochs
}

/// The random numbers depend on seed, epoch and sample, but not on the thread that makes the batch.
#[test]
fn a_loader_transforms_in_its_workers() {
    let alone = epochs(0, 9);
    assert_eq!(alone, epochs(3, 9));
    let all: HashSet<&Vec<u8>> = alone.iter().flatten().collect();
    assert_eq!(all.len(), 12, "every sample of every epoch has its own");
    assert_ne!(alone, epochs(0, 10));
}

#[test]
fn lists_change_the_order_and_leave_out() {
    // The functions x + 1 and 2 x, as transforms.
    let line = |mean: f32, std: f32| Normalize::new([mean], [std]).unwrap().boxed();
    let one = || Picture::Numbers(Numbers::new([1, 1, 1], Channels::Last, vec![1.0]).unwrap());
    let value = |transform: &dyn Transform, i: u64| {
        let Picture::Numbers(numbers) = transform.apply(one(), &mut Draw::keyed(&[i])).unwrap() else { panic!() };
        numbers.values()[0]
    };
    let both = || [line(-1.0, 1.0), line(0.0, 0.5)];
    assert!((0..50).all(|i| value(&Compose::of(both()), i) == 4.0));
    let order = RandomOrder::of(both());
    let n_first = (0..1000).filter(|i| value(&order, *i) == 4.0).count();
    assert!((0..1000).all(|i| [3.0, 4.0].contains(&value(&order, i))));
    // The tolerance is four standard errors.
    assert!(n_first.abs_diff(500) < 64, "{n_first}");
    let sometimes = RandomApply::new(Compose::of(both()), 0.2).unwrap();
    let n_changed = (0..1000).filter(|i| value(&sometimes, *i) == 4.0).count();
    assert!(n_changed.abs_diff(200) < 51, "{n_changed}");
}

#[test]
fn a_padded_crop_reaches_the_border() {
    let Picture::Pixels(image) = photo() else { panic!() };
    let (h, w) = (image.height(), image.width());
    let crop = RandomCrop::new(h + 8, w + 8).pad(4, 77);
    let Picture::Pixels(out) = crop.apply(photo(), &mut Draw::keyed(&[])).unwrap() else { panic!() };
    assert_eq!((out.height(), out.width()), (h + 8, w + 8));
    assert!(out.pixels()[..4 * (w + 8) * 3].iter().all(|p| *p == 77));
    assert_eq!(out.pixels()[(4 * (w + 8) + 4) * 3..][..w * 3], image.pixels()[..w * 3]);
}

#[test]
fn what_cannot_be_done_is_told() {
    let planes = || through(&[&ToTensor]);
    let numbers = || through(&[&Cast::float32()]);
    let cases: [(&dyn Transform, Picture, &str); 11] = [
        (&Resize::new(exactly(9, 9)), numbers(), "before Cast and ToTensor"),
        (&Resize::new(exactly(0, 9)), photo(), "at least one pixel"),
        (&Resize::new(exactly(1 << 20, 1 << 20)), photo(), "at most"),
        (&CenterCrop::new(0, 9), photo(), "at least one pixel"),
        (&CropResize::new((40, 0), (9, 5)), photo(), "48 x 57"),
        (&CropResize::new((usize::MAX, 0), (9, 5)), photo(), "48 x 57"),
        (&RandomCrop::new(9, 9).pad(1, 0), numbers(), "before Cast and ToTensor"),
        (&RandomResizedCrop { area: (0.5, 0.1), ..RandomResizedCrop::new(9, 9) }, photo(), "area"),
        (&Normalize::new([0.0, 0.0], [1.0]).unwrap(), planes(), "mean"),
        (&Normalize::new([0.0], [1.0]).unwrap(), photo(), "after Cast or ToTensor"),
        (&ToTensor, planes(), "channels last"),
    ];
    for (transform, picture, expected) in cases {
        let message = transform.apply(picture, &mut Draw::keyed(&[])).unwrap_err().to_string();
        assert!(message.contains(expected), "{transform:?}: {message}");
    }
    assert!(Rotate::new(5.0, Zoom::None).unwrap().apply(photo(), &mut Draw::keyed(&[])).is_err());
    for error in [
        RandomBrightness::new(-0.1).err(),
        RandomContrast::new(f32::NAN).err(),
        RandomLighting::new(f32::INFINITY).err(),
        RandomGray::new(1.1).err(),
        RandomFlip::left_right().with_probability(-0.1).err(),
        RandomRotation::new((3.0, 2.0), Zoom::None, 0.5).err(),
        Normalize::new([], [1.0]).err(),
        Normalize::new([0.0], [0.0]).err(),
        Cast::new(DType::I32).err(),
        Numbers::new([1, 2, 3], Channels::First, vec![0.0; 5]).err(),
        Picture::from_dense(&Tensor::from_slice([2, 2], &[0.0_f32; 4]).unwrap().into_dense().unwrap()).err(),
    ] {
        assert!(error.is_some());
    }
}

/// The smallest sizes do not cause a panic, and rotated constant images stay in range.
#[test]
fn no_image_panics() {
    let all: Vec<Box<dyn Transform>> = vec![
        Augmenter { rand_crop: true, rand_resize: true, hue: 0.5, rand_gray: 0.5, ..Augmenter::new(3, 2) }
            .build()
            .unwrap()
            .boxed(),
        RandomCrop::new(2, 5).boxed(),
        Resize::new(ResizeTo::ShorterEdge(3)).method(InterMethod::Fixed(Interpolation::Lanczos)).boxed(),
        RandomColorJitter::new(3.0, 3.0, 3.0, 3.0).unwrap().boxed(),
        RandomLighting::new(9.0).unwrap().boxed(),
        RandomFlip::top_bottom().boxed(),
    ];
    for (h, w, c) in [(1, 1, 1), (1, 9, 3), (9, 1, 4), (2, 3, 4)] {
        for (i, transform) in all.iter().enumerate() {
            let image = Image::new(h, w, c, vec![200; h * w * c]).unwrap();
            let out = transform.apply(Picture::Pixels(image), &mut Draw::keyed(&[i as u64])).unwrap();
            assert_eq!(out.n_channels(), c);
        }
        let numbers = Numbers::new([h, w, c], Channels::Last, vec![1.0; h * w * c]).unwrap();
        for zoom in [Zoom::None, Zoom::In, Zoom::Out] {
            let turned =
                Rotate::new(33.0, zoom).unwrap().apply(Picture::Numbers(numbers.clone()), &mut Draw::keyed(&[]));
            let Picture::Numbers(turned) = turned.unwrap() else { panic!() };
            assert!(turned.values().iter().all(|v| (-1e-6..=1.0 + 1e-6).contains(v)), "{h} {w} {zoom:?}");
        }
    }
}
