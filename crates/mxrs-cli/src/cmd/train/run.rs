//! Runs a training: combines network, data, optimizer and callbacks.

use super::curves::Curves;
use super::examples::{Share, Source};
use super::going_on::GoingOn;
use super::learning::{Schedule, optimizer};
use super::metrics::metrics;
use super::plan::Plan;
use super::{network, store, test_io, together};
use crate::contexts::{self, On};
use crate::exit::{Failure, Outcome};
use crate::{interrupt, start, terminal};
use mxrs::data::DataIter;
use mxrs::exec::BindOptions;
use mxrs::format::Checkpoint;
use mxrs::graph::Graph;
use mxrs::optim::{TwoBit, Updater};
use mxrs::train::callback::{BatchEnd, Callbacks, Monitor, MonitorOptions, Speedometer};
use mxrs::train::resume::{Position, PrefixLock, Run};
use mxrs::train::{BindFor, CheckpointOptions, Compression, FitOptions, InitOptions, Module};
use std::sync::Arc;

/// A network that the caller supplies instead of `--network`, with initial parameters.
pub struct Given {
    /// The network.
    pub graph: Graph,
    /// Initial parameters; those that are missing are initialized.
    pub params: Checkpoint,
}

/// Trains the network of the plan, or the given one.
///
/// # Errors
/// Fails if a value or file is not valid, if training fails, or if it is interrupted (after a checkpoint is written).
pub fn run(plan: &Plan, given: Option<Given>, shows_progress: bool) -> Outcome {
    tracing::info!("start with arguments {}", namespace(plan));
    let graph = match &given {
        Some(given) => given.graph.clone(),
        None => plan.model()?.symbol.graph().map_err(Failure::Run)?,
    };
    let runtime = start::runtime(Some(&plan.training.compute))?;
    contexts::check(&runtime, &plan.contexts)?;
    let options = BindOptions { autocast: plan.autocast(), ..runtime.bind_options() };
    let host = On { runtime: runtime.clone(), options };
    if runtime.is_server() {
        return together::serve(plan, &runtime);
    }
    let workers = if plan.training.test_io { None } else { store::workers(&plan.training, &host)? };
    let share = workers
        .as_ref()
        .map_or(Share { rank: 0, n_workers: 1 }, |store| Share { rank: store.rank(), n_workers: store.num_workers() });
    // Each worker gets another seed, so that dropout differs between the workers.
    let seed = plan.training.seed.wrapping_add((share.rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    runtime.arrays().random().seed(seed);
    let mut source = Source::open(plan, runtime.settings(), share)?;
    if plan.training.test_io {
        return test_io::run(plan, &mut *source.train);
    }
    let mut epoch_size = source.n_examples.div_ceil(plan.batch_size as u64);
    // Only workers of a synchronous store wait for each other, so only they need epochs of equal length and the same
    // checkpoint.
    let waiting = workers.as_ref().filter(|store| !store.store_type().must_update());
    if let Some(store) = waiting {
        (source, epoch_size) = together::equal_epochs(&**store, source, epoch_size)?;
    }
    // The lock is taken before the search for a checkpoint, because another training could write a newer checkpoint. The
    // first worker writes the checkpoints of all.
    let prefix = plan.training.model_prefix.as_deref().filter(|_| share.rank == 0);
    let lock = prefix.map(PrefixLock::take).transpose()?.map(Arc::new);
    let from = GoingOn::open(plan)?;
    if let Some(store) = waiting {
        together::same_checkpoint(&**store, from.as_ref().map(|from| from.position))?;
    }
    if let Some(from) = &from {
        from.check(&batching(plan, epoch_size))?;
    }
    let per_batch = together::updates_per_batch(workers.as_deref());
    let schedule = Schedule::new(plan, epoch_size.saturating_mul(per_batch))?;
    let mut fit = fit_options(plan)?;
    // A checkpoint from which training resumes has all parameters. Parameters that the caller gave lack those of the new
    // layers.
    fit.init.allow_missing = from.is_none();
    fit.begin_epoch = from.as_ref().map_or(0, |from| from.position.epoch);
    fit.lock = lock;
    fit.restored = from.as_ref().and_then(GoingOn::restored);
    let mut metric = metrics(plan.training.top_k, &losses(plan))?;
    let module = Module::new(&host, &graph).map_err(Failure::binding)?;
    let mut module = module.contexts(plan.contexts.iter().copied()).map_err(Failure::binding)?;
    if let Some(scaler) = &plan.loss_scaler {
        module = module.loss_scaling(scaler.clone()).map_err(Failure::binding)?;
    }
    let (data, labels) = (source.train.provide_data().to_vec(), source.train.provide_label().to_vec());
    module.bind(&data, &labels, BindFor::default()).map_err(Failure::binding)?;
    let params = from.as_ref().map(|from| &from.params).or(given.as_ref().map(|given| &given.params));
    module.init_params(params, &fit.init).map_err(Failure::input)?;
    network::check(plan, &runtime, &graph)?;
    let anchor = from.as_ref().map(|from| from.anchor(epoch_size, per_batch)).unwrap_or_default();
    let mut updater = Updater::new(optimizer(&runtime, plan, &schedule, anchor)?);
    let mut compression = plan.compression;
    if let (Some(Compression::TwoBit { threshold }), [_], None) = (compression, plan.contexts.as_slice(), &workers) {
        // On one device there is no store, so the updater compresses the gradients. Its residuals are saved in checkpoints.
        updater.set_compression(TwoBit::new(f64::from(threshold))?)?;
        compression = None;
    }
    let store = store::options(&plan.training, compression, plan.contexts.len(), &host, workers.as_ref())?;
    module.init_optimizer_with(updater, &store).map_err(Failure::binding)?;
    if let (Some(batch_size), Some(mut update)) =
        (together::horovod_batch(plan, workers.as_deref()), module.optimizer())
    {
        update.set_rescale_grad(1.0 / batch_size as f64);
    }
    if let Some(GoingOn { state: Some(state), params, .. }) = &from {
        module.restore(state, params).map_err(Failure::input)?;
    }
    let before = from.as_ref().map(|from| (from.position, from.number()));
    // The arrays were copied into the module, so the originals are freed.
    drop((from, given));
    // Only the first worker draws curves, because all workers would write the same file.
    let curves = if share.rank == 0 { curves(plan, &schedule, epoch_size, before)? } else { None };
    let mut callbacks = callbacks(plan, curves.as_ref())?;
    let bar = terminal::progress(Some(epoch_size), "batches", shows_progress);
    let shown = bar.clone();
    callbacks.batch_end.push(Box::new(move |at: &mut BatchEnd<'_>| {
        shown.set_position(at.nbatch + 1);
        Ok(())
    }));
    let eval = source.eval.as_mut().map(|eval| &mut **eval as &mut dyn DataIter);
    let report = module.fit(&mut *source.train, eval, &mut metric, None, &mut callbacks, &fit);
    bar.finish_and_clear();
    let report = report.map_err(Failure::from)?;
    match report.outcome {
        mxrs::train::Outcome::Finished => Ok(()),
        mxrs::train::Outcome::Interrupted => {
            if let Some(curves) = curves {
                curves.identify(report.position);
                // Draws the picture again, because it lacks the points after the last complete epoch.
                if let Err(error) = curves.draw() {
                    tracing::warn!("{error}");
                }
            }
            Err(Failure::Interrupted)
        }
    }
}

/// The values that decide which examples are in which batch.
fn batching(plan: &Plan, epoch_size: u64) -> Run {
    let (batch_size, epoch_size) = (Some(plan.batch_size as u64), Some(epoch_size));
    Run { number: 0, batch_size, epoch_size, data_seed: Some(plan.training.seed) }
}

/// Names of the losses to report. A plot always includes a loss.
fn losses(plan: &Plan) -> String {
    let training = &plan.training;
    match &training.plot {
        Some(_) if !training.loss.contains("ce") => format!("{},ce", training.loss),
        _ => training.loss.clone(),
    }
}

/// The options of the training loop from the flags, without a checkpoint to start from.
fn fit_options(plan: &Plan) -> Outcome<FitOptions> {
    let training = &plan.training;
    let checkpoint = training.model_prefix.clone().map(|prefix| CheckpointOptions {
        prefix,
        period: training.save_period,
        every_n_batches: training.save_batches,
        keep_last: training.keep_last,
        keep_best: training.keep_best,
    });
    Ok(FitOptions {
        init: InitOptions { initializer: plan.initializer()?, seed: training.seed, ..InitOptions::default() },
        checkpoint,
        data_seed: Some(training.seed),
        interrupt: Some(interrupt::flag()),
        clip_global_norm: training.clip_norm.map(f64::from),
        ..FitOptions::new(plan.num_epochs)
    })
}

/// The curves of `--plot`. If training starts from a checkpoint, `before` is its position and the number of the training
/// that wrote it, whose points are loaded.
fn curves(
    plan: &Plan,
    schedule: &Schedule,
    epoch_size: u64,
    before: Option<(Position, u64)>,
) -> Outcome<Option<Curves>> {
    let Some(path) = &plan.training.plot else { return Ok(None) };
    let curves = Curves::new(path, plan, schedule, epoch_size)?;
    if let Some((Position { epoch, batch }, number)) = before {
        curves.go_on(number, plan.training.resume, epoch as f64 + batch as f64 / epoch_size as f64);
    }
    Ok(Some(curves))
}

/// The callbacks of the training: monitor, curves and log lines.
fn callbacks(plan: &Plan, curves: Option<&Curves>) -> Outcome<Callbacks> {
    let training = &plan.training;
    let mut callbacks = Callbacks::default();
    if training.monitor > 0 || training.monitor_nan {
        let options = MonitorOptions { monitor_nan: training.monitor_nan, ..MonitorOptions::new(training.monitor) };
        callbacks.monitor = Some(Monitor::new(options)?);
    }
    if let Some(curves) = curves {
        callbacks.batch_end.push(Box::new(curves.clone()));
        callbacks.epoch_end.push(Box::new(curves.clone()));
    }
    callbacks.batch_end.push(Box::new(Speedometer::every(plan.batch_size, plan.disp_batches, true)));
    Ok(callbacks)
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
