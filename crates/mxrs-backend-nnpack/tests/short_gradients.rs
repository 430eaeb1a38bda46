//! Tests gradients of convolutions in bfloat16 against sums of products in double precision: random shapes, every request, and
//! the same bits on any number of threads.

mod copies;
mod gradient_case;
mod problem;

use gradient_case::{Case, Of, STRIDE_1, STRIDED, backends};
use mxrs_processor::{Isa, MatrixUnits};
use problem::Numbers;

/// Products of bfloat16 are summed in float32: the gradient of the data is rounded once, that of the weights not at
/// all.
#[test]
fn gradients_of_short_factors_agree_with_double() {
    let mut numbers = Numbers(0x5150_1234_0dd0_cafe);
    for (backend, team) in backends(&[1, 3], true) {
        for (window, of) in [(3, 3), (5, 5), (1, 7)].into_iter().flat_map(|w| [Of::Data, Of::Weight].map(|of| (w, of)))
        {
            let random = Case::random(&mut numbers, window, (1, 1));
            let case = Case { c: numbers.of([16, 32, 80]), k: numbers.of([16, 48, 64]), is_bf16: true, ..random };
            let name = case.check(of, &backend, &team, &mut numbers);
            let is_best = backend.options().isa == Isa::best() && MatrixUnits::request().is_some();
            assert!(name.contains(if is_best { "gradient_bf16" } else { "gradient_f" }), "{name}");
        }
    }
}

/// Matrix units: every window and stride, few and many channels, and several strips and parts of pixels.
#[test]
fn gradients_on_matrix_units_agree_with_double() {
    if MatrixUnits::request().is_none() {
        eprintln!("skipped: needs matrix units");
        return;
    }
    let mut numbers = Numbers(0x7eed_1234_0dd0_cafe);
    let mut check = |case: Case| {
        let case = Case { is_bf16: true, ..case };
        for of in [Of::Data, Of::Weight] {
            let mut names = [1, 3].into_iter().map(|threads| {
                let (backend, team) = backends(&[threads], true).pop().expect("one at least");
                case.check(of, &backend, &team, &mut numbers)
            });
            assert!(names.all(|name| name.contains("gradient_bf16")), "{case:?}");
        }
    };
    let mut random = Numbers(0x1357_9bdf_2468_ace1);
    for (window, stride) in STRIDE_1.map(|window| (window, (1, 1))).into_iter().chain(STRIDED) {
        for _ in 0..3 {
            check(Case::random(&mut random, window, stride));
        }
    }
    let plain = |n, c, k, size, window, stride, pad| Case { n, c, k, size, window, stride, pad, is_bf16: true };
    check(plain(9, 64, 40, (7, 7), (3, 3), (1, 1), (1, 1)));
    check(plain(3, 40, 64, (28, 28), (1, 1), (1, 1), (0, 0)));
    check(plain(5, 33, 16, (15, 14), (1, 1), (2, 2), (0, 0)));
    check(plain(2, 3, 32, (45, 38), (7, 7), (2, 2), (3, 3)));
    check(plain(2, 32, 16, (40, 44), (3, 3), (1, 1), (1, 1)));
    check(plain(1, 192, 224, (6, 6), (3, 3), (1, 1), (1, 1)));
    check(plain(2, 16, 16, (9, 10), (3, 3), (2, 2), (0, 0)));
}

#[test]
fn gradients_on_matrix_units_are_the_same_bits_on_any_number_of_threads() {
    if MatrixUnits::request().is_none() {
        eprintln!("skipped: needs matrix units");
        return;
    }
    let mut numbers = Numbers(0x0bad_cafe_1234_5671);
    for (window, stride, c) in [((1, 1), (1, 1), 70), ((3, 3), (1, 1), 40), ((3, 3), (2, 2), 40), ((7, 7), (2, 2), 3)] {
        let random = Case::random(&mut numbers, window, stride);
        let case = Case { n: 5, c, k: 100, size: (37, 39), is_bf16: true, ..random };
        for of in [Of::Data, Of::Weight] {
            let [data, weight, ograd] = case.shapes().map(|sizes| sizes.iter().product::<usize>());
            let mut tensor = |n| numbers.tensor(n, 64);
            let (first, second) = (tensor(ograd), tensor(if of == Of::Data { weight } else { data }));
            let results = [1, 2, 3].map(|threads| {
                let (backend, team) = backends(&[threads], true).pop().expect("one at least");
                case.run(of, (&first, &second), None, &backend, &team).0
            });
            assert!(results[0] == results[1] && results[0] == results[2], "{case:?} {of:?}");
        }
    }
}
