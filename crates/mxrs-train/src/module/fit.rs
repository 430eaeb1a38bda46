//! The training loop: epochs, batches, metrics, validation, checkpoints, and MXNet's log lines.

use super::guard::{FiniteWatch, LabelCheck, diverged, not_finite, tell_bad_records};
use super::training::Training;
use super::{BindFor, CheckpointOptions, FitOptions, Module};
use crate::LossScaler;
use crate::callback::{BatchEnd, Callbacks, EpochEnd, LogValidationMetrics, fixed};
use crate::exchange::Exchange;
use crate::metric::EvalMetric;
use crate::resume::{Keeper, Position, PrefixLock, Restored, Run, check_room, clear_up, newest, own_epochs, set_best};
use mxrs_data::DataIter;
use mxrs_optim::Updater;
use mxrs_sync::atomic::Ordering;
use mxrs_types::{Error, Result};
use std::sync::Arc;
use std::time::Instant;

/// How a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All epochs are done.
    Finished,
    /// The training was interrupted by a request. If checkpoints are written, the newest one contains everything that was
    /// done.
    Interrupted,
}

/// The result of a training.
#[derive(Clone, Debug, PartialEq)]
pub struct FitReport {
    /// How the training ended.
    pub outcome: Outcome,
    /// The batch that comes next.
    pub position: Position,
    /// Metrics of the last epoch.
    pub train: Vec<(String, f64)>,
    /// Metrics of the validation after the last epoch.
    pub validation: Vec<(String, f64)>,
}

/// State of a training that is kept from epoch to epoch.
struct Loop<'a> {
    options: &'a FitOptions,
    run: Run,
    keeper: Option<Keeper>,
    /// Prevents other trainings from writing under the prefix.
    _lock: Option<Arc<PrefixLock>>,
    /// Position of the newest checkpoint.
    saved: Option<Position>,
    finite: FiniteWatch,
    labels: Vec<LabelCheck>,
    report: FitReport,
}

impl Module {
    /// Trains on every batch of `train`, epoch by epoch, and validates on `eval` after each epoch. Binds and initializes the
    /// module if that was not done yet. `optimizer` replaces the module's optimizer; if there is neither, the optimizer that
    /// the options name is created. Epoch `e` of the training is epoch `e` of the iterator.
    ///
    /// Reading data, computing and updating metrics overlap: the next batch is read while the engine computes.
    ///
    /// # Errors
    /// Returns the error of any part of the training. It also fails:
    /// - before the first epoch, if checkpoints do not fit on the disk, if their folder cannot be written, if another
    ///   training holds the lock of the prefix, or if the training would resume within an epoch that was divided into
    ///   other batches;
    /// - in the first epoch, if a label is not a class;
    /// - instead of writing a checkpoint, if a trained parameter or an auxiliary state is not finite. The error names the
    ///   array, the epoch and the last good checkpoint, which is kept.
    pub fn fit(
        &mut self,
        train: &mut dyn DataIter,
        eval: Option<&mut dyn DataIter>,
        metric: &mut dyn EvalMetric,
        optimizer: Option<Updater>,
        callbacks: &mut Callbacks,
        options: &FitOptions,
    ) -> Result<FitReport> {
        let report = self.fit_all(train, eval, metric, optimizer, callbacks, options);
        if let (Err(_), Some(store)) = (&report, self.kvstore()) {
            store.fail();
        }
        report
    }

    fn fit_all(
        &mut self,
        train: &mut dyn DataIter,
        mut eval: Option<&mut dyn DataIter>,
        metric: &mut dyn EvalMetric,
        optimizer: Option<Updater>,
        callbacks: &mut Callbacks,
        options: &FitOptions,
    ) -> Result<FitReport> {
        if self.groups.is_empty() {
            let (data, labels) = (train.provide_data().to_vec(), train.provide_label().to_vec());
            self.bind(&data, &labels, BindFor::default())?;
        }
        self.init_params(None, &options.init)?;
        if optimizer.is_some() || self.exchange.is_none() {
            self.begin_with_checkpoint(options)?;
        }
        match optimizer {
            Some(optimizer) => self.init_optimizer_with(optimizer, &options.store())?,
            None if self.exchange.is_none() => {
                let settings = options.optimizer_params.iter().map(|(key, text)| (key.as_str(), text.as_str()));
                let settings: Vec<_> = settings.collect();
                self.init_optimizer_named_with(&options.optimizer, &settings, &options.store())?;
            }
            None => {}
        }
        let mut all = self.start(train, options)?;
        let start = all.report.position;
        let unvalidated = all.keeper.as_ref().and_then(Keeper::unvalidated);
        if let (Some(epoch), Some(eval)) = (unvalidated, eval.as_deref_mut())
            && self.validate(epoch, eval, metric, callbacks, &mut all)? == Outcome::Interrupted
        {
            all.report.outcome = Outcome::Interrupted;
            return Ok(all.report);
        }
        train.seek(start.epoch, start.batch)?;
        for epoch in start.epoch..options.num_epoch {
            let since = Instant::now();
            let begin = if epoch == start.epoch { start.batch } else { 0 };
            if self.epoch((epoch, begin), train, metric, callbacks, &mut all)? == Outcome::Interrupted {
                all.report.outcome = Outcome::Interrupted;
                return Ok(all.report);
            }
            if epoch == start.epoch {
                all.labels.clear();
            }
            for (name, value) in &all.report.train {
                tracing::info!("Epoch[{epoch}] Train-{name}={}", fixed(*value, 6));
            }
            tracing::info!("Epoch[{epoch}] Time cost={}", fixed(since.elapsed().as_secs_f64(), 3));
            tell_bad_records(epoch, "Train", train);
            let eval = eval.as_mut().map(|eval| &mut **eval as &mut dyn DataIter);
            if self.epoch_end(epoch, eval, metric, callbacks, &mut all)? == Outcome::Interrupted {
                all.report.outcome = Outcome::Interrupted;
                return Ok(all.report);
            }
            train.reset()?;
        }
        all.finite.tell(0)?;
        Ok(all.report)
    }

    /// Prepares a training before its first batch: restores a checkpoint if it resumes, and checks the room on the disk.
    fn start<'a>(&mut self, train: &dyn DataIter, options: &'a FitOptions) -> Result<Loop<'a>> {
        let batch_size = Some(train.batch_size() as u64);
        // If bad records may be skipped, the number of batches is unknown. Then the largest possible number is used, because
        // it is the same when training resumes.
        let most = || train.n_examples().map(|n| n.div_ceil(train.batch_size() as u64));
        let epoch_size = train.n_batches().or_else(most);
        let mut run = Run { number: 0, batch_size, epoch_size, data_seed: options.data_seed };
        let mut keeper = None;
        let mut lock = None;
        // The first of several workers writes the checkpoints of all.
        let written = options.checkpoint.as_ref().filter(|_| self.is_first_worker());
        if let Some(CheckpointOptions { prefix, keep_last, keep_best, .. }) = written {
            lock = Some(match &options.lock {
                Some(lock) => Arc::clone(lock),
                None => Arc::new(PrefixLock::take(prefix)?),
            });
            for leftover in clear_up(prefix)? {
                tracing::info!("Removed \"{}\", which a killed process left", leftover.display());
            }
            check_room(prefix, self.checkpoint_bytes()?)?;
            keeper = Some(Keeper::new(prefix, *keep_last, *keep_best));
        }
        let from = self.going_on(&run, options)?;
        let position = from.map_or(Position::epoch(options.begin_epoch), |from| from.position);
        let Position { epoch, batch } = position;
        let size = epoch_size.map_or("an unknown number of".to_owned(), |size| size.to_string());
        let n_epochs = options.num_epoch;
        let start = format!("epoch {epoch}, batch {batch}, to epoch {n_epochs}; {size} batches of an epoch");
        self.expect_equal("training", &start)?;
        let training = self.training.get_mut();
        *training = Training::new(run, from);
        if let Some((checkpoint, keeper)) = written.zip(keeper.as_mut()) {
            let prefix = &checkpoint.prefix;
            let under = training.under(prefix, position)?;
            run.number = under.number;
            if under.goes_on {
                let epochs = own_epochs(prefix, run.number, position)?;
                under.best = under.best.filter(|(best, _)| epochs.contains(best));
                keeper.go_on(epochs, under.best, Some(position).filter(|position| position.batch > 0));
            }
            if from.is_some() {
                tracing::info!("Resumed from \"{}\"", position.path(prefix, ".states").display());
            }
        }
        let report = FitReport { outcome: Outcome::Finished, position, train: Vec::new(), validation: Vec::new() };
        let labels = if options.check_labels { LabelCheck::of(self)? } else { Vec::new() };
        let saved = from.map(|from| from.position);
        Ok(Loop { options, run, keeper, _lock: lock, saved, finite: FiniteWatch::default(), labels, report })
    }

    /// If servers are going to keep the weights, sets the parameters to those of the checkpoint from which the training
    /// resumes. This must happen before the optimizer is initialized, because servers take the weights only then.
    fn begin_with_checkpoint(&mut self, options: &FitOptions) -> Result<()> {
        let resumes = options.resume && options.restored.is_none() && options.store().is_served();
        let Some(checkpoint) = options.checkpoint.as_ref().filter(|_| resumes) else { return Ok(()) };
        match newest(&checkpoint.prefix)? {
            Some((_, params)) => self.set_params(&params),
            None => Ok(()),
        }
    }

    /// Restores the checkpoint from which the training resumes, if there is one. Fails if the checkpoint was written
    /// within an epoch and the training that wrote it divided its data into other batches.
    fn going_on(&mut self, now: &Run, options: &FitOptions) -> Result<Option<Restored>> {
        if let Some(restored) = options.restored {
            restored.check(now)?;
            return Ok(Some(restored));
        }
        let Some(checkpoint) = options.checkpoint.as_ref().filter(|_| options.resume) else { return Ok(None) };
        let Some((state, params)) = newest(&checkpoint.prefix)? else { return Ok(None) };
        let restored = Restored::from(&state);
        restored.check(now)?;
        self.restore(&state, &params)?;
        Ok(Some(restored))
    }

    /// Approximate size of a checkpoint in bytes: parameters and the states of the optimizer.
    fn checkpoint_bytes(&self) -> Result<u64> {
        let arrays = self.first()?.executor().arrays().iter().map(|(_, array)| array.size_bytes() as u64);
        let of_all = |exchange: &Exchange| {
            let (update, first) = (exchange.updater(), exchange.copies().first().into_iter().flatten());
            first.map(|param| update.state_bytes(&param.weight)).sum()
        };
        let states = self.exchange.as_ref().map_or(0, of_all);
        Ok(arrays.sum::<u64>() + states)
    }

    fn epoch(
        &mut self,
        (epoch, begin): (u64, u64),
        train: &mut dyn DataIter,
        metric: &mut dyn EvalMetric,
        callbacks: &mut Callbacks,
        all: &mut Loop<'_>,
    ) -> Result<Outcome> {
        metric.reset();
        let mut nbatch = begin;
        let mut next = train.next_batch()?;
        if next.is_none() && begin == 0 {
            return Err(Error::invalid("training data", "an epoch without a batch", "at least one batch"));
        }
        while let Some(batch) = next {
            for labels in &all.labels {
                labels.check(&batch, nbatch)?;
            }
            let pad = batch.pad;
            if let Some(monitor) = &mut callbacks.monitor {
                monitor.tic_all(&self.executors()?);
            }
            self.forward_backward(batch)?;
            if let Some(max_norm) = all.options.clip_global_norm {
                self.clip_gradients(max_norm)?;
            }
            self.update()?;
            self.update_metric(metric, pad)?;
            if all.options.check_finite {
                all.finite.look(self, epoch, nbatch)?;
            }
            // The next batch is read while the engine computes.
            let asked = Instant::now();
            next = train.next_batch()?;
            let waited = asked.elapsed();
            if let Some(monitor) = &mut callbacks.monitor {
                monitor.toc_print_all(&self.executors()?)?;
            }
            if next.is_none() {
                all.report.train = metric.get_global()?;
            }
            for callback in &mut callbacks.batch_end {
                let loss_scale = self.loss_scaler().map(LossScaler::scale);
                callback.batch_end(&mut BatchEnd { epoch, nbatch, waited, loss_scale, metric: Some(&mut *metric) })?;
            }
            nbatch += 1;
            let is_last = next.is_none();
            all.report.position = if is_last { Position::epoch(epoch + 1) } else { Position { epoch, batch: nbatch } };
            let is_asked = all.options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
            let is_asked = self.ends(is_asked, !is_last, nbatch - 1)?;
            let every = all.options.checkpoint.as_ref().and_then(|checkpoint| checkpoint.every_n_batches);
            if is_asked && is_last {
                self.average_aux_states()?;
            }
            if is_asked || (!is_last && every.is_some_and(|every| nbatch.is_multiple_of(every.max(1)))) {
                self.checkpoint(all)?;
            }
            if is_asked {
                tracing::info!("Epoch[{epoch}] Batch [{}]: interrupted", nbatch - 1);
                return Ok(Outcome::Interrupted);
            }
        }
        all.report.position = Position::epoch(epoch + 1);
        Ok(Outcome::Finished)
    }

    fn checkpoint(&self, all: &mut Loop<'_>) -> Result<()> {
        let Some(checkpoint) = all.options.checkpoint.as_ref() else { return Ok(()) };
        // At the end of an epoch the auxiliary states are averaged already. Averaging equal numbers again could change them
        // by rounding.
        if self.n_workers() > 1 && all.report.position.batch > 0 {
            self.average_aux_states()?;
        }
        let params = self.get_params()?;
        if let Some(found) = not_finite(&params, &self.names.fixed_params) {
            return Err(diverged(&found, all.report.position, &checkpoint.prefix, all.saved));
        }
        let best = all.keeper.as_ref().and_then(Keeper::best);
        self.save_training(&checkpoint.prefix, all.report.position, params, best, all.run)?;
        if let Some(keeper) = &mut all.keeper {
            keeper.wrote(all.report.position);
        }
        all.saved = Some(all.report.position);
        Ok(())
    }

    /// Ends an epoch: averages the auxiliary states of the contexts, writes the checkpoint, calls the callbacks, and
    /// validates. The checkpoint is written before the callbacks, so that the epoch is not lost if a callback fails.
    fn epoch_end(
        &mut self,
        epoch: u64,
        eval: Option<&mut dyn DataIter>,
        metric: &mut dyn EvalMetric,
        callbacks: &mut Callbacks,
        all: &mut Loop<'_>,
    ) -> Result<Outcome> {
        all.report.validation.clear();
        self.average_aux_states()?;
        let period = all.options.checkpoint.as_ref().map_or(1, |checkpoint| checkpoint.period.max(1));
        if (epoch + 1).is_multiple_of(period) || epoch + 1 == all.options.num_epoch {
            self.checkpoint(all)?;
        }
        for callback in &mut callbacks.epoch_end {
            callback.epoch_end(&EpochEnd { epoch, module: self, train: &all.report.train, validation: &[] })?;
        }
        match eval {
            Some(eval) => self.validate(epoch, eval, metric, callbacks, all),
            None => Ok(Outcome::Finished),
        }
    }

    /// Validates after this epoch. If the epoch is the best so far, records this in its checkpoint. If validation is
    /// interrupted, writes a checkpoint of the end of this epoch.
    fn validate(
        &mut self,
        epoch: u64,
        eval: &mut dyn DataIter,
        metric: &mut dyn EvalMetric,
        callbacks: &mut Callbacks,
        all: &mut Loop<'_>,
    ) -> Result<Outcome> {
        // The random numbers of the next epoch must not depend on whether validation ran, so their state is restored after
        // it.
        let random = self.random_states();
        let interrupt = all.options.interrupt.as_deref();
        let validation = self.score_with(eval, metric, None, epoch, &mut callbacks.eval_batch_end, interrupt)?;
        self.restore_random(&random);
        let is_ended = self.is_any(validation.is_none())?;
        let Some(validation) = validation.filter(|_| !is_ended) else {
            if all.saved != Some(all.report.position) {
                self.checkpoint(all)?;
            }
            tracing::info!("Epoch[{epoch}] Validation: interrupted");
            return Ok(Outcome::Interrupted);
        };
        all.report.validation = validation;
        LogValidationMetrics::log(epoch, &all.report.validation);
        tell_bad_records(epoch, "Validation", eval);
        if let Some((checkpoint, keeper)) = all.options.checkpoint.as_ref().zip(all.keeper.as_mut()) {
            keeper.validated(epoch + 1, &all.report.validation, |best| set_best(&checkpoint.prefix, best))?;
            self.training.get_mut().under(&checkpoint.prefix, all.report.position)?.best = keeper.best();
        }
        let end = EpochEnd { epoch, module: self, train: &all.report.train, validation: &all.report.validation };
        for callback in &mut callbacks.epoch_end {
            callback.validation_end(&end)?;
        }
        Ok(Outcome::Finished)
    }
}
