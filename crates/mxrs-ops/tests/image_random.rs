//! Compares the random changes of images with their definitions: from the results of many calls, the numbers that the calls drew
//! are computed, and compared with bounds, mean and variance. `golden.rs` compares calls whose numbers are known.

use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, RandomCall, RawTensor, ReferenceBackend, TensorDesc};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_types::{DType, PartialShape, Shape, WriteReq};
use std::ops::Range;

/// Number of calls.
const N: u64 = 2000;

/// Calls an operator on an image under each of these seeds.
fn called_with(
    name: &str,
    attrs: &[(&str, &str)],
    shape: [usize; 3],
    values: &[f64],
    dtype: DType,
    seeds: Range<u64>,
) -> Vec<Vec<f64>> {
    let ops = mxrs_ops::catalog();
    let op = ops.get(name).expect("an operator");
    let params = op.parse(&attrs.iter().copied().collect::<Attrs>()).expect("readable parameters");
    let desc = [TensorDesc::dense(shape, dtype)];
    let call = OpCall { op, params: &params, inputs: &desc, outputs: &desc, is_constant: &[false], is_train: false };
    let planned = ReferenceBackend.plan(&call).expect("a kernel");
    let data = AlignedBuffer::from_f64(values, dtype);
    let run = |seed: u64| {
        let mut result = AlignedBuffer::poisoned(desc[0].size_bytes());
        let args = KernelArgs {
            inputs: &[RawTensor::from_slice(data.bytes())],
            outputs: &[RawTensor::from_mut_slice(result.bytes_mut())],
            reqs: &[WriteReq::Write],
            scratch: RawTensor::from_slice(&[]),
            team: &Team::serial(),
            random: Some(RandomCall { seed, number: 3 }),
            stream: None,
        };
        mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("a changed image");
        result.to_f64(dtype)
    };
    seeds.map(run).collect()
}

/// The result of one call.
fn called(name: &str, attrs: &[(&str, &str)], shape: [usize; 3], values: &[f64], dtype: DType) -> Vec<f64> {
    called_with(name, attrs, shape, values, dtype, 1..2).remove(0)
}

/// The results of many calls on an image of one row, in float32.
fn many(name: &str, attrs: &[(&str, &str)], channels: usize, values: &[f64]) -> Vec<Vec<f64>> {
    called_with(name, attrs, [1, values.len() / channels, channels], values, DType::F32, 0..N)
}

/// Checks that numbers are in this range, and that mean and variance are those of a uniform distribution, within six standard
/// deviations.
fn check_uniform(what: &str, numbers: &[f64], low: f64, high: f64) {
    let n = numbers.len() as f64;
    let near = 1e-4 * (high - low);
    assert!(numbers.iter().all(|x| (low - near..=high + near).contains(x)), "{what}: a number outside {low} to {high}");
    let variance = (high - low).powi(2) / 12.0;
    let mean = numbers.iter().sum::<f64>() / n;
    assert!((mean - (low + high) / 2.0).abs() < 6.0 * (variance / n).sqrt(), "{what}: mean {mean}");
    let spread = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    assert!((spread - variance).abs() < 6.0 * variance * (0.8 / n).sqrt(), "{what}: variance {spread}");
}

const RANGE: [(&str, &str); 2] = [("min_factor", "0.5"), ("max_factor", "1.5")];

#[test]
fn factors_are_uniform_and_the_same_for_the_whole_image() {
    let bright = many("_image_random_brightness", &RANGE, 3, &[100.0, 50.0, 200.0, 4.0, 8.0, 16.0]);
    assert!(bright.iter().all(|x| (x[0] / 100.0 - x[5] / 16.0).abs() < 1e-5));
    check_uniform("brightness", &bright.iter().map(|x| x[0] / 100.0).collect::<Vec<_>>(), 0.5, 1.5);
    // The mean stays.
    let contrast = many("_image_random_contrast", &RANGE, 1, &[0.0, 100.0]);
    assert!(contrast.iter().all(|x| (x[0] + x[1] - 100.0).abs() < 1e-3));
    check_uniform("contrast", &contrast.iter().map(|x| (x[1] - x[0]) / 100.0).collect::<Vec<_>>(), 0.5, 1.5);
    // Without blue, MXNet's gray is 0.
    let saturation = many("_image_random_saturation", &RANGE, 3, &[100.0, 50.0, 0.0]);
    check_uniform("saturation", &saturation.iter().map(|x| x[0] / 100.0).collect::<Vec<_>>(), 0.5, 1.5);
    // Red gets green in the first sixth of the circle.
    let turn = [("min_factor", "0.02"), ("max_factor", "0.12")];
    let hue = many("_image_random_hue", &turn, 3, &[255.0, 0.0, 0.0]);
    assert!(hue.iter().all(|x| (x[0] - 255.0).abs() < 1e-3 && x[2].abs() < 1e-3));
    check_uniform("hue", &hue.iter().map(|x| x[1] / 255.0 / 6.0).collect::<Vec<_>>(), 0.02, 0.12);
}

#[test]
fn a_jitter_does_each_change_by_its_own_number() {
    let name = "_image_random_color_jitter";
    let only = |which: &str| {
        let amount = |key: &'static str| (key, if key == which { "0.25" } else { "0" });
        [amount("brightness"), amount("contrast"), amount("saturation"), amount("hue")]
    };
    let bright = many(name, &only("brightness"), 1, &[100.0]);
    check_uniform("brightness", &bright.iter().map(|x| x[0] / 100.0).collect::<Vec<_>>(), 0.75, 1.25);
    let contrast = many(name, &only("contrast"), 1, &[0.0, 100.0]);
    check_uniform("contrast", &contrast.iter().map(|x| (x[1] - x[0]) / 100.0).collect::<Vec<_>>(), 0.75, 1.25);
    let saturation = many(name, &only("saturation"), 3, &[100.0, 50.0, 0.0]);
    check_uniform("saturation", &saturation.iter().map(|x| x[0] / 100.0).collect::<Vec<_>>(), 0.75, 1.25);
    assert_eq!(called(name, &only("none"), [1, 1, 3], &[1.5, 2.0, 3.0], DType::F32), [1.5, 2.0, 3.0]);
    assert_eq!(called(name, &only("hue"), [1, 2, 1], &[7.0, 9.0], DType::U8), [7.0, 9.0]);
}

/// Changes of brightness and of contrast give the same result in both orders, unless an element is limited in between. This
/// happens in images of 8 bits.
#[test]
fn a_jitter_uses_every_order() {
    let attrs = [("brightness", "0.9"), ("contrast", "0.9"), ("saturation", "0"), ("hue", "0")];
    let image = [0.0, 200.0];
    let limited = |x: f64| x.clamp(0.0, 255.0).trunc();
    let (mut first, mut second) = (0, 0);
    // The same calls draw the same numbers for other types.
    let [exact, limited_results] = [DType::F32, DType::U8]
        .map(|dtype| called_with("_image_random_color_jitter", &attrs, [1, 2, 1], &image, dtype, 0..N));
    for (drawn, found) in exact.into_iter().zip(limited_results) {
        let brightness = (drawn[0] + drawn[1]) / 200.0;
        let contrast = (drawn[1] - drawn[0]) / 200.0 / brightness;
        let bright = |image: [f64; 2]| image.map(|x| limited(x * brightness));
        let contrasted =
            |image: [f64; 2]| image.map(|x| limited(x * contrast + (1.0 - contrast) * (image[0] + image[1]) / 2.0));
        let is = |expected: [f64; 2]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 2.0);
        let orders = [is(contrasted(bright(image))), is(bright(contrasted(image)))];
        assert!(orders[0] || orders[1], "{found:?} from {brightness} and {contrast}");
        first += u32::from(orders == [true, false]);
        second += u32::from(orders == [false, true]);
    }
    assert!(first > 100 && second > 100, "{first} and {second}");
}

#[test]
fn light_moves_along_the_main_directions() {
    let (attrs, name) = ([("alpha_std", "0.5")], "_image_random_lighting");
    let moved = many(name, &attrs, 3, &[100.0, 100.0, 100.0]);
    let directions = [
        [55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
        [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
        [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203],
    ];
    for (channel, direction) in directions.into_iter().enumerate() {
        let shifts: Vec<f64> = moved.iter().map(|x| x[channel] - 100.0).collect();
        let n = shifts.len() as f64;
        let variance = 0.25 * direction.iter().map(|x: &f64| x * x).sum::<f64>();
        let mean = shifts.iter().sum::<f64>() / n;
        assert!(mean.abs() < 6.0 * (variance / n).sqrt(), "mean {mean} of channel {channel}");
        let spread = shifts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        assert!((spread - variance).abs() < 6.0 * variance * (2.0 / n).sqrt(), "variance {spread} of {channel}");
    }
    assert_eq!(called(name, &attrs, [1, 2, 1], &[7.0, 9.0], DType::U8), [7.0, 9.0], "gray stays");
}

#[test]
fn half_of_the_images_are_mirrored() {
    let image: Vec<f64> = (0..18).map(f64::from).collect();
    // Two rows of three columns.
    let mirrored = |is_row: bool| -> Vec<f64> {
        let from = |at: usize| match is_row {
            true => (1 - at / 9) * 9 + at % 9,
            false => at / 9 * 9 + (2 - at % 9 / 3) * 3 + at % 3,
        };
        (0..18).map(|at| image[from(at)]).collect()
    };
    for (name, is_row) in [("_image_random_flip_left_right", false), ("_image_random_flip_top_bottom", true)] {
        for dtype in [DType::F32, DType::U8, DType::I64] {
            let found = called_with(name, &[], [2, 3, 3], &image, dtype, 0..N);
            assert!(found.iter().all(|found| *found == image || *found == mirrored(is_row)), "{name}");
            let n_mirrored = found.iter().filter(|found| **found != image).count() as f64;
            let (expected, n) = (0.5, N as f64);
            assert!((n_mirrored / n - expected).abs() < 6.0 * (0.25 / n).sqrt(), "{name}: {n_mirrored} of {n}");
        }
    }
}

#[test]
fn huge_numbers_end() {
    let far = [("min_factor", "3e38"), ("max_factor", "3e38")];
    for name in ["_image_random_hue", "_image_random_brightness", "_image_random_contrast", "_image_random_saturation"]
    {
        let found = called(name, &far, [1, 1, 3], &[1.0, 2.0, 250.0], DType::U8);
        assert!(found.iter().all(|x| (0.0..=255.0).contains(x)), "{name}: {found:?}");
    }
}

#[test]
fn impossible_calls_are_refused() {
    let ops = mxrs_ops::catalog();
    let infer = |name: &str, attrs: &[(&str, &str)], channels: usize| {
        let op = ops.get(name).expect("an operator");
        let params = op.parse(&attrs.iter().copied().collect::<Attrs>())?;
        let mut inputs = [PartialShape::from(Shape::from([4, 5, channels]))];
        op.infer_shapes(&params, &mut inputs, &mut [PartialShape::unknown()])
    };
    assert_eq!(infer("_image_random_hue", &RANGE, 1), Ok(()));
    let factors = |low, high| vec![("min_factor", low), ("max_factor", high)];
    for (name, attrs, channels, expected) in [
        ("_image_random_hue", factors("0.5", "0.5"), 2, "one or three channels"),
        ("_image_random_flip_left_right", vec![], 4, "one or three channels"),
        ("_image_random_hue", factors("-0.1", "0.5"), 3, "min_factor"),
        ("_image_random_contrast", factors("nan", "0.5"), 3, "min_factor"),
        ("_image_random_brightness", factors("0.5", "0.4"), 3, "max_factor"),
        ("_image_random_saturation", factors("0.5", "inf"), 3, "max_factor"),
        ("_image_random_saturation", vec![("min_factor", "0")], 3, "max_factor"),
        ("_image_adjust_lighting", vec![("alpha", "(1, 2)")], 3, "three finite numbers"),
        ("_image_adjust_lighting", vec![("alpha", "(1, 2, nan)")], 3, "three finite numbers"),
        ("_image_random_lighting", vec![("alpha_std", "-1")], 3, "alpha_std"),
    ] {
        let error = infer(name, &attrs, channels).expect_err(name).to_string();
        assert!(error.contains(expected) && error.contains(name), "{error}");
    }
}
