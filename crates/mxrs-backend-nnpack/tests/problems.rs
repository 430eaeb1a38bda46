//! Tests random convolutions, with every kind of epilogue, against a sum of products in double precision.

mod copies;
mod problem;

use copies::copy;
use half::bf16;
use mxrs_backend_nnpack::{Accuracy, Nnpack, NnpackOptions, Weights};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, PlannedKernel, RawTensor, ReferenceBackend, TensorDesc};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::{check_images_apart, team};
use mxrs_types::{DType, WriteReq};
use problem::{Numbers, Window};

/// A convolution with its epilogue.
#[derive(Clone, Copy, Debug)]
struct Case {
    n: usize,
    c: usize,
    k: usize,
    size: (usize, usize),
    window: (usize, usize),
    stride: (usize, usize),
    pad: (usize, usize),
    bias: bool,
    sum: bool,
    act: &'static str,
    dtype: DType,
}

impl Case {
    fn random(numbers: &mut Numbers) -> Self {
        let window = numbers.of([(1, 1), (3, 3), (1, 7), (7, 1), (5, 5), (2, 3), (7, 7)]);
        Self {
            n: 1 + numbers.below(3),
            c: numbers.of([1, 3, 4, 16, 20, 32, 70]),
            k: numbers.of([3, 16, 32, 40, 64, 100]),
            size: (window.0 + numbers.below(14), window.1 + numbers.below(18)),
            window,
            stride: (1 + numbers.below(3), 1 + numbers.below(4)),
            pad: (numbers.below(window.0 + 1), numbers.below(window.1 + 1)),
            bias: numbers.below(2) == 0,
            sum: numbers.below(3) == 0,
            act: numbers.of(["none", "relu", "clip"]),
            dtype: DType::F32,
        }
    }

    fn window(&self) -> Window {
        Window { size: self.window, stride: self.stride, pad: self.pad }
    }

    fn out_size(&self) -> (usize, usize) {
        self.window().out_size(self.size)
    }

    fn attrs(&self) -> Attrs {
        let word = |flag: bool| if flag { "True" } else { "False" };
        let mut attrs = self.window().attrs(self.k);
        let more = [("no_bias", word(!self.bias)), ("with_sum", word(self.sum)), ("act", self.act)];
        for (key, value) in more.into_iter().chain([("a_min", "-0.5"), ("a_max", "0.75")]) {
            attrs.set(key, value);
        }
        attrs
    }

    fn expected(&self, data: &[f64], weight: &[f64], bias: Option<&[f64]>, sum: Option<&[f64]>) -> Vec<f64> {
        let ((h, w), (kh, kw), (oh, ow)) = (self.size, self.window, self.out_size());
        let mut out = vec![0.0; self.n * self.k * oh * ow];
        for (at, y) in out.iter_mut().enumerate() {
            let (x, rest) = (at % ow, at / ow);
            let (row, rest) = (rest % oh, rest / oh);
            let (k, n) = (rest % self.k, rest / self.k);
            for c in 0..self.c {
                for ky in 0..kh {
                    for kx in 0..kw {
                        let iy = (row * self.stride.0 + ky).wrapping_sub(self.pad.0);
                        let ix = (x * self.stride.1 + kx).wrapping_sub(self.pad.1);
                        if iy < h && ix < w {
                            *y += data[((n * self.c + c) * h + iy) * w + ix]
                                * weight[((k * self.c + c) * kh + ky) * kw + kx];
                        }
                    }
                }
            }
            *y += bias.map_or(0.0, |bias| bias[k]) + sum.map_or(0.0, |sum| sum[at]);
            *y = match self.act {
                "relu" => y.max(0.0),
                "clip" => y.clamp(-0.5, 0.75),
                _ => *y,
            };
        }
        out
    }

    /// Runs the case with separate memory for the output, and in the memory of the sum. Compares the results with the
    /// expected ones.
    fn check(&self, backend: &Nnpack, team: &Team, numbers: &mut Numbers) {
        self.check_algorithms(backend, team, numbers, |ways| ways[..1].to_vec());
    }

    /// Checks the case with the algorithm named `way`.
    fn check_algorithm(&self, backend: &Nnpack, team: &Team, numbers: &mut Numbers, way: &str) {
        self.check_algorithms(backend, team, numbers, |_| vec![way.to_owned()]);
    }

    /// Checks the case with the algorithms that `choose` selects from those offered. The first one offered must be the
    /// backend's own choice.
    fn check_algorithms(
        &self,
        backend: &Nnpack,
        team: &Team,
        numbers: &mut Numbers,
        choose: impl Fn(&[String]) -> Vec<String>,
    ) {
        let ops = mxrs_ops::catalog();
        let op = ops.get("_sg_conv").expect("it is in the catalog");
        let params = op.parse(&self.attrs()).expect("the attributes are right");
        let (oh, ow) = self.out_size();
        let dense = |sizes: &[usize]| TensorDesc::dense(sizes, self.dtype);
        let out = dense(&[self.n, self.k, oh, ow]);
        let mut inputs = vec![
            dense(&[self.n, self.c, self.size.0, self.size.1]),
            dense(&[self.k, self.c, self.window.0, self.window.1]),
        ];
        inputs.extend(self.bias.then(|| dense(&[self.k])));
        inputs.extend(self.sum.then(|| out.clone()));
        let exact = |x: Vec<f64>| AlignedBuffer::from_f64(&x, self.dtype).to_f64(self.dtype);
        let data: Vec<Vec<f64>> =
            inputs.iter().map(|desc| exact(numbers.tensor(desc.shape.n_elements(), 1024))).collect();
        let bias = self.bias.then(|| &data[2][..]);
        let sum = self.sum.then(|| &data[inputs.len() - 1][..]);
        let weights: Vec<f64> = match backend.options().weights {
            Weights::Float32 => data[1].clone(),
            Weights::Bfloat16 => data[1].iter().map(|x| bf16::from_f64(*x).to_f64()).collect(),
        };
        let expected = self.expected(&data[0], &weights, bias, sum);

        let is_constant = vec![true; inputs.len()];
        let outputs = [out.clone()];
        let call = OpCall {
            op,
            params: &params,
            inputs: &inputs,
            outputs: &outputs,
            is_constant: &is_constant,
            is_train: false,
        };
        let offer = backend.offer(&call).unwrap_or_else(|reason| panic!("{self:?}: {reason}"));
        let slow = ReferenceBackend.offer(&call).expect("there is a reference kernel");
        assert!(offer.seconds() < slow.seconds(), "{self:?}: {offer:?} compared to {slow:?}");
        let ways = backend.algorithms(&call);
        let own = offer.build().expect("it is built");
        let first = backend.plan_algorithm(&call, &ways[0]).expect("it is one of its ways");
        assert_eq!(own.kernel.name(), first.kernel.name(), "{self:?}: the first way is that of its own choice");
        for way in &choose(&ways) {
            let planned = backend.plan_algorithm(&call, way).expect("it is one of its ways");
            let laid_out: Vec<AlignedBuffer> = inputs
                .iter()
                .zip(&planned.input_layouts)
                .zip(&data)
                .map(|((desc, layout), data)| {
                    let to = desc.with_layout(layout.clone());
                    copy(backend, &AlignedBuffer::from_f64(data, self.dtype), desc, &to, team)
                })
                .collect();
            let blocked = out.with_layout(planned.output_layouts[0].clone());
            for in_place in [false, true] {
                if in_place && !planned.can_run_inplace {
                    continue;
                }
                let mut result = AlignedBuffer::poisoned(blocked.size_bytes());
                if in_place {
                    result = laid_out[inputs.len() - 1].clone();
                }
                run(&planned, &laid_out, &mut result, in_place, team);
                if !in_place {
                    let is_apart = check_images_apart(&planned, &laid_out, (&blocked, &result), team)
                        .unwrap_or_else(|e| panic!("{self:?} {way}: {e}"));
                    let has_blocks = self.dtype == DType::F32 && self.c >= 16;
                    assert_eq!(is_apart, has_blocks, "{self:?} {way}: whether images may lie apart");
                }
                assert!(result.guard_is_intact(), "{self:?} {way}");
                let padding_is_zero =
                    self.dtype != DType::F32 || padding(&result, [self.n, self.k, oh, ow]).all(|x| x == 0.0);
                assert!(padding_is_zero, "{self:?} {way}: channels of padding are not 0");
                let got = copy(backend, &result, &blocked, &out, team).to_f64(self.dtype);
                let terms = (self.c * self.window.0 * self.window.1) as f64;
                // Products of numbers in -1..1 have a variance of a ninth; the largest sums are about four standard
                // deviations.
                let bound = 4e-7 * (terms + 8.0) + relative(backend.options()) * 4.0 * (terms / 9.0).sqrt();
                for (at, (got, want)) in got.iter().zip(&expected).enumerate() {
                    let error = (got - want).abs();
                    // Rounding to bfloat16 changes a value by at most half a unit of the last of its 8 binary digits.
                    let rounding = if self.dtype == DType::BF16 { want.abs() / 256.0 } else { 0.0 };
                    assert!(
                        error <= bound + rounding,
                        "{self:?} {way}, in place {in_place}: [{at}] {got}, expected {want}"
                    );
                }
            }
        }
    }
}

/// The additional error, relative to the largest output, that the settings allow.
fn relative(options: &NnpackOptions) -> f64 {
    match options.accuracy {
        _ if !options.winograd && !options.fourier => 0.0,
        _ if !options.winograd => 1e-6,
        Accuracy::Close => 8e-6,
        Accuracy::Loose => 5e-5,
    }
}

fn run(planned: &PlannedKernel, inputs: &[AlignedBuffer], out: &mut AlignedBuffer, in_place: bool, team: &Team) {
    let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
    let out = RawTensor::from_mut_slice(out.bytes_mut());
    let mut raw: Vec<RawTensor<'_>> = inputs.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
    if in_place {
        *raw.last_mut().expect("a sum") = out;
    }
    let req = if in_place { WriteReq::Inplace } else { WriteReq::Write };
    let args = KernelArgs {
        inputs: &raw,
        outputs: &[out],
        reqs: &[req],
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team,
        random: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
    assert!(scratch.guard_is_intact(), "wrote behind the scratch memory");
}

/// The values of a tensor in blocks of channels that belong to padding channels.
fn padding(blocked: &AlignedBuffer, [n, k, h, w]: [usize; 4]) -> impl Iterator<Item = f64> {
    let (values, blocks) = (blocked.to_f64(DType::F32), k.div_ceil(16));
    assert_eq!(values.len(), n * blocks * h * w * 16);
    values.into_iter().enumerate().filter_map(move |(at, x)| {
        let channel = at / (16 * h * w) % blocks * 16 + at % 16;
        (channel >= k).then_some(x)
    })
}

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
                    let case = Case { c, k, size, window, pad, stride: (1, 1), dtype: DType::BF16, ..random };
                    case.check(&backend, &team, &mut numbers);
                }
            }
        }
    }
}

#[test]
fn bfloat16_is_taken_where_winograd_fits_only() {
    let ops = mxrs_ops::catalog();
    let op = ops.get("Convolution").expect("it is in the catalog");
    let says = |c: usize, k: usize, window: usize, stride: usize, winograd: bool| {
        let backend = Nnpack::new(&Team::serial(), NnpackOptions { winograd, ..NnpackOptions::default() });
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
    // More steps than one product has, on images of few pixels, with a sum in separate memory and in place.
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
