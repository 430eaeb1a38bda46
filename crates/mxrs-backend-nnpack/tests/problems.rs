//! Tests random convolutions, with every kind of epilogue, against a sum of products in double precision.

mod cases;
mod copies;
mod problem;

use cases::Case;
use mxrs_backend_nnpack::{Accuracy, Nnpack, NnpackOptions, Weights};
use mxrs_op::{Attrs, Backend, OpCall, TensorDesc};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_testkit::conformance::team;
use mxrs_types::DType;
use problem::Numbers;

#[test]
fn random_problems_agree_with_double_precision() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    for threads in [1, 3] {
        let team = team(threads);
        for isa in Isa::available() {
            let backend =
                Nnpack::new(&team, NnpackOptions { isa, winograd: false, fourier: false, ..NnpackOptions::default() });
            for _ in 0..40 {
                Case::random(&mut numbers).check(&backend, &team, &mut numbers);
            }
        }
    }
}

#[test]
fn weights_kept_as_bfloat16_are_those_rounded_and_nothing_else_is() {
    let mut numbers = Numbers(0x0dd0_5eed_4321_7651);
    for threads in [1, 3] {
        let team = team(threads);
        for isa in Isa::available() {
            let weights = Weights::Bfloat16;
            let options = NnpackOptions { isa, weights, winograd: false, fourier: false, ..NnpackOptions::default() };
            let backend = Nnpack::new(&team, options);
            for window in [(1, 1), (3, 3), (2, 3)] {
                for _ in 0..6 {
                    let random = Case::random(&mut numbers);
                    // The outputs have at most 64 pixels, so that memory bandwidth for weights limits the convolution.
                    // Some cases have more channels than one product sums at a time.
                    let (c, k) = (numbers.of([16, 70, 1100]), numbers.of([3, 32, 40, 100]));
                    let size = (window.0 + numbers.below(7), window.1 + numbers.below(7));
                    let case = Case { n: 1, c, k, size, window, pad: (0, 0), ..random };
                    case.check(&backend, &team, &mut numbers);
                }
            }
        }
    }
}

#[test]
fn random_problems_of_bfloat16_round_once() {
    let mut numbers = Numbers(0x0bad_cafe_1234_5671);
    for threads in [1, 3] {
        let team = team(threads);
        for isa in Isa::available() {
            // Allow the largest tiles.
            let accuracy = Accuracy::Loose;
            let backend = Nnpack::new(&team, NnpackOptions { isa, accuracy, ..NnpackOptions::default() });
            for window in [(3, 3), (1, 7), (7, 1), (5, 5), (1, 3), (3, 1)] {
                for _ in 0..2 {
                    let random = Case::random(&mut numbers);
                    let (c, k) = (numbers.of([16, 48, 64]), numbers.of([16, 32, 80]));
                    let size = (window.0 + numbers.below(20), window.1 + numbers.below(40));
                    let pad = (numbers.below(window.0), numbers.below(window.1));
                    let act = numbers.of(["none", "relu", "clip"]);
                    let case = Case { c, k, size, window, pad, act, stride: (1, 1), dtype: DType::BF16, ..random };
                    case.check(&backend, &team, &mut numbers);
                }
            }
        }
    }
}

/// Without 512-bit instructions there are no instructions for bfloat16. Then only Winograd's algorithms, which compute in
/// float32, take bfloat16 data.
#[test]
fn bfloat16_is_taken_where_winograd_fits_only_on_narrow_instructions() {
    let isa = Isa::available().into_iter().rfind(|isa| isa.name() != "avx512").expect("the portable set");
    let ops = mxrs_ops::catalog();
    let op = ops.get("Convolution").expect("it is in the catalog");
    let says = |c: usize, k: usize, window: usize, stride: usize, winograd: bool| {
        let options = NnpackOptions { winograd, isa, ..NnpackOptions::default() };
        let backend = Nnpack::new(&Team::serial(), options);
        let k_word = k.to_string();
        let (window_word, stride_word) = (format!("({window}, {window})"), format!("({stride}, {stride})"));
        let attrs =
            [("kernel", window_word.as_str()), ("stride", &stride_word), ("num_filter", &k_word), ("no_bias", "True")];
        let params = op.parse(&Attrs::from(attrs)).expect("the attributes are right");
        let out = (20 - window) / stride + 1;
        let desc = |sizes: &[usize]| TensorDesc::dense(sizes, DType::BF16);
        let inputs = [desc(&[1, c, 20, 20]), desc(&[k, c, window, window])];
        let outputs = [desc(&[1, k, out, out])];
        let is_constant = [false, true];
        let call = OpCall {
            op,
            params: &params,
            inputs: &inputs,
            outputs: &outputs,
            is_constant: &is_constant,
            is_train: false,
        };
        backend.offer(&call).map(|_| ())
    };
    assert_eq!(says(32, 32, 3, 1, true), Ok(()));
    for (c, k, window, stride, winograd) in
        [(32, 32, 3, 2, true), (32, 32, 1, 1, true), (24, 32, 3, 1, true), (32, 24, 3, 1, true), (32, 32, 3, 1, false)]
    {
        let reason = says(c, k, window, stride, winograd).unwrap_err();
        assert!(reason.contains("bfloat16"), "{reason}");
    }
}

#[test]
fn long_sums_in_parts_agree_with_double_precision() {
    // Sums over more channels than one product takes, on images of few pixels. The tensor that is added is in separate
    // memory or in that of the output.
    let mut numbers = Numbers(77);
    let (team, plain) = (team(2), Case::random(&mut Numbers(5)));
    let options = NnpackOptions { winograd: false, fourier: false, ..NnpackOptions::default() };
    let backend = Nnpack::new(&team, options);
    for (c, window) in [(1000, (1, 1)), (160, (3, 3)), (160, (5, 5))] {
        let pad = (window.0 / 2, window.1 / 2);
        let case = Case { n: 2, c, k: 48, size: (5, 5), window, stride: (1, 1), pad, sum: true, ..plain };
        for act in ["none", "relu", "clip"] {
            Case { act, ..case }.check(&backend, &team, &mut numbers);
            Case { act, stride: (2, 2), sum: false, bias: true, ..case }.check(&backend, &team, &mut numbers);
        }
    }
}

#[test]
fn winograd_agrees_with_double_precision() {
    let mut numbers = Numbers(99);
    for (threads, accuracy) in [(1, Accuracy::Close), (3, Accuracy::Loose)] {
        let team = team(threads);
        for isa in Isa::available() {
            let backend = Nnpack::new(&team, NnpackOptions { isa, accuracy, ..NnpackOptions::default() });
            for _ in 0..10 {
                let case = Case::random(&mut numbers);
                let (c, pad) = (16 + numbers.below(60), (numbers.below(2), numbers.below(3)));
                let window = numbers.of([(3, 3), (5, 5), (1, 3), (3, 1), (1, 7), (7, 1)]);
                let case = Case { c, window, stride: (1, 1), pad, size: (7 + c / 4, 8 + c % 11), ..case };
                case.check(&backend, &team, &mut numbers);
            }
        }
    }
}

/// Every algorithm that tuning may choose computes the same result.
#[test]
fn every_way_is_the_same_convolution() {
    let team = team(2);
    let backend = Nnpack::new(&team, NnpackOptions { accuracy: Accuracy::Loose, ..NnpackOptions::default() });
    let mut numbers = Numbers(0x3c6e_f372);
    let case = |c: usize, k: usize, size: usize, window: (usize, usize)| Case {
        n: 2,
        c,
        k,
        size: (size, size + 1),
        window,
        stride: (1, 1),
        pad: (window.0 / 2, window.1 / 2),
        bias: true,
        sum: true,
        act: "relu",
        dtype: DType::F32,
    };
    for case in [case(32, 80, 15, (3, 3)), case(20, 40, 9, (5, 5)), case(48, 32, 12, (1, 7)), case(3, 20, 11, (3, 3))] {
        case.check_algorithms(&backend, &team, &mut numbers, <[String]>::to_vec);
    }
}

/// Names that are unknown, or that the settings forbid, are refused.
#[test]
fn other_ways_are_refused() {
    let team = Team::serial();
    let ops = mxrs_ops::catalog();
    let op = ops.get("Convolution").unwrap();
    let attrs = [("kernel", "(3, 3)"), ("num_filter", "32"), ("no_bias", "True")];
    let params = op.parse(&Attrs::from(attrs)).unwrap();
    let dense = |sizes: &[usize]| TensorDesc::dense(sizes, DType::F32);
    let (inputs, outputs) = ([dense(&[1, 32, 8, 8]), dense(&[32, 32, 3, 3])], [dense(&[1, 32, 6, 6])]);
    let is_constant = &[false, true];
    let call = OpCall { op, params: &params, inputs: &inputs, outputs: &outputs, is_constant, is_train: false };
    let with = |winograd| Nnpack::new(&team, NnpackOptions { winograd, ..NnpackOptions::default() });
    let is_there = |winograd, way: &str| with(winograd).plan_algorithm(&call, way).is_ok();
    assert!(is_there(true, "f4x4_3x3@1") && is_there(true, "product@1") && is_there(true, "default"));
    assert!(!is_there(false, "f4x4_3x3@1") && is_there(false, "product@1"));
    assert!(with(false).algorithms(&call).iter().all(|way| way.starts_with("product@")));
    // Names with too many threads, of a too inaccurate variant, for another window, for few channels, and for another
    // operator; and the empty name.
    for way in ["product@2", "f6x6_3x3@1", "f4x4_5x5@1", "taps@1", "dense@1", ""] {
        assert!(!is_there(true, way), "{way}");
    }
}

#[test]
fn fourier_transforms_agree_with_double_precision() {
    let mut numbers = Numbers(0x0f0f_1234_5678_9abd);
    for threads in [1, 3] {
        let team = team(threads);
        for isa in Isa::available() {
            // Winograd's algorithms, which round more, are not allowed.
            let backend = Nnpack::new(&team, NnpackOptions { isa, winograd: false, ..NnpackOptions::default() });
            for tile in ["fft8x8", "fft16x16"] {
                let most = if tile == "fft8x8" { 5 } else { 11 };
                for _ in 0..8 {
                    let random = Case::random(&mut numbers);
                    let (long, short) = (3 + numbers.below(most - 2), 1 + numbers.below(most));
                    let window = if numbers.below(2) == 0 { (long, short) } else { (short, long) };
                    // Any padding, including more than the window allows for gradients.
                    let pad = (numbers.below(window.0 + 2), numbers.below(window.1 + 2));
                    let size = (window.0 + numbers.below(14), window.1 + numbers.below(24));
                    let case = Case { n: 1 + numbers.below(2), c: 16 + numbers.below(24), window, pad, size, ..random };
                    let case = Case { stride: (1, 1), k: numbers.of([3, 40, 64]), ..case };
                    let way = format!("{tile}/{}/{}x{}@{threads}", numbers.of(["each", "together"]), 5, 1);
                    case.check_algorithm(&backend, &team, &mut numbers, &way);
                    case.check_algorithm(&backend, &team, &mut numbers, &format!("{tile}@{threads}"));
                }
            }
        }
    }
}
