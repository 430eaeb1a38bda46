//! The backend: decides which calls it has a kernel for, estimates their times, and prepares them.

use crate::blocks;
use crate::candidate::{Candidate, thread_counts};
use crate::choose::{Algorithm, Choice, UNMEASURED};
use crate::convolve::Convolve;
use crate::direct::dense::{Dense, DenseProblem};
use crate::direct::depthwise::Depthwise;
use crate::direct::grouped::{GroupedConv, Groups};
use crate::direct::rows::DenseProduct;
use crate::direct::small_groups::{SmallGroups, group_of};
use crate::epilogue::Epilogue;
use crate::fully_connected::{self, BF16_DENSE, BF16_PRODUCT, DENSE, PRODUCT};
use crate::functions::Apply;
use crate::gradients::{self, Gradient, GradientContext};
use crate::kernel::ConvKernel;
use crate::layouts::{BLOCK, NAME, PackedForm, blocked, image_layout};
use crate::low_precision;
use crate::matrix;
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::reorder::Reorder;
use crate::winograd::Data;
use crate::{Accuracy, NnpackOptions, Weights, pairs, recurrent, scaled};
use mxrs_op::{Answer, Backend, DEFAULT_ALGORITHM, Kernel, Offer, OpCall, PlannedKernel, Speed, TensorDesc};
use mxrs_ops::fused::convolution::SgConvParams;
use mxrs_ops::fused::fully_connected::SgFullyConnectedParams;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_processor::Processor;
use mxrs_sync::Team;
use mxrs_types::{Error, Layout, Result};
use std::sync::Arc;

/// The backend: kernels for convolutional networks on data in blocks of channels.
#[derive(Clone, Debug)]
pub struct Nnpack {
    options: NnpackOptions,
    team_size: usize,
    rates: Rates,
    speed: Speed,
}

/// A call that the backend has a kernel for.
struct Fit {
    job: Job,
    epilogue: Epilogue,
    /// Estimated time of the call, divided by the time that a vendor library such as oneDNN would take.
    cost: f64,
}

/// The computation of a call.
pub enum Job {
    Convolution(ConvProblem, Choice),
    /// A convolution with as many groups as channels.
    Depthwise(ConvProblem),
    /// A convolution with this number of groups.
    Grouped(ConvProblem, u32),
    /// A fully-connected layer with row-major weights. Float32 weights are read in place. For bfloat16, the kernel reads a
    /// converted copy of the weights.
    Dense(DenseProblem, Weights),
    /// A fully-connected layer with packed weights.
    Product(DenseProblem, Weights),
    /// A fully-connected layer of more than a few rows whose weights change, as in training.
    Matrix(DenseProblem),
}

/// Factor on the cost of a convolution in training. It is below 1, because in training a vendor library also packs its
/// weights in every step and is further from its best speed.
const TRAINING: f64 = 0.9;
/// Up to this many output pixels of a batch, memory bandwidth for weights limits a convolution.
const FEW_PIXELS: usize = 64;

impl Nnpack {
    /// Makes a backend for loops on this team.
    pub fn new(team: &Team, options: NnpackOptions) -> Arc<Self> {
        let rates = Rates::of(options.isa, &Processor::here());
        Arc::new(Self { options, team_size: team.size(), rates, speed: Speed::here(team.size()) })
    }

    /// Number of threads that one call uses.
    pub fn threads(&self) -> usize {
        self.options.threads.get().min(self.team_size)
    }

    /// The settings.
    pub fn options(&self) -> &NnpackOptions {
        &self.options
    }

    fn low_precision(&self) -> low_precision::Context {
        low_precision::Context { isa: self.options.isa, threads: self.threads(), options: self.options.clone() }
    }

    fn fit(&self, call: &OpCall<'_>) -> std::result::Result<Fit, String> {
        if call.is_train && !["Convolution", "FullyConnected"].contains(&call.op.name) {
            return Err("no kernel for training".into());
        }
        let (job, epilogue, cost) = match call.op.name {
            "Convolution" => {
                let p = call.params.get::<ConvolutionParams>();
                self.convolution(p, call, Epilogue::plain(p.no_bias))?
            }
            "_sg_conv" => {
                let SgConvParams { product, epilogue } = call.params.get();
                self.convolution(product, call, Epilogue::fused(product.no_bias, epilogue, call)?)?
            }
            "FullyConnected" => {
                let p = call.params.get::<FullyConnectedParams>();
                fully_connected::fit(call, self.options.weights, Epilogue::plain(p.no_bias))?
            }
            "_sg_fully_connected" => {
                let SgFullyConnectedParams { product, epilogue } = call.params.get();
                fully_connected::fit(call, self.options.weights, Epilogue::fused(product.no_bias, epilogue, call)?)?
            }
            other => return Err(format!("no kernel for {other}")),
        };
        Ok(Fit { job, epilogue, cost })
    }

    fn gradient<'a>(&self, call: &'a OpCall<'a>) -> Option<std::result::Result<Gradient<'a>, String>> {
        let (isa, threads) = (self.options.isa, self.threads());
        matrix::gradient(call, isa, threads).or_else(|| matrix::products(call, isa, threads)).or_else(|| {
            let context = GradientContext { options: &self.options, threads: self.threads(), rates: &self.rates };
            gradients::fit(call, &context)
        })
    }

    /// Makes an offer from `cost`, the time relative to a vendor library that uses all threads of the team. If this
    /// backend uses fewer threads, the offered time is longer in proportion.
    fn offer_at<'a>(
        &self,
        call: &OpCall<'_>,
        cost: f64,
        build: impl FnOnce() -> Result<PlannedKernel> + 'a,
    ) -> Offer<'a> {
        let slower = self.team_size as f64 / self.threads() as f64;
        Offer::new(self.speed.times_library(call, cost * slower), build)
    }

    fn convolution(
        &self,
        p: &ConvolutionParams,
        call: &OpCall<'_>,
        epilogue: Epilogue,
    ) -> std::result::Result<(Job, Epilogue, f64), String> {
        let problem = ConvProblem::of(p, call)?;
        if problem.data == Data::Bf16Pixels && epilogue.function.is_some() {
            return Err("no kernel for functions in bfloat16".into());
        }
        if Algorithm::allowed(&problem, &self.options).is_empty() {
            return Err("no kernel for bfloat16: no Winograd algorithm fits".into());
        }
        if !problem.k.is_multiple_of(BLOCK) && !epilogue.bounds.keep_zero() {
            return Err("no kernel for bounds that change the zeros in the padding of channels".into());
        }
        // Weights that are not constant are packed in every call, which takes too long for small images. So the cost of
        // such a call is raised by 1.
        let packing = if is_packed_once(call) { 0.0 } else { 1.0 };
        if p.num_group != 1 {
            let groups = p.num_group;
            let is_depthwise = problem.c == groups as usize && problem.k == problem.c;
            let job = if is_depthwise { Job::Depthwise(problem) } else { Job::Grouped(problem, groups) };
            return Ok((job, epilogue, UNMEASURED + packing));
        }
        if call.is_train {
            // Weights change in every training step, so the choice includes the time to pack them.
            let choice = Choice::with_packing(&problem, &self.options, self.threads(), &self.rates);
            let cost = TRAINING * choice.cost;
            return Ok((Job::Convolution(problem, choice), epilogue, cost));
        }
        let choice = Choice::new(&problem, &self.options, self.threads(), &self.rates);
        let cost = choice.cost + packing;
        Ok((Job::Convolution(problem, choice), epilogue, cost))
    }

    /// The stored type of a convolution's weights.
    fn weights(&self, call: &OpCall<'_>, p: &ConvProblem) -> Weights {
        match p.data {
            Data::Blocks if is_packed_once(call) && p.n * p.pixels() <= FEW_PIXELS => self.options.weights,
            _ => Weights::Float32,
        }
    }

    /// Prepares the call with the candidate named `name`, or with the candidate of the lowest estimate if `name` is
    /// `None`.
    fn planned(&self, call: &OpCall<'_>, fit: Fit, name: Option<&str>) -> Result<PlannedKernel> {
        let Fit { job, epilogue, .. } = fit;
        let (isa, most) = (self.options.isa, self.threads());
        let unknown = |name: &str| {
            Error::not_built(
                format!("{} by the algorithm `{name}`", call.op.name),
                "nnpack has no algorithm of this name for the call",
            )
        };
        let (job, threads) = match (name, job) {
            (Some(name), Job::Dense(p, w) | Job::Product(p, w)) => {
                fully_connected::candidate(p, w, name, most).ok_or_else(|| unknown(name))?
            }
            (Some(name), Job::Grouped(..) | Job::Matrix(_)) => return Err(unknown(name)),
            (_, job) => (job, most),
        };
        let function = epilogue.function;
        let apply = function.map(|function| Apply::new(function, isa));
        let (algorithm, what, threads, layouts): (Box<dyn Convolve>, _, _, _) = match job {
            Job::Convolution(p, choice) => {
                let candidate = match name {
                    None => Candidate { algorithm: choice.algorithm, blocking: None, threads },
                    Some(name) => {
                        let named = name.parse::<Candidate>().ok();
                        named
                            .filter(|candidate| candidate.is_allowed(&p, &self.options, most))
                            .ok_or_else(|| unknown(name))?
                    }
                };
                let Candidate { algorithm, threads, .. } = candidate;
                let image = |sizes| image_layout(p.data, sizes);
                let rows = algorithm.reads_rows();
                let data = if rows { Layout::RowMajor } else { image([p.n, p.c, p.h, p.w]) };
                let weights = self.weights(call, &p);
                let form = algorithm.form(weights);
                let weight = form.layout([p.k, p.c, p.kh, p.kw]);
                let layouts = [data, weight, image([p.n, p.k, p.oh, p.ow])];
                let name = if form.is_bf16() { BF16_CONVOLUTION } else { algorithm.name() };
                (candidate.prepare_with(&p, weights, function, &self.options)?, name, threads, layouts)
            }
            Job::Depthwise(p) => {
                let weight = PackedForm::Depthwise.layout([p.k, 1, p.kh, p.kw]);
                let layouts = [blocked([p.n, p.c, p.h, p.w]), weight, blocked([p.n, p.k, p.oh, p.ow])];
                (Box::new(Depthwise::new(p, apply, isa, threads)), "depthwise", threads, layouts)
            }
            Job::Grouped(p, groups) => {
                let n = groups as usize;
                let group = group_of(n, p.c, p.k);
                let form = if group.is_some() { PackedForm::SmallGroups(groups) } else { PackedForm::Groups(groups) };
                let weight = form.layout([p.k, p.c / n, p.kh, p.kw]);
                let layouts = [blocked([p.n, p.c, p.h, p.w]), weight, blocked([p.n, p.k, p.oh, p.ow])];
                let algorithm: Box<dyn Convolve> = match group {
                    Some(group) => Box::new(SmallGroups::new(p, group, apply, isa, threads)),
                    None => Box::new(GroupedConv::new(p, Groups::new(n, p.c / n, p.k / n), apply, isa, threads)),
                };
                (algorithm, "groups", threads, layouts)
            }
            Job::Product(p, weights) => {
                let form = Algorithm::Product.form(weights);
                let layouts = [Layout::RowMajor, form.layout([p.outputs, p.steps, 1, 1]), Layout::RowMajor];
                let name = if form.is_bf16() { BF16_PRODUCT } else { PRODUCT };
                (Box::new(DenseProduct::new(p, weights, isa, threads).with_function(apply)), name, threads, layouts)
            }
            Job::Matrix(p) => {
                let layouts = [Layout::RowMajor, Layout::RowMajor, Layout::RowMajor];
                (Box::new(matrix::forward(p, isa, threads)), "matrix_product", threads, layouts)
            }
            Job::Dense(p, weights) => {
                let (name, weight) = match weights {
                    Weights::Float32 => (DENSE, Layout::RowMajor),
                    Weights::Bfloat16 => (BF16_DENSE, PackedForm::Bf16Rows.layout([p.outputs, p.steps, 1, 1])),
                };
                let layouts = [Layout::RowMajor, weight, Layout::RowMajor];
                (Box::new(Dense::new(p, weights, isa, threads).with_function(apply)), name, threads, layouts)
            }
        };
        let [data_layout, weight_layout, out_layout] = layouts;
        let mut input_layouts = vec![data_layout, weight_layout];
        input_layouts.extend(epilogue.bias.map(|_| Layout::RowMajor));
        input_layouts.extend(epilogue.sum.map(|_| out_layout.clone()));
        let name = format!("{NAME}:{what}:{}:{threads}", isa.name());
        Ok(PlannedKernel {
            input_layouts,
            output_layouts: vec![out_layout],
            scratch_bytes: algorithm.scratch_bytes(),
            can_run_inplace: epilogue.sum.is_some(),
            kernel: Arc::new(ConvKernel { name, algorithm: algorithm.into(), epilogue, dtype: call.outputs[0].dtype }),
        })
    }
}

/// Name of the product that reads weights in bfloat16.
const BF16_CONVOLUTION: &str = "product_bf16";

/// Whether the weights of a call are constant, so that they are packed once, not in every call.
pub fn is_packed_once(call: &OpCall<'_>) -> bool {
    call.is_constant.get(1).copied().unwrap_or(false)
}

impl Backend for Nnpack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if let Some(build) = low_precision::look_at(call, &self.low_precision()) {
            return build.map(|build| self.offer_at(call, low_precision::TIMES_LIBRARY, build));
        }
        let (isa, threads) = (self.options.isa, self.threads());
        let fused = || pairs::look_at(call, isa, threads).or_else(|| scaled::look_at(call, isa, threads));
        let fused = || fused().or_else(|| recurrent::look_at(call, isa, threads));
        if let Some(build) = blocks::look_at(call, isa, threads).or_else(fused) {
            return build.map(|build| self.offer_at(call, blocks::TIMES_LIBRARY, || Ok(build())));
        }
        if let Some(gradient) = self.gradient(call) {
            return gradient.map(|Gradient { cost, build }| self.offer_at(call, cost, build));
        }
        let fit = self.fit(call)?;
        Ok(self.offer_at(call, fit.cost, move || self.planned(call, fit, None)))
    }

    fn algorithms(&self, call: &OpCall<'_>) -> Vec<String> {
        let threads = self.threads();
        if low_precision::look_at(call, &self.low_precision()).is_some() {
            return vec![DEFAULT_ALGORITHM.into()];
        }
        match self.fit(call) {
            Ok(Fit { job: Job::Convolution(p, _), .. }) => {
                let candidates = Candidate::candidates(&p, &self.options, threads, &self.rates);
                candidates.iter().map(Candidate::to_string).collect()
            }
            Ok(Fit { job: job @ (Job::Dense(p, _) | Job::Product(p, _)), .. }) => {
                let multiply_adds = p.rows as f64 * p.steps as f64 * p.outputs as f64;
                let counts = thread_counts(threads, multiply_adds);
                // Packed weights are a second copy in memory. For few rows they do not save enough time to justify this
                // copy.
                let names: &[&str] = if matches!(job, Job::Product(..)) { &[PRODUCT, DENSE] } else { &[DENSE] };
                names.iter().flat_map(|name| counts.iter().map(move |n| format!("{name}@{n}"))).collect()
            }
            _ => vec![DEFAULT_ALGORITHM.into()],
        }
    }

    fn offer_algorithm<'a>(&'a self, call: &'a OpCall<'a>, candidate: &str) -> Answer<'a> {
        if candidate == DEFAULT_ALGORITHM {
            return self.offer(call);
        }
        let (fit, candidate) = (self.fit(call)?, candidate.to_owned());
        Ok(self.offer_at(call, fit.cost, move || self.planned(call, fit, Some(&candidate))))
    }

    fn setup(&self) -> String {
        let winograd = match (self.options.winograd, self.options.accuracy) {
            (false, _) => "off",
            (true, Accuracy::Close) => "close",
            (true, Accuracy::Loose) => "loose",
        };
        let fourier = if self.options.fourier { "on" } else { "off" };
        let (version, threads) = (env!("CARGO_PKG_VERSION"), self.threads());
        let weights = match self.options.weights {
            Weights::Float32 => "",
            Weights::Bfloat16 => " weights=bfloat16",
        };
        format!("{NAME} {version} threads={threads} winograd={winograd} fourier={fourier}{weights}")
    }

    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        if let Some(copy) = low_precision::Reorder::new(from, to) {
            return Ok(Some(Arc::new(copy)));
        }
        Ok(Reorder::new(from, to).map(|copy| Arc::new(copy) as Arc<dyn Kernel>))
    }
}
