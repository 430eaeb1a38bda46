//! Saving and loading of modules: MXNet's files, and the states from which training resumes.

use super::training::Training;
use super::{Module, ModuleNames};
use crate::Host;
use crate::exchange::Exchange;
use crate::resume::{OptimizerStates, Position, Restored, Run, TrainingState};
use mxrs_format::params::{checkpoint_path, symbol_path};
use mxrs_format::pickle::{PickledStates, StateKey};
use mxrs_format::{Checkpoint, Options};
use mxrs_optim::SavedStates;
use mxrs_symbol::{Registry, graph_to_file, open_graph};
use mxrs_trace::api_call;
use mxrs_types::Result;
use std::path::Path;

impl Module {
    /// Reads `<prefix>-symbol.json`, which may contain operator names of old releases (`Convolution_v1`), and
    /// `<prefix>-NNNN.params`. [`init_params`](Self::init_params) sets the parameters, once the module is bound.
    ///
    /// # Errors
    /// Returns an error if either file cannot be read (the error names it), or if the host's options lack an operator of the
    /// network.
    pub fn load(prefix: impl AsRef<Path>, epoch: u64, host: &impl Host, names: ModuleNames) -> Result<Self> {
        let options = host.bind_options();
        let (symbol, params) = (symbol_path(&prefix), checkpoint_path(&prefix, epoch));
        let registry = Registry { ops: &options.ops, legacy: mxrs_ops::legacy_name };
        let graph = open_graph(&symbol, &registry, &Options::default())?;
        let checkpoint = Checkpoint::open(&params, &Options::default())?;
        for (path, warnings) in [(symbol, graph.warnings), (params, checkpoint.warnings)] {
            warnings.iter().for_each(|warning| tracing::warn!("{}: {warning}", path.display()));
        }
        let module = Self::with_names(host, &graph.value, names)?;
        Ok(Self { loaded: Some(checkpoint.value), ..module })
    }

    /// Writes `<prefix>-symbol.json` and `<prefix>-NNNN.params`, and if `with_states` is set, also `<prefix>-NNNN.states`,
    /// from which training resumes at epoch `epoch`. Each file appears complete or not at all.
    ///
    /// The states file contains the number of a training ([`Run::number`](crate::resume::Run::number)). It is the
    /// number of the training that [`fit`](Self::fit) started. After [`restore`](Self::restore), it is the number of
    /// the restored training if the restored checkpoint is the newest under this prefix. In other cases it is a new
    /// number. In all cases [`newest`](crate::resume::newest) finds the checkpoint.
    ///
    /// # Errors
    /// Returns an error if there are no parameters yet or they could not be computed, or if a file cannot be written; with
    /// states, also if the prefix is not UTF-8.
    pub fn save_checkpoint(&self, prefix: impl AsRef<Path>, epoch: u64, with_states: bool) -> Result<()> {
        let _call = api_call("Module::save_checkpoint");
        let (prefix, position) = (prefix.as_ref(), Position::epoch(epoch));
        if with_states {
            let (best, run) = self.training.borrow_mut().tells(prefix, position)?;
            return self.save_training(prefix, position, self.get_params()?, best, run);
        }
        self.save_symbol(prefix)?;
        let path = position.path(prefix, ".params");
        self.get_params()?.save(&path)?;
        tracing::info!("Saved checkpoint to \"{}\"", path.display());
        Ok(())
    }

    fn save_symbol(&self, prefix: &Path) -> Result<()> {
        let (path, file) = (symbol_path(prefix), graph_to_file(&self.graph));
        // The symbol file is the same for every checkpoint, so it is written only if it differs.
        if std::fs::read(&path).is_ok_and(|there| there == file.to_json().as_bytes()) {
            return Ok(());
        }
        file.save(path)
    }

    /// Writes everything that is needed to resume training at `position`. If the store connects several workers, all call this
    /// function, and the first one writes.
    pub(super) fn save_training(
        &self,
        prefix: &Path,
        position: Position,
        params: Checkpoint,
        best: Option<(u64, f64)>,
        run: Run,
    ) -> Result<()> {
        let optimizer = match &self.exchange {
            Some(exchange) => OptimizerStates::Own(exchange.states()?),
            None => OptimizerStates::Own(SavedStates::default()),
        };
        if !self.is_first_worker() {
            return Ok(());
        }
        self.save_symbol(prefix)?;
        let (random, mut copies) = (self.random_states(), self.copies_beside(&params)?);
        // Every worker has its own residuals of compression. A checkpoint of several workers is written by the first one, so
        // it holds no residuals.
        if let Some(exchange) = self.exchange.as_ref().filter(|_| self.n_workers() == 1) {
            copies.residuals = exchange.residuals()?;
        }
        let loss_scaler = self.loss_scaler().cloned();
        TrainingState { position, optimizer, random, copies, best, loss_scaler, run }.save(prefix, params)?;
        tracing::info!("Saved checkpoint to \"{}\"", position.path(prefix, ".params").display());
        tracing::info!("Saved optimizer state to \"{}\"", position.path(prefix, ".states").display());
        Ok(())
    }

    /// Resumes from a checkpoint: sets parameters, states of the optimizer and random numbers. If MXNet saved the states,
    /// those of parameters that are fixed in this module are ignored. Every context gets the parameters and the states. If
    /// the training had another number of contexts, the residuals of gradient compression are not restored.
    ///
    /// Servers of an asynchronous store take weights only once, when the optimizer is initialized. So a program must first
    /// give the parameters of the checkpoint to [`init_params`](Self::init_params), and then initialize the optimizer.
    /// Servers that have made updates since then keep their weights and states. Otherwise worker 0 gives them the states, and
    /// the other workers wait for that.
    ///
    /// # Errors
    /// Returns an error if the parameters are those of another network (the error names the first that differs, with both
    /// shapes), or if the states are those of another optimizer.
    pub fn restore(&mut self, state: &TrainingState, params: &Checkpoint) -> Result<()> {
        match self.exchange.as_ref().and_then(Exchange::serving_store) {
            Some(_) => self.set_params_beside_servers(params)?,
            None => self.set_params(params)?,
        }
        self.restore_copies(&state.copies)?;
        if let Some(exchange) = &self.exchange {
            match &state.optimizer {
                OptimizerStates::Own(states) => exchange.set_saved_states(states)?,
                OptimizerStates::Pickled(states) => exchange
                    .set_states(|update, nd, params| update.set_pickled_states(nd, params, &self.by_name(states)))?,
            }
            if self.n_workers() == 1 && state.copies.n_devices == self.contexts.len() {
                exchange.set_residuals(&state.copies.residuals)?;
            }
        }
        if let Some(saved) = &state.loss_scaler {
            self.restore_loss_scaler(saved)?;
        }
        // A checkpoint holds the random number states of worker 0 only. The other workers keep their current states.
        if self.is_first_worker() {
            self.restore_random(&state.random);
        }
        *self.training.get_mut() = Training::new(Run::default(), Some(Restored::from(state)));
        Ok(())
    }

    /// MXNet's states with parameter names as keys instead of indices. An index counts all arguments that are neither inputs
    /// nor labels, including fixed ones.
    fn by_name(&self, saved: &PickledStates) -> PickledStates {
        let (ids, _) = self.param_ids();
        let named = |key: &StateKey| {
            let StateKey::Index(i) = key else { return key.clone() };
            let id = usize::try_from(*i).ok().and_then(|i| ids.get(i));
            id.map_or_else(|| key.clone(), |id| StateKey::Name(self.graph.node(*id).name.clone()))
        };
        let is_fixed = |key: &StateKey| matches!(key, StateKey::Name(name) if self.names.fixed_params.contains(name));
        let mut saved = saved.clone();
        saved.states.iter_mut().for_each(|(key, _)| *key = named(key));
        saved.states.retain(|(key, _)| !is_fixed(key));
        if let Some(optimizer) = &mut saved.optimizer {
            optimizer.counts.iter_mut().for_each(|(key, _)| *key = named(key));
            optimizer.counts.retain(|(key, _)| !is_fixed(key));
        }
        saved
    }
}
