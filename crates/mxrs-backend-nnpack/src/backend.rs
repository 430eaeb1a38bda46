//! The backend: which calls it takes, and who prepares them.

use crate::NnpackOptions;
use crate::choose::Choice;
use crate::epilogue::Epilogue;
use crate::kernel::ConvKernel;
use crate::layouts::{BLOCK, NAME, blocked};
use crate::problem::ConvProblem;
use crate::reorder::Reorder;
use mxrs_op::{Backend, Kernel, OpCall, PlannedKernel, Support, TensorDesc};
use mxrs_ops::fused::convolution::SgConvParams;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_sync::Team;
use mxrs_types::{Error, Layout, Result};
use std::sync::Arc;

/// Convolutions in blocks of channels, as a backend.
#[derive(Clone, Debug)]
pub struct Nnpack {
    options: NnpackOptions,
    team_size: usize,
}

/// A call that fits.
struct Fit {
    problem: ConvProblem,
    epilogue: Epilogue,
    choice: Choice,
    cost: f64,
}

impl Nnpack {
    /// A backend for loops on this team.
    pub fn new(team: &Team, options: NnpackOptions) -> Arc<Self> {
        Arc::new(Self { options, team_size: team.size() })
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
        if call.is_train {
            return Err("training".into());
        }
        let (problem, epilogue) = match call.op.name {
            "Convolution" => {
                let p = call.params.get::<ConvolutionParams>();
                (ConvProblem::of(p, call)?, Epilogue::plain(p.no_bias))
            }
            "_sg_conv" => {
                let SgConvParams { product, epilogue } = call.params.get();
                (ConvProblem::of(product, call)?, Epilogue::fused(product.no_bias, epilogue, call)?)
            }
            other => return Err(format!("no kernel for {other}")),
        };
        if !problem.k.is_multiple_of(BLOCK) && !epilogue.bounds.keep_zero() {
            return Err("bounds that would fill the padding of channels".into());
        }
        let choice = Choice::new(&problem, &self.options, self.threads());
        let is_packed_once = call.is_constant.get(1).copied().unwrap_or(false);
        // Fewer threads than the team has take longer; and packing weights in every call is not for small images.
        let cost = choice.cost * self.team_size as f64 / self.threads() as f64 + if is_packed_once { 0.0 } else { 1.0 };
        Ok(Fit { problem, epilogue, choice, cost })
    }
}

impl Backend for Nnpack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, call: &OpCall<'_>) -> Support {
        match self.fit(call) {
            Ok(fit) => Support::Yes { cost: fit.cost },
            Err(reason) => Support::No(reason),
        }
    }

    fn plan(&self, call: &OpCall<'_>) -> Result<PlannedKernel> {
        let Fit { problem: p, epilogue, choice, .. } =
            self.fit(call).map_err(|reason| Error::not_built(call.op.name, reason))?;
        let out_layout = blocked([p.n, p.k, p.oh, p.ow]);
        let data_layout = if choice.reads_rows() { Layout::RowMajor } else { blocked([p.n, p.c, p.h, p.w]) };
        let weight_layout = choice.form().layout([p.k, p.c, p.kh, p.kw]);
        let mut input_layouts = vec![data_layout, weight_layout];
        input_layouts.extend(epilogue.bias.map(|_| Layout::RowMajor));
        input_layouts.extend(epilogue.sum.map(|_| out_layout.clone()));
        let threads = self.threads();
        let algorithm = choice.prepare(&p, &self.options, threads)?;
        let name = format!("{NAME}:{}:{}:{threads}", choice.name(), self.options.isa.name());
        Ok(PlannedKernel {
            input_layouts,
            output_layouts: vec![out_layout],
            scratch_bytes: algorithm.scratch_bytes(),
            can_run_inplace: epilogue.sum.is_some(),
            kernel: Arc::new(ConvKernel { name, algorithm, epilogue }),
        })
    }

    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(Reorder::new(from, to).map(|copy| Arc::new(copy) as Arc<dyn Kernel>))
    }
}
