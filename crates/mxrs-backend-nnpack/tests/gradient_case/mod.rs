//! A convolution whose gradients are computed by the backend and, in double precision, product by product.

use crate::copies::copy;
use crate::problem::{Numbers, Window};
use mxrs_backend_nnpack::{Accuracy, Nnpack, NnpackOptions};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, RawTensor, TensorDesc};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::team;
use mxrs_types::{DType, WriteReq};
use std::sync::Arc;

/// The tensor whose gradient is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Data,
    Weight,
}

/// A convolution.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub n: usize,
    pub c: usize,
    pub k: usize,
    pub size: (usize, usize),
    pub window: (usize, usize),
    pub stride: (usize, usize),
    pub pad: (usize, usize),
    /// Whether data and gradients of outputs are bfloat16, with channels last.
    pub is_bf16: bool,
}

impl Case {
    /// A random convolution with this window and stride.
    pub fn random(numbers: &mut Numbers, window: (usize, usize), stride: (usize, usize)) -> Self {
        Self {
            n: 1 + numbers.below(4),
            c: numbers.of([3, 16, 20, 32, 70]),
            k: numbers.of([16, 17, 32, 40, 64, 100]),
            size: (window.0 + numbers.below(14), window.1 + numbers.below(18)),
            window,
            stride,
            pad: (numbers.below(window.0), numbers.below(window.1)),
            is_bf16: false,
        }
    }

    /// The dtype of data and gradients of outputs.
    fn factor(&self) -> DType {
        if self.is_bf16 { DType::BF16 } else { DType::F32 }
    }

    fn window(&self) -> Window {
        Window { size: self.window, stride: self.stride, pad: self.pad }
    }

    fn out_size(&self) -> (usize, usize) {
        self.window().out_size(self.size)
    }

    fn attrs(&self) -> Attrs {
        self.window().attrs(self.k)
    }

    /// Shapes of data, weight and output.
    pub fn shapes(&self) -> [[usize; 4]; 3] {
        let (oh, ow) = self.out_size();
        [
            [self.n, self.c, self.size.0, self.size.1],
            [self.k, self.c, self.window.0, self.window.1],
            [self.n, self.k, oh, ow],
        ]
    }

    /// Calls `f` with the positions in data, weight and output of every product of the sum.
    fn products(&self, mut f: impl FnMut(usize, usize, usize)) {
        let [[n, c, h, w], [k, _, kh, kw], [_, _, oh, ow]] = self.shapes();
        for (n, k) in (0..n).flat_map(|n| (0..k).map(move |k| (n, k))) {
            for (oy, ox) in (0..oh).flat_map(|oy| (0..ow).map(move |ox| (oy, ox))) {
                for (ky, kx) in (0..kh).flat_map(|ky| (0..kw).map(move |kx| (ky, kx))) {
                    let y = (oy * self.stride.0 + ky).wrapping_sub(self.pad.0);
                    let x = (ox * self.stride.1 + kx).wrapping_sub(self.pad.1);
                    if y >= h || x >= w {
                        continue;
                    }
                    for ch in 0..c {
                        let (data, weight) = (((n * c + ch) * h + y) * w + x, ((k * c + ch) * kh + ky) * kw + kx);
                        f(data, weight, ((n * self.k + k) * oh + oy) * ow + ox);
                    }
                }
            }
        }
    }

    /// Number of products in the longest sum of a gradient.
    fn terms(&self, of: Of) -> f64 {
        let (oh, ow) = self.out_size();
        match of {
            Of::Data => (self.k * self.window.0 * self.window.1) as f64,
            Of::Weight => (self.n * oh * ow) as f64,
        }
    }

    /// Computes the gradient with this backend, in row-major order, added to `base` if there is one; also returns the
    /// kernel's name.
    pub fn run(
        &self,
        of: Of,
        (first, second): (&[f64], &[f64]),
        base: Option<f32>,
        backend: &Nnpack,
        team: &Team,
    ) -> (Vec<f64>, String) {
        let ops = mxrs_ops::catalog();
        let name = match of {
            Of::Data => "_backward_Convolution_data",
            Of::Weight => "_backward_Convolution_weight",
        };
        let op = ops.get(name).expect("it is in the catalog");
        let params = op.parse(&self.attrs()).expect("the attributes are right");
        let summed = if of == Of::Weight { DType::F32 } else { self.factor() };
        let types = [self.factor(), summed, self.factor()];
        let mut descs = self.shapes().into_iter().zip(types).map(|(sizes, dtype)| TensorDesc::dense(sizes, dtype));
        let [data, weight, ograd] = std::array::from_fn(|_| descs.next().expect("three"));
        let (inputs, out) = match of {
            Of::Data => ([ograd, weight, data.clone()], data),
            Of::Weight => ([ograd, data, weight.clone()], weight),
        };
        let outputs = [out.clone()];
        let is_constant = &[false; 3];
        let call = OpCall { op, params: &params, inputs: &inputs, outputs: &outputs, is_constant, is_train: true };
        let offer = backend.offer(&call).unwrap_or_else(|reason| panic!("{self:?}: {reason}"));
        let planned = offer.build().expect("it is built");
        let given: Vec<AlignedBuffer> = [first, second]
            .into_iter()
            .zip(&inputs)
            .zip(&planned.input_layouts)
            .map(|((numbers, desc), layout)| {
                let numbers = AlignedBuffer::from_f64(numbers, desc.dtype);
                copy(backend, &numbers, desc, &desc.with_layout(layout.clone()), team)
            })
            .collect();
        let laid_out = out.with_layout(planned.output_layouts[0].clone());
        let mut result = AlignedBuffer::poisoned(laid_out.size_bytes());
        if let Some(base) = base {
            bytemuck::cast_slice_mut::<u8, f32>(result.bytes_mut()).fill(base);
        }
        let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
        // The content of the last input is not read.
        let mut run = |req| {
            let args = KernelArgs {
                inputs: &[
                    RawTensor::from_slice(given[0].bytes()),
                    RawTensor::from_slice(given[1].bytes()),
                    RawTensor::from_slice(&[]),
                ],
                outputs: &[RawTensor::from_mut_slice(result.bytes_mut())],
                reqs: &[req],
                scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
                team,
                random: None,
                stream: None,
            };
            mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("it runs");
            assert!(result.guard_is_intact(), "{self:?}: wrote behind the end");
            assert!(scratch.guard_is_intact(), "{self:?}: wrote behind the scratch memory");
            result.bytes().to_vec()
        };
        let written = run(if base.is_some() { WriteReq::Add } else { WriteReq::Write });
        assert!(run(WriteReq::Null) == written, "{self:?}: nothing was to be written");
        if !laid_out.layout.is_row_major() && base.is_none() && !self.is_bf16 {
            assert!(padding_is_zero(&result, self.shapes()[0]), "{self:?}: channels of padding are not 0");
        }
        let got = copy(backend, &result, &laid_out, &out, team).to_f64(out.dtype);
        (got, planned.kernel.name().to_owned())
    }

    /// The additional error, relative to the largest output, that the settings allow. With bfloat16 all tile sizes are
    /// allowed.
    fn relative(&self, options: &NnpackOptions) -> f64 {
        match options.accuracy {
            _ if !options.winograd => 0.0,
            Accuracy::Close if !self.is_bf16 => 8e-6,
            Accuracy::Close | Accuracy::Loose => 5e-5,
        }
    }

    /// Compares the gradient with the sum in double precision; returns the kernel's name.
    pub fn check(&self, of: Of, backend: &Nnpack, team: &Team, numbers: &mut Numbers) -> String {
        let [data, weight, ograd] = self.shapes().map(|sizes| sizes.iter().product::<usize>());
        let steps = if self.is_bf16 { 64 } else { 1024 };
        let mut tensor = |n| numbers.tensor(n, steps);
        let (first, second) = (tensor(ograd), tensor(if of == Of::Data { weight } else { data }));
        let mut want = vec![0.0; if of == Of::Data { data } else { weight }];
        self.products(|data, weight, out| match of {
            Of::Data => want[data] += first[out] * second[weight],
            Of::Weight => want[weight] += first[out] * second[data],
        });
        let (got, name) = self.run(of, (&first, &second), None, backend, team);
        let terms = self.terms(of);
        // Products of numbers in -1..1 have a variance of a ninth; the largest sums are about four standard deviations.
        let bound = 4e-7 * (terms + 8.0) + self.relative(backend.options()) * 4.0 * (terms / 9.0).sqrt().max(1.0);
        for (at, (got, want)) in got.iter().zip(&want).enumerate() {
            let stored = if self.is_bf16 && of == Of::Data { want.abs() / 256.0 } else { 0.0 };
            assert!((got - want).abs() <= bound + stored, "{self:?} {name}: [{at}] {got}, expected {want}");
        }
        if self.is_bf16 && of == Of::Data {
            return name;
        }
        let (added, _) = self.run(of, (&first, &second), Some(0.5), backend, team);
        for (added, got) in added.iter().zip(&got) {
            assert_eq!(*added as f32, 0.5 + *got as f32, "{self:?} {name}: not added");
        }
        name
    }
}

fn padding_is_zero(blocked: &AlignedBuffer, [_, c, h, w]: [usize; 4]) -> bool {
    let blocks = c.div_ceil(16);
    let numbers = blocked.to_f64(DType::F32);
    numbers.iter().enumerate().all(|(at, x)| at / (16 * h * w) % blocks * 16 + at % 16 < c || *x == 0.0)
}

/// Backends with every instruction set on teams of these sizes.
pub fn backends(threads: &[usize], winograd: bool) -> Vec<(Arc<Nnpack>, Arc<Team>)> {
    let with = |isa, threads| {
        let team = team(threads);
        (Nnpack::new(&team, NnpackOptions { isa, winograd, ..NnpackOptions::default() }), team)
    };
    threads.iter().flat_map(|threads| Isa::available().into_iter().map(move |isa| with(isa, *threads))).collect()
}

/// Windows with a stride of 1.
pub const STRIDE_1: [(usize, usize); 6] = [(1, 1), (3, 3), (5, 5), (1, 7), (3, 1), (2, 3)];

/// Windows with strides other than 1.
pub const STRIDED: [((usize, usize), (usize, usize)); 5] =
    [((1, 1), (2, 2)), ((3, 3), (2, 2)), ((2, 3), (3, 1)), ((3, 3), (1, 4)), ((7, 7), (2, 2))];
