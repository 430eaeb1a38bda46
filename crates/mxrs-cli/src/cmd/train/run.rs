//! Training itself: network, data, optimizer and callbacks put together.

use super::curves::Curves;
use super::examples::Source;
use super::learning::{Schedule, optimizer};
use super::metrics::metrics;
use super::plan::Plan;
use super::{network, test_io};
use crate::exit::{Failure, Outcome};
use crate::{interrupt, start, terminal};
use mxrs::exec::BindOptions;
use mxrs::format::params::checkpoint_path;
use mxrs::format::{Checkpoint, Options};
use mxrs::graph::Graph;
use mxrs::optim::{TwoBit, Updater};
use mxrs::train::callback::{BatchEnd, Callbacks, Monitor, MonitorOptions, Speedometer};
use mxrs::train::resume::{self, Position, TrainingState};
use mxrs::train::{BindFor, CheckpointOptions, FitOptions, InitOptions, Module, ModuleNames};

/// A network that is given: its graph, and parameters by name that it begins with.
pub struct Given {
    /// The network.
    pub graph: Graph,
    /// Parameters; those that are not there are initialised.
    pub params: Checkpoint,
}

/// Trains.
///
/// # Errors
/// Bad values; files that cannot be used; what training reports; an interrupt, after a checkpoint was written.
pub fn run(plan: &Plan, given: Option<Given>, shows_progress: bool) -> Outcome {
    tracing::info!("start with arguments {}", namespace(plan));
    let graph = match &given {
        Some(given) => given.graph.clone(),
        None => plan.model()?.symbol.graph().map_err(Failure::Run)?,
    };
    let runtime = start::runtime(Some(&plan.training.compute))?;
    let mut source = Source::open(plan)?;
    if plan.training.test_io {
        return test_io::run(plan, &mut *source.train);
    }
    let epoch_size = source.n_examples.div_ceil(plan.batch_size as u64);
    let schedule = Schedule::new(plan, epoch_size)?;
    let training = &plan.training;
    let losses = match &training.plot {
        // A plot of the training shows its loss.
        Some(_) if !training.loss.contains("ce") => format!("{},ce", training.loss),
        _ => training.loss.clone(),
    };
    let mut metric = metrics(training.top_k, &losses)?;
    let options = BindOptions { autocast: plan.autocast(), ..runtime.bind_options() };
    let mut module =
        Module::new(&graph, runtime.arrays(), &options, ModuleNames::default()).map_err(Failure::binding)?;
    let mut fit = FitOptions {
        init: InitOptions { initializer: plan.initializer()?, seed: training.seed, ..InitOptions::default() },
        interrupt: Some(interrupt::flag()),
        clip_global_norm: training.clip_norm.map(f64::from),
        ..FitOptions::new(plan.num_epochs)
    };
    if let Some(prefix) = &training.model_prefix {
        fit.checkpoint = Some(CheckpointOptions {
            prefix: prefix.clone(),
            period: training.save_period,
            every_n_batches: training.save_batches,
            keep_last: training.keep_last,
            keep_best: training.keep_best,
        });
    }
    let (data, labels) = (source.train.provide_data().to_vec(), source.train.provide_label().to_vec());
    module.bind(&data, &labels, BindFor::default()).map_err(Failure::binding)?;
    let loaded = loaded(plan)?;
    let begin = training.load_epoch.filter(|_| loaded.is_some()).unwrap_or(0);
    // A checkpoint of this training has everything, what is given lacks the new layers.
    fit.init.allow_missing = loaded.is_none();
    let params = loaded.or(given.map(|given| given.params));
    module.init_params(params.as_ref(), &fit.init).map_err(Failure::input)?;
    network::check(plan, &runtime, &graph)?;
    let mut updater = Updater::new(optimizer(&runtime, plan, &schedule, begin, epoch_size)?);
    if let Some(threshold) = plan.compression {
        updater.set_compression(TwoBit::new(threshold)?)?;
    }
    module.init_optimizer(Box::new(updater)).map_err(Failure::binding)?;
    fit.begin_epoch = begin;
    fit.resume = training.resume;
    if let Some(states) = states(plan)? {
        module.restore(&states.0, &states.1).map_err(Failure::input)?;
    }
    let mut callbacks = Callbacks::default();
    if training.monitor > 0 {
        callbacks.monitor = Some(Monitor::new(MonitorOptions::new(training.monitor))?);
    }
    if let Some(path) = &training.plot {
        let curves = Curves::new(path, &schedule, epoch_size, plan.batch_size, plan.disp_batches)?;
        callbacks.batch_end.push(Box::new(curves.clone()));
        callbacks.epoch_end.push(Box::new(curves));
    }
    callbacks.batch_end.push(Box::new(Speedometer::every(plan.batch_size, plan.disp_batches, true)));
    let bar = terminal::progress(Some(epoch_size), "batches", shows_progress);
    let shown = bar.clone();
    callbacks.batch_end.push(Box::new(move |at: &mut BatchEnd<'_>| {
        shown.set_position(at.nbatch + 1);
        Ok(())
    }));
    let eval = source.eval.as_mut().map(|eval| &mut **eval as &mut dyn mxrs::data::DataIter);
    let report = module.fit(&mut *source.train, eval, &mut metric, None, &mut callbacks, &fit);
    bar.finish_and_clear();
    match report.map_err(Failure::from)?.outcome {
        mxrs::train::Outcome::Finished => Ok(()),
        mxrs::train::Outcome::Interrupted => Err(Failure::Interrupted),
    }
}

/// The parameters of `--load-epoch`.
fn loaded(plan: &Plan) -> Outcome<Option<Checkpoint>> {
    let training = &plan.training;
    let Some((prefix, epoch)) = training.model_prefix.as_ref().zip(training.load_epoch) else { return Ok(None) };
    let path = checkpoint_path(prefix, epoch);
    let loaded = Checkpoint::open(&path, &Options::default()).map_err(Failure::input)?;
    tracing::info!("Loaded model {}", path.display());
    Ok(Some(loaded.value))
}

/// The states that were saved with the parameters of `--load-epoch`; a checkpoint of MXNet has none here.
fn states(plan: &Plan) -> Outcome<Option<(TrainingState, Checkpoint)>> {
    let training = &plan.training;
    let Some((prefix, epoch)) = training.model_prefix.as_ref().zip(training.load_epoch) else { return Ok(None) };
    let found = resume::find(prefix).map_err(Failure::input)?;
    let of_epoch = found.into_iter().find(|found| found.position == Position::epoch(epoch));
    of_epoch.map(|found| found.read().map_err(Failure::input)).transpose()
}

/// The arguments as MXNet's scripts print them.
fn namespace(plan: &Plan) -> String {
    let [channels, height, width] = plan.image;
    format!(
        "Namespace(batch_size={}, disp_batches={}, dtype='{}', image_shape='{channels},{height},{width}', \
         kv_store='{}', lr={}, network='{}', num_classes={}, num_epochs={}, optimizer='{}', seed={})",
        plan.batch_size,
        plan.disp_batches,
        plan.training.dtype,
        plan.training.kv_store,
        plan.lr,
        plan.network,
        plan.num_classes,
        plan.num_epochs,
        plan.training.optimizer,
        plan.training.seed,
    )
}
