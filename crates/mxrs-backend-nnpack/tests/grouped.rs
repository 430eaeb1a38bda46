//! Tests convolutions in groups and with dilation, and their gradients, against the reference kernels: groups that fill
//! blocks and groups that do not, strides, padding, windows, and the same bits on any number of threads.

mod common;
mod copies;

use common::{backends, check};
use mxrs_backend_nnpack::Nnpack;
use mxrs_op::Sample;
use mxrs_sync::Team;

/// A generator of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % n as u64) as usize
    }

    /// One of these values.
    fn of<T: Copy, const N: usize>(&mut self, values: [T; N]) -> T {
        values[self.below(N)]
    }
}

/// Images and groups; input and output channels of each group; size of the data; window, stride, padding and dilation.
#[derive(Clone, Copy, Debug)]
struct Case {
    n: usize,
    groups: usize,
    channels: [usize; 2],
    size: [usize; 2],
    window: [usize; 2],
    stride: [usize; 2],
    pad: [usize; 2],
    dilate: [usize; 2],
}

impl Case {
    fn random(numbers: &mut Numbers, groups: usize, channels: [usize; 2]) -> Self {
        let pair = |numbers: &mut Numbers, values: [usize; 4]| [0, 1].map(|_| numbers.of(values));
        let (window, dilate) = (pair(numbers, [1, 3, 3, 4]), pair(numbers, [1, 1, 2, 3]));
        // A window reaches this many pixels beyond its first one.
        let reach = [0, 1].map(|i| (window[i] - 1) * dilate[i]);
        Self {
            n: 1 + numbers.below(3),
            groups,
            channels,
            size: reach.map(|reach| reach + 1 + numbers.below(9)),
            window,
            stride: pair(numbers, [1, 1, 2, 3]),
            pad: reach.map(|reach| numbers.below(reach + 1) / 2),
            dilate,
        }
    }

    /// The samples of the convolution, of the gradient of the data, and of that of the weights.
    fn samples(&self) -> [Sample; 3] {
        let Self { n, groups, channels: [c, k], size, window, stride, pad, dilate } = *self;
        let out = [0, 1].map(|i| (size[i] + 2 * pad[i] - (window[i] - 1) * dilate[i] - 1) / stride[i] + 1);
        let data: &[usize] = &[n, groups * c, size[0], size[1]];
        let weight: &[usize] = &[groups * k, c, window[0], window[1]];
        let ograd: &[usize] = &[n, groups * k, out[0], out[1]];
        let pair = |[a, b]: [usize; 2]| format!("({a}, {b})");
        let (filters, groups, texts) =
            ((groups * k).to_string(), groups.to_string(), [window, stride, pad, dilate].map(pair));
        let attrs = [
            ("kernel", texts[0].as_str()),
            ("stride", &texts[1]),
            ("pad", &texts[2]),
            ("dilate", &texts[3]),
            ("num_filter", &filters),
            ("num_group", &groups),
            ("no_bias", "True"),
        ];
        let sample = |inputs: &[&[usize]]| Sample { is_train: true, ..Sample::new("grouped", attrs, inputs) };
        [sample(&[data, weight]), sample(&[ograd, weight, data]), sample(&[ograd, data, weight])]
    }

    fn check(&self, (backend, team): (&Nnpack, &Team), names: [&str; 2]) {
        let [forward, of_data, of_weight] = self.samples();
        let what = check("Convolution", &forward, backend, team);
        assert!(what.starts_with("nnpack:"), "{self:?} {what}");
        let what = check("_backward_Convolution_data", &of_data, backend, team);
        assert!(what.starts_with("nnpack:data_gradient") && what.contains(names[0]), "{self:?} {what}");
        let what = check("_backward_Convolution_weight", &of_weight, backend, team);
        assert!(what.starts_with("nnpack:weight_gradient") && what.contains(names[1]), "{self:?} {what}");
    }
}

/// Groups of ResNeXt, which are merged; groups of a whole block; groups that fill no block; and more output than input
/// channels of each group.
const GROUPS: [(usize, [usize; 2]); 9] = [
    (32, [4, 4]),
    (32, [8, 8]),
    (2, [16, 32]),
    (2, [48, 16]),
    (3, [5, 7]),
    (2, [24, 24]),
    (16, [1, 2]),
    (8, [2, 2]),
    (5, [20, 3]),
];

#[test]
fn grouped_convolutions_and_their_gradients_agree_with_the_reference() {
    let mut numbers = Numbers(0x9abc_def1_2468_1357);
    for (backend, team) in &backends() {
        for (groups, channels) in GROUPS {
            Case::random(&mut numbers, groups, channels).check((backend, team), ["groups", "groups"]);
        }
        // The 3x3 window of ResNeXt, with both strides.
        let next = Case {
            n: 2,
            size: [9, 10],
            window: [3; 2],
            pad: [1; 2],
            dilate: [1; 2],
            ..Case::random(&mut numbers, 32, [4, 4])
        };
        for stride in [1, 2] {
            Case { stride: [stride; 2], ..next }.check((backend, team), ["groups", "groups"]);
        }
    }
}

#[test]
fn dilated_convolutions_and_their_gradients_agree_with_the_reference() {
    let mut numbers = Numbers(0x1357_9bdf_2468_ace1);
    for (backend, team) in &backends() {
        for channels in [[16, 16], [20, 40], [64, 16], [3, 16], [32, 5], [2, 3]] {
            let random = Case::random(&mut numbers, 1, channels);
            let dilate = numbers.of([[2, 2], [1, 3], [4, 2]]);
            let reach = [0, 1].map(|i| (random.window[i] - 1) * dilate[i]);
            let size = reach.map(|reach| reach + 1 + numbers.below(8));
            Case { dilate, size, pad: reach.map(|reach| reach / 2), ..random }.check((backend, team), ["phases", ""]);
        }
    }
}

/// Convolutions whose gradient of the data has fewer than 16 input or output channels.
#[test]
fn gradients_of_few_channels_agree_with_the_reference() {
    let mut numbers = Numbers(0x2222_1111_4444_3333);
    for (backend, team) in &backends() {
        for channels in [[3, 5], [8, 8], [20, 6], [1, 1], [6, 16]] {
            let case = Case { dilate: [1; 2], ..Case::random(&mut numbers, 1, channels) };
            Case { pad: case.window.map(|size| (size - 1) / 2), size: [11, 9], ..case }
                .check((backend, team), ["", ""]);
        }
    }
}
