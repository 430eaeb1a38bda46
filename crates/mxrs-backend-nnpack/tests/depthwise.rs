//! Tests gradients of depthwise convolutions against the reference kernels: strides, dilation, padding, blocks that are not
//! whole, and the same bits on any number of threads.

mod common;
mod copies;

use common::{backends, check};
use mxrs_op::Sample;

/// Images, channels, size of the data; window, stride, padding and dilation.
type Case = ([usize; 4], [[usize; 2]; 4]);

const CASES: [Case; 8] = [
    ([2, 32, 14, 17], [[3, 3], [1, 1], [1, 1], [1, 1]]),
    ([3, 20, 15, 12], [[3, 3], [2, 2], [1, 1], [1, 1]]),
    ([1, 16, 9, 30], [[5, 5], [1, 2], [2, 2], [1, 1]]),
    ([2, 3, 11, 13], [[7, 7], [3, 3], [3, 3], [1, 1]]),
    ([1, 17, 12, 12], [[3, 3], [1, 1], [2, 2], [2, 2]]),
    ([2, 16, 5, 6], [[2, 5], [2, 1], [0, 2], [1, 2]]),
    ([1, 48, 1, 1], [[3, 3], [1, 1], [1, 1], [1, 1]]),
    ([1, 16, 8, 8], [[1, 1], [4, 3], [0, 0], [1, 1]]),
];

fn samples(([n, c, h, w], [window, stride, pad, dilate]): Case) -> [Sample; 2] {
    let along =
        |axis: usize, size: usize| (size + 2 * pad[axis] - (window[axis] - 1) * dilate[axis] - 1) / stride[axis] + 1;
    let data: &[usize] = &[n, c, h, w];
    let weight: &[usize] = &[c, 1, window[0], window[1]];
    let ograd: &[usize] = &[n, c, along(0, h), along(1, w)];
    let pair = |[a, b]: [usize; 2]| format!("({a}, {b})");
    let channels = c.to_string();
    let texts = [window, stride, pad, dilate].map(pair);
    let attrs = [
        ("kernel", texts[0].as_str()),
        ("stride", &texts[1]),
        ("pad", &texts[2]),
        ("dilate", &texts[3]),
        ("num_filter", &channels),
        ("num_group", &channels),
        ("no_bias", "True"),
    ];
    let sample = |inputs: &[&[usize]]| Sample { is_train: true, ..Sample::new("depthwise", attrs, inputs) };
    [sample(&[ograd, weight, data]), sample(&[ograd, data, weight])]
}

#[test]
fn gradients_agree_with_the_reference() {
    for (backend, team) in backends() {
        for case in CASES {
            let [of_data, of_weight] = samples(case);
            let what = check("_backward_Convolution_data", &of_data, &backend, &team);
            assert!(what.starts_with("nnpack:data_gradient_depthwise"), "{what}");
            let what = check("_backward_Convolution_weight", &of_weight, &backend, &team);
            assert!(what.starts_with("nnpack:weight_gradient_depthwise"), "{what}");
        }
    }
}
