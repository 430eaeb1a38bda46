//! A convolution of a test, how it is run, and how its result is compared with sums in double precision.

use crate::copies::copy;
use crate::problem::{Numbers, Window};
use half::bf16;
use mxrs_backend_nnpack::{Accuracy, Nnpack, NnpackOptions, Weights};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, PlannedKernel, RawTensor, ReferenceBackend, TensorDesc};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::check_images_apart;
use mxrs_types::{DType, WriteReq};

/// A convolution with its epilogue.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub n: usize,
    pub c: usize,
    pub k: usize,
    pub size: (usize, usize),
    pub window: (usize, usize),
    pub stride: (usize, usize),
    pub pad: (usize, usize),
    pub bias: bool,
    pub sum: bool,
    pub act: &'static str,
    pub dtype: DType,
}

impl Case {
    pub fn random(numbers: &mut Numbers) -> Self {
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
            act: numbers.of(["none", "relu", "clip", "sigmoid", "silu", "hard_sigmoid", "hard_swish"]),
            dtype: DType::F32,
        }
    }

    pub fn window(&self) -> Window {
        Window { size: self.window, stride: self.stride, pad: self.pad }
    }

    pub fn out_size(&self) -> (usize, usize) {
        self.window().out_size(self.size)
    }

    pub fn attrs(&self) -> Attrs {
        let word = |flag: bool| if flag { "True" } else { "False" };
        let mut attrs = self.window().attrs(self.k);
        let more = [("no_bias", word(!self.bias)), ("with_sum", word(self.sum)), ("act", self.act)];
        for (key, value) in more.into_iter().chain([("a_min", "-0.5"), ("a_max", "0.75")]) {
            attrs.set(key, value);
        }
        attrs
    }

    pub fn expected(&self, data: &[f64], weight: &[f64], bias: Option<&[f64]>, sum: Option<&[f64]>) -> Vec<f64> {
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
                "sigmoid" => 1.0 / (1.0 + (-*y).exp()),
                "silu" => *y / (1.0 + (-*y).exp()),
                "hard_sigmoid" => (0.2 * *y + 0.5).clamp(0.0, 1.0),
                "hard_swish" => *y * (0.2 * *y + 0.5).clamp(0.0, 1.0),
                _ => *y,
            };
        }
        out
    }

    /// Runs the case twice: with separate memory for the output, and with the output in the memory of the tensor that
    /// is added. Compares the results with the expected ones.
    pub fn check(&self, backend: &Nnpack, team: &Team, numbers: &mut Numbers) {
        self.check_algorithms(backend, team, numbers, |ways| ways[..1].to_vec());
    }

    /// Checks the case with the algorithm named `way`.
    pub fn check_algorithm(&self, backend: &Nnpack, team: &Team, numbers: &mut Numbers, way: &str) {
        self.check_algorithms(backend, team, numbers, |_| vec![way.to_owned()]);
    }

    /// Checks the case with the algorithms that `choose` selects from those offered. The first one offered must be the
    /// backend's own choice.
    pub fn check_algorithms(
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
pub fn relative(options: &NnpackOptions) -> f64 {
    match options.accuracy {
        _ if !options.winograd && !options.fourier => 0.0,
        _ if !options.winograd => 1e-6,
        Accuracy::Close => 8e-6,
        Accuracy::Loose => 5e-5,
    }
}

pub fn run(planned: &PlannedKernel, inputs: &[AlignedBuffer], out: &mut AlignedBuffer, in_place: bool, team: &Team) {
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
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
    assert!(scratch.guard_is_intact(), "wrote behind the scratch memory");
}

/// The values of a tensor in blocks of channels that belong to padding channels.
pub fn padding(blocked: &AlignedBuffer, [n, k, h, w]: [usize; 4]) -> impl Iterator<Item = f64> {
    let (values, blocks) = (blocked.to_f64(DType::F32), k.div_ceil(16));
    assert_eq!(values.len(), n * blocks * h * w * 16);
    values.into_iter().enumerate().filter_map(move |(at, x)| {
        let channel = at / (16 * h * w) % blocks * 16 + at % 16;
        (channel >= k).then_some(x)
    })
}
