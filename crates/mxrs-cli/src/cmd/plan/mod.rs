//! `mxrs plan`: shows the memory that a graph needs, without running it.

mod compare;
mod kernels;
mod passes;
mod picture;
mod recompute;
mod report;

use crate::args::{Compute, ListFormat, assignment, group};
use crate::exit::{Failure, Outcome};
use crate::subject::{Subject, SubjectArgs};
use crate::{start, svg};
use clap::ValueEnum;
use mxrs::exec::{BindOptions, DryGraph, GradReq, GradRequests};
use mxrs::types::Device;
use report::Report;
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  mxrs plan resnet-50 --batch 32 --mode training
  mxrs plan net-symbol.json --shape data=1,3,224,224 --compare
  mxrs plan resnet-152 --mode training --svg plan.svg
  mxrs plan resnet-50 --mode training --set MXRS_MEMORY_BUDGET=1GiB
  mxrs plan resnet-50 --passes
  mxrs plan resnet-50 --mode training --kernels reference
  mxrs plan vgg-16 --set NNVM_EXEC_MATCH_RANGE=0 --format json
  mxrs plan lstm-symbol.json --shape data=32,20 --group 'layer0=cpu(0)' --group 'layer1=cpu(1)'

The lower bound is what is alive at the fullest step: no plan can be smaller. The arena holds activations and workspaces;
parameters, gradients, inputs, outputs and packed constants have memory of their own.";

/// Arguments of `plan`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The graph and the shapes of its inputs.
    #[command(flatten)]
    subject: SubjectArgs,
    /// What to plan: the outputs only, or a training step with the gradients of all parameters
    #[arg(long, value_enum, default_value_t = Mode::Inference)]
    mode: Mode,
    /// Set an environment variable for this plan; can be given several times
    #[arg(long, value_name = "VARIABLE=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Put a group of nodes (their attribute ctx_group) on a device, such as decoder=cpu(1); can be given several times
    #[arg(long, value_name = "NAME=DEVICE", value_parser = group)]
    group: Vec<(String, Device)>,
    /// Compare all algorithms of the planner; for training, also all modes of MXRS_REMAT
    #[arg(long)]
    compare: bool,
    /// Show the result of each pass: nodes, steps, kernels, bytes of the arena and of packed constants, time
    #[arg(long, conflicts_with_all = ["compare", "svg", "dump"])]
    passes: bool,
    /// Print the graph after this pass, as a symbol file
    #[arg(long, value_name = "PASS", conflicts_with_all = ["compare", "svg"])]
    dump: Option<String>,
    /// List the steps with their kernels, or only those of one backend; those of `reference` have no fast kernel
    #[arg(long, value_name = "BACKEND", num_args = 0..=1, conflicts_with_all = ["compare", "svg", "dump", "passes"])]
    kernels: Option<Option<String>>,
    /// Draw all tensors over time and address into this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    format: ListFormat,
    /// Device, backend and threads.
    #[command(flatten)]
    compute: Compute,
}

/// What is planned: inference or a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Forward only
    Inference,
    /// Forward and backward
    Training,
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Training => "training",
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Fails if the graph cannot be read or an input has no shape, if no backend supports an operator, if an environment variable
/// is invalid, or if the output cannot be written.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime_with(Some(&args.compute), &args.set)?;
    if let Some(Some(name)) = &args.kernels {
        kernels::require_backend(&runtime, name)?;
    }
    let subject = args.subject.load(&runtime)?;
    subject.require_shapes()?;
    let options = BindOptions { default_dtype: subject.dtype, ..runtime.bind_options() };
    let options = BindOptions { groups: args.group.iter().cloned().collect(), ..options };
    let options = BindOptions { trace_passes: args.passes || args.dump.is_some(), ..options };
    let options = match args.mode {
        Mode::Inference => options,
        Mode::Training => BindOptions { gradients: Some(gradients(&subject)), ..options },
    };
    let is_train = args.mode == Mode::Training;
    let dry = DryGraph::new(&subject.graph, &subject.inputs(), &options, is_train).map_err(Failure::binding)?;
    if let Some(pass) = &args.dump {
        return passes::dump(&dry, pass);
    }
    if args.passes {
        return passes::print(&dry, args.format);
    }
    let planned = dry.plan(&options.plan).map_err(Failure::binding)?;
    if let Some(backend) = &args.kernels {
        return kernels::print(&planned, backend.as_deref(), args.format);
    }
    let mut report = Report::new(&subject, args.mode, &planned);
    if args.compare {
        report.compared = Some(compare::all(&dry, &options.plan, &planned)?);
        if is_train {
            report.recomputed = Some(recompute::all(&subject, &options)?);
        }
    }
    if let Some(path) = &args.svg {
        svg::write(path, &picture::draw(&report.title(), &planned))?;
    }
    report.print(args.format)
}

/// Requests gradients of all arguments except inputs and labels.
fn gradients(subject: &Subject) -> GradRequests {
    let graph = &subject.graph;
    let inputs = subject.inputs.iter().map(|(name, _)| name.as_str());
    let labels = graph.arguments().filter(|id| graph.is_label(*id)).map(|id| graph.node(id).name.as_str());
    let without = inputs.chain(labels).filter(|name| graph.arguments().any(|id| graph.node(id).name == **name));
    without.fold(GradRequests::all(GradReq::Write), |requests, name| requests.with(name, GradReq::Null))
}
