//! `mxrs fine-tune`: replaces the classifier of a trained network and trains it on other classes, as MXNet's `fine-tune.py`
//! does.

use crate::cmd::train::{Flags, Given, Kind, Plan, run_plan};
use crate::exit::{Failure, Outcome};
use crate::start;
use mxrs::Model;
use mxrs::format::params::{checkpoint_path, symbol_path};
use mxrs::format::{Checkpoint, Options};
use mxrs::graph::{NameManager, Symbol, SymbolCall};
use std::collections::HashSet;
use std::path::PathBuf;

/// Arguments of `fine-tune`.
#[derive(clap::Args)]
pub struct Args {
    /// Model prefix of the pre-trained network
    #[arg(long, value_name = "PREFIX")]
    pretrained_model: PathBuf,
    /// Epoch of the pre-trained checkpoint
    #[arg(long, value_name = "EPOCH", default_value_t = 0)]
    pretrained_epoch: u64,
    /// Name of the last layer before the last fully-connected layer; everything up to it is kept
    #[arg(long, value_name = "NAME", default_value = "flatten0")]
    layer_before_fullc: String,
    /// Flags that all trainers have.
    #[command(flatten)]
    flags: Flags,
}

/// Runs the command.
///
/// # Errors
/// Fails if a flag or file is not valid, if training fails or is interrupted, if the network does not have the layer, or if
/// another node is already called `fc`.
pub fn run(args: &Args, shows_progress: bool) -> Outcome {
    let plan = Plan::new(Kind::FineTune, &args.flags)?;
    let runtime = start::runtime(Some(&plan.training.compute))?;
    let symbol = symbol_path(&args.pretrained_model);
    let graph = Model::load_graph(&runtime, &symbol).map_err(Failure::input)?;
    let params = checkpoint_path(&args.pretrained_model, args.pretrained_epoch);
    let mut params = Checkpoint::open(&params, &Options::default()).map_err(Failure::input)?.value;
    let output = format!("{}_output", args.layer_before_fullc);
    let features = Symbol::from_graph(&graph)
        .internals()
        .output_named(&output)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let ops = mxrs::ops::catalog();
    let mut names = NameManager::new();
    let fc = SymbolCall::new(ops.get("FullyConnected")?)
        .name("fc")
        .input(&features)
        .attr("num_hidden", plan.num_classes.to_string())
        .build(&mut names)?;
    let mut softmax = SymbolCall::new(ops.get("SoftmaxOutput")?).name("softmax").input(&fc);
    if plan.training.label_smoothing > 0.0 {
        softmax = softmax.attr("smooth_alpha", plan.training.label_smoothing as f32);
    }
    let taken = |error: mxrs::Error| Failure::Usage(format!("--layer-before-fullc: {error}"));
    let net = softmax.build(&mut names)?.graph().map_err(taken)?;
    // The parameters of layers that are not kept are dropped. Those of the new classifier are initialized when training
    // starts.
    let kept: HashSet<String> = features.arguments()?.into_iter().chain(features.aux_states()?).collect();
    params.arg.retain(|name, _| kept.contains(name));
    params.aux.retain(|name, _| kept.contains(name));
    run_plan(&plan, Some(Given { graph: net, params }), shows_progress)
}
