//! Tests gradients of convolutions against sums of products in double precision: random shapes, every request, every
//! instruction set, and the same bits on any number of threads.

mod copies;
mod gradient_case;
mod problem;

use gradient_case::{Case, Of, STRIDE_1, STRIDED, backends};
use problem::Numbers;

#[test]
fn gradients_of_data_agree_with_double() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    for (backend, team) in [true, false].into_iter().flat_map(|winograd| backends(&[1, 3], winograd)) {
        for window in STRIDE_1 {
            let name = Case::random(&mut numbers, window, (1, 1)).check(Of::Data, &backend, &team, &mut numbers);
            assert!(name.starts_with("nnpack:data_gradient"), "{name}");
            assert!(backend.options().winograd || name.contains("product"), "{name}: without Winograd's");
        }
        for (window, stride) in STRIDED {
            let random = Case::random(&mut numbers, window, stride);
            // A phase consists of the pixels of the data that are one stride apart. With this padding every phase is a
            // convolution; with more, some phases would need negative padding.
            let pad = |window: usize, stride: usize| if stride > 2 { 0 } else { (window - 1) / 2 };
            let pad = (pad(window.0, stride.0), pad(window.1, stride.1));
            let case = Case { c: random.c.max(16), pad, ..random };
            let name = case.check(Of::Data, &backend, &team, &mut numbers);
            assert!(name.contains("phases"), "{name}");
            let few = Case { c: numbers.of([1, 3, 5]), ..case };
            let name = few.check(Of::Data, &backend, &team, &mut numbers);
            assert!(name.contains("joined"), "{name}");
        }
    }
}

#[test]
fn gradients_of_weights_agree_with_double() {
    let mut numbers = Numbers(0x0dd0_5eed_4321_7651);
    for (backend, team) in [true, false].into_iter().flat_map(|winograd| backends(&[1, 3], winograd)) {
        for window in STRIDE_1 {
            let random = Case::random(&mut numbers, window, (1, 1));
            let case = Case { c: random.c.max(16), ..random };
            let name = case.check(Of::Weight, &backend, &team, &mut numbers);
            assert!(name.starts_with("nnpack:weight_gradient"), "{name}");
            assert!(backend.options().winograd || name.contains("pixels"), "{name}: without Winograd's");
        }
        for (window, stride) in STRIDED {
            let random = Case::random(&mut numbers, window, stride);
            let case = Case { c: random.c.max(16), ..random };
            let name = case.check(Of::Weight, &backend, &team, &mut numbers);
            assert!(name.contains("pixels"), "{name}");
        }
    }
}

/// Few input channels, as in the first layer of a network: windows of all widths for which lines are copied by different
/// code, and rows of pixels longer than what is copied at a time.
#[test]
fn gradients_of_weights_of_first_layers_agree_with_double() {
    let mut numbers = Numbers(0x00c0_ffee_4321_1235);
    let windows = [(1, 1), (3, 3), (7, 7), (11, 11), (2, 9), (3, 18)];
    for (backend, team) in backends(&[1, 3], true) {
        for (window, stride) in windows.into_iter().flat_map(|w| [(1, 1), (2, 2), (4, 1)].map(|stride| (w, stride))) {
            let random = Case::random(&mut numbers, window, stride);
            let case = Case { c: numbers.of([1, 3, 4, 15]), ..random };
            let name = case.check(Of::Weight, &backend, &team, &mut numbers);
            assert!(name.contains("patches") || stride != (1, 1) && name.contains("folded"), "{name}");
        }
        // Convolutions for which the pixels within one stride are folded into channels.
        for (window, stride, c) in
            [((7, 7), (2, 2), 3), ((11, 11), (4, 4), 3), ((7, 7), (2, 2), 9), ((9, 3), (3, 1), 5)]
        {
            let pad = (numbers.below(window.0), numbers.below(window.1));
            let random = Case::random(&mut numbers, window, stride);
            // The smallest window is tested with more images than there are parts.
            let (n, k) = if window.1 == 3 { (34, 16) } else { (numbers.of([4, 5]), numbers.of([16, 40, 64])) };
            let case = Case { n, c, k, size: (45, 38), pad, ..random };
            let name = case.check(Of::Weight, &backend, &team, &mut numbers);
            assert!(name.starts_with("nnpack:weight_gradient_folded"), "{case:?} {name}");
        }
        let wide = Case { size: (4, 300), c: 3, pad: (1, 1), ..Case::random(&mut numbers, (3, 3), (1, 1)) };
        wide.check(Of::Weight, &backend, &team, &mut numbers);
    }
}

#[test]
fn gradients_are_the_same_bits_on_any_number_of_threads() {
    let mut numbers = Numbers(0x0bad_cafe_1234_5671);
    for of in [Of::Data, Of::Weight] {
        for (window, stride) in [((1, 1), (1, 1)), ((3, 3), (1, 1)), ((1, 7), (1, 1)), ((7, 7), (2, 2))] {
            // For two of the windows, the gradient of the weights has few input channels, as in a network's first layer.
            let c = if of == Of::Weight && [3, 7].contains(&window.0) { 3 } else { 70 };
            let size = if window == (7, 7) { (45, 38) } else { (17, 19) };
            let case = Case { n: 5, c, k: 100, size, ..Case::random(&mut numbers, window, stride) };
            let [data, weight, ograd] = case.shapes().map(|sizes| sizes.iter().product::<usize>());
            let mut tensor = |n| numbers.tensor(n, 1024);
            let (first, second) = (tensor(ograd), tensor(if of == Of::Data { weight } else { data }));
            let results = [1, 2, 3].map(|threads| {
                let (backend, team) = backends(&[threads], true).pop().expect("one at least");
                case.run(of, (&first, &second), None, &backend, &team).0
            });
            assert!(results[0] == results[1] && results[0] == results[2], "{case:?} {of:?}");
        }
    }
}
