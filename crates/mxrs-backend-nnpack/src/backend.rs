//! The backend: which calls it takes, and who prepares them.

use crate::blocks;
use crate::choose::{Algorithm, Choice, UNMEASURED};
use crate::convolve::Convolve;
use crate::direct::dense::{Dense, DenseProblem};
use crate::direct::depthwise::Depthwise;
use crate::direct::grouped::{GroupedConv, Groups};
use crate::direct::rows::DenseProduct;
use crate::epilogue::Epilogue;
use crate::gradients::{self, Gradient, Means};
use crate::kernel::ConvKernel;
use crate::layouts::{BLOCK, NAME, PackedForm, blocked, image_layout};
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::reorder::Reorder;
use crate::way::{Way, thread_counts};
use crate::winograd::Data;
use crate::{Accuracy, NnpackOptions, Processor, Weights};
use mxrs_op::{Backend, DEFAULT_WAY, Kernel, OpCall, PlannedKernel, Support, TensorDesc};
use mxrs_ops::fused::convolution::SgConvParams;
use mxrs_ops::fused::fully_connected::SgFullyConnectedParams;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_sync::Team;
use mxrs_types::{DType, Error, Layout, Result};
use std::sync::Arc;

/// Convolutions in blocks of channels, as a backend.
#[derive(Clone, Debug)]
pub struct Nnpack {
    options: NnpackOptions,
    team_size: usize,
    rates: Rates,
}

/// A call that fits.
struct Fit {
    job: Job,
    epilogue: Epilogue,
    cost: f64,
}

/// What there is to compute.
enum Job {
    Convolution(ConvProblem, Choice),
    /// In as many groups as channels.
    Depthwise(ConvProblem),
    /// In so many groups.
    Grouped(ConvProblem, u32),
    /// With weights where they are, or short ones row by row.
    Dense(DenseProblem, Weights),
    /// With packed weights.
    Product(DenseProblem, Weights),
}

/// Rows of a fully-connected layer up to which reading the weights is all there is to it.
const FEW_ROWS: usize = 2;
/// Cost of a fully-connected layer of few rows, and of others.
const DENSE_COST: [f64; 2] = [0.95, 1.5];
/// That of one with short weights: who asks for them gets them.
const SHORT_DENSE_COST: f64 = 0.5;
/// Cost of a convolution whose gradients are made too, beside one alone: a vendor library packs its weights in every step as well, and
/// is further from its best speed there.
const TRAINING: f64 = 0.9;
/// Output pixels of a batch up to which a convolution waits for its weights.
const FEW_PIXELS: usize = 64;

impl Nnpack {
    /// A backend for loops on this team.
    pub fn new(team: &Team, options: NnpackOptions) -> Arc<Self> {
        let rates = Rates::of(options.isa, &Processor::here());
        Arc::new(Self { options, team_size: team.size(), rates })
    }

    /// Threads that one call uses.
    pub fn threads(&self) -> usize {
        self.options.threads.get().min(self.team_size)
    }

    /// The settings.
    pub fn options(&self) -> &NnpackOptions {
        &self.options
    }

    fn fit(&self, call: &OpCall<'_>) -> std::result::Result<Fit, String> {
        if call.is_train && call.op.name != "Convolution" {
            return Err("training".into());
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
                self.dense(call, Epilogue::plain(p.no_bias))?
            }
            "_sg_fully_connected" => {
                let SgFullyConnectedParams { product, epilogue } = call.params.get();
                self.dense(call, Epilogue::fused(product.no_bias, epilogue, call)?)?
            }
            other => return Err(format!("no kernel for {other}")),
        };
        Ok(Fit { job, epilogue, cost: self.slowed(cost) })
    }

    fn gradient(&self, call: &OpCall<'_>) -> Option<std::result::Result<Gradient, String>> {
        gradients::fit(call, &Means { options: &self.options, threads: self.threads(), rates: &self.rates })
    }

    /// A cost with the threads there are: fewer than the team has take longer.
    fn slowed(&self, cost: f64) -> f64 {
        cost * self.team_size as f64 / self.threads() as f64
    }

    fn convolution(
        &self,
        p: &ConvolutionParams,
        call: &OpCall<'_>,
        epilogue: Epilogue,
    ) -> std::result::Result<(Job, Epilogue, f64), String> {
        let problem = ConvProblem::of(p, call)?;
        if Algorithm::allowed(&problem, &self.options).is_empty() {
            return Err("bfloat16 where no algorithm of Winograd's fits".into());
        }
        if !problem.k.is_multiple_of(BLOCK) && !epilogue.bounds.keep_zero() {
            return Err("bounds that would fill the padding of channels".into());
        }
        // Packing weights in every call is not for small images.
        let packing = if is_packed_once(call) { 0.0 } else { 1.0 };
        if p.num_group != 1 {
            let groups = p.num_group;
            let is_depthwise = problem.c == groups as usize && problem.k == problem.c;
            let job = if is_depthwise { Job::Depthwise(problem) } else { Job::Grouped(problem, groups) };
            return Ok((job, epilogue, UNMEASURED + packing));
        }
        if call.is_train {
            // Every step has other weights.
            let choice = Choice::with_packing(&problem, &self.options, self.threads(), &self.rates);
            let cost = TRAINING * choice.cost;
            return Ok((Job::Convolution(problem, choice), epilogue, cost));
        }
        let choice = Choice::new(&problem, &self.options, self.threads(), &self.rates);
        let cost = choice.cost + packing;
        Ok((Job::Convolution(problem, choice), epilogue, cost))
    }

    /// How the weights of a convolution are kept.
    fn weights(&self, call: &OpCall<'_>, p: &ConvProblem) -> Weights {
        match p.data {
            Data::Blocks if is_packed_once(call) && p.n * p.pixels() <= FEW_PIXELS => self.options.weights,
            _ => Weights::Float32,
        }
    }

    /// A fully-connected layer, whatever the shape of its data.
    fn dense(&self, call: &OpCall<'_>, epilogue: Epilogue) -> std::result::Result<(Job, Epilogue, f64), String> {
        let [data, weight, ..] = call.inputs else { return Err("a product without data or weight".into()) };
        let tensors = || call.inputs.iter().chain(call.outputs);
        if let Some(other) = tensors().find(|t| t.dtype != DType::F32) {
            return Err(format!("{} numbers", other.dtype));
        }
        if tensors().any(|t| t.shape.n_elements() == 0) {
            return Err("a tensor without elements".into());
        }
        let [outputs, steps] = weight.shape[..] else { return Err(format!("weights of shape {}", weight.shape)) };
        let rows = data.shape.n_elements() / steps;
        let weights = if is_packed_once(call) { self.options.weights } else { Weights::Float32 };
        let cost = match weights {
            Weights::Float32 => DENSE_COST[usize::from(rows > FEW_ROWS)],
            Weights::Bfloat16 => SHORT_DENSE_COST,
        };
        let problem = DenseProblem { rows, steps, outputs };
        let is_product = rows > FEW_ROWS && is_packed_once(call);
        let job = if is_product { Job::Product(problem, weights) } else { Job::Dense(problem, weights) };
        Ok((job, epilogue, cost))
    }

    /// The call prepared in this way, or in that of the estimate.
    fn planned(&self, call: &OpCall<'_>, way: Option<&str>) -> Result<PlannedKernel> {
        let Fit { job, epilogue, .. } = self.fit(call).map_err(|reason| Error::not_built(call.op.name, reason))?;
        let (isa, most) = (self.options.isa, self.threads());
        let unknown = |way: &str| Error::not_built(format!("{} in the way `{way}`", call.op.name), "no such way here");
        let (job, threads) = match (way, job) {
            (Some(name), Job::Dense(p, w) | Job::Product(p, w)) => {
                dense_way(p, w, name, most).ok_or_else(|| unknown(name))?
            }
            (Some(name), Job::Grouped(..)) => return Err(unknown(name)),
            (_, job) => (job, most),
        };
        let (algorithm, what, threads, layouts): (Box<dyn Convolve>, _, _, _) = match job {
            Job::Convolution(p, choice) => {
                let way = match way {
                    None => Way { algorithm: choice.algorithm, blocking: None, threads },
                    Some(name) => {
                        let named = name.parse::<Way>().ok();
                        named.filter(|way| way.is_allowed(&p, &self.options, most)).ok_or_else(|| unknown(name))?
                    }
                };
                let Way { algorithm, threads, .. } = way;
                let image = |sizes| image_layout(p.data, sizes);
                let rows = algorithm.reads_rows();
                let data = if rows { Layout::RowMajor } else { image([p.n, p.c, p.h, p.w]) };
                let weights = self.weights(call, &p);
                let form = algorithm.form(weights);
                let weight = form.layout([p.k, p.c, p.kh, p.kw]);
                let layouts = [data, weight, image([p.n, p.k, p.oh, p.ow])];
                let name = if form.is_short() { SHORT_CONVOLUTION } else { algorithm.name() };
                (way.prepare(&p, weights, &self.options)?, name, threads, layouts)
            }
            Job::Depthwise(p) => {
                let weight = PackedForm::Depthwise.layout([p.k, 1, p.kh, p.kw]);
                let layouts = [blocked([p.n, p.c, p.h, p.w]), weight, blocked([p.n, p.k, p.oh, p.ow])];
                (Box::new(Depthwise::new(p, isa, threads)), "depthwise", threads, layouts)
            }
            Job::Grouped(p, groups) => {
                let (n, form) = (groups as usize, PackedForm::Groups(groups));
                let weight = form.layout([p.k, p.c / n, p.kh, p.kw]);
                let layouts = [blocked([p.n, p.c, p.h, p.w]), weight, blocked([p.n, p.k, p.oh, p.ow])];
                let joined = Groups::new(n, p.c / n, p.k / n);
                (Box::new(GroupedConv::new(p, joined, isa, threads)), "groups", threads, layouts)
            }
            Job::Product(p, weights) => {
                let form = Algorithm::Product.form(weights);
                let layouts = [Layout::RowMajor, form.layout([p.outputs, p.steps, 1, 1]), Layout::RowMajor];
                let name = if form.is_short() { SHORT_PRODUCT } else { PRODUCT };
                (Box::new(DenseProduct::new(p, weights, isa, threads)), name, threads, layouts)
            }
            Job::Dense(p, weights) => {
                let (name, weight) = match weights {
                    Weights::Float32 => (DENSE, Layout::RowMajor),
                    Weights::Bfloat16 => (SHORT_DENSE, PackedForm::ShortRows.layout([p.outputs, p.steps, 1, 1])),
                };
                let layouts = [Layout::RowMajor, weight, Layout::RowMajor];
                (Box::new(Dense::new(p, weights, isa, threads)), name, threads, layouts)
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

/// Names of fully-connected layers with weights where they are, and with packed ones.
const DENSE: &str = "dense";
const PRODUCT: &str = "dense_product";
/// Names of kernels that read weights in bfloat16.
const SHORT_DENSE: &str = "dense_bf16";
const SHORT_PRODUCT: &str = "dense_product_bf16";
const SHORT_CONVOLUTION: &str = "product_bf16";

/// The job of a fully-connected layer in the way of this name, and its threads.
fn dense_way(p: DenseProblem, weights: Weights, way: &str, most: usize) -> Option<(Job, usize)> {
    let (name, threads) = way.split_once('@')?;
    let threads = threads.parse().ok().filter(|n| (1..=most).contains(n))?;
    match name {
        DENSE => Some((Job::Dense(p, weights), threads)),
        PRODUCT if p.rows > FEW_ROWS => Some((Job::Product(p, weights), threads)),
        _ => None,
    }
}

/// Whether the weights of a call are packed once, and not in every call.
fn is_packed_once(call: &OpCall<'_>) -> bool {
    call.is_constant.get(1).copied().unwrap_or(false)
}

impl Backend for Nnpack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, call: &OpCall<'_>) -> Support {
        match blocks::plan(call, self.options.isa, self.threads()) {
            Some(Ok(_)) => return Support::Yes { cost: self.slowed(blocks::COST) },
            Some(Err(reason)) => return Support::No(reason),
            None => {}
        }
        match self.gradient(call) {
            Some(Ok(gradient)) => return Support::Yes { cost: self.slowed(gradient.cost) },
            Some(Err(reason)) => return Support::No(reason),
            None => {}
        }
        match self.fit(call) {
            Ok(fit) => Support::Yes { cost: fit.cost },
            Err(reason) => Support::No(reason),
        }
    }

    fn plan(&self, call: &OpCall<'_>) -> Result<PlannedKernel> {
        if let Some(planned) = blocks::plan(call, self.options.isa, self.threads()) {
            return planned.map_err(|reason| Error::not_built(call.op.name, reason));
        }
        if let Some(gradient) = self.gradient(call) {
            return gradient.map(|gradient| gradient.planned).map_err(|reason| Error::not_built(call.op.name, reason));
        }
        self.planned(call, None)
    }

    fn ways(&self, call: &OpCall<'_>) -> Vec<String> {
        let threads = self.threads();
        match self.fit(call) {
            Ok(Fit { job: Job::Convolution(p, _), .. }) => {
                let ways = Way::candidates(&p, &self.options, threads, &self.rates);
                ways.iter().map(Way::to_string).collect()
            }
            Ok(Fit { job: job @ (Job::Dense(p, _) | Job::Product(p, _)), .. }) => {
                let multiply_adds = p.rows as f64 * p.steps as f64 * p.outputs as f64;
                let counts = thread_counts(threads, multiply_adds);
                // Packed weights are kept a second time: not for few rows.
                let names: &[&str] = if matches!(job, Job::Product(..)) { &[PRODUCT, DENSE] } else { &[DENSE] };
                names.iter().flat_map(|name| counts.iter().map(move |n| format!("{name}@{n}"))).collect()
            }
            _ => vec![DEFAULT_WAY.into()],
        }
    }

    fn plan_way(&self, call: &OpCall<'_>, way: &str) -> Result<PlannedKernel> {
        if way == DEFAULT_WAY { self.plan(call) } else { self.planned(call, Some(way)) }
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
        Ok(Reorder::new(from, to).map(|copy| Arc::new(copy) as Arc<dyn Kernel>))
    }
}
