//! A module on disk: MXNet's files, and the states that training goes on from.

use super::training::Training;
use super::{Module, ModuleNames};
use crate::Host;
use crate::resume::{OptimizerStates, Position, Restored, Run, TrainingState};
use mxrs_format::params::{checkpoint_path, symbol_path};
use mxrs_format::pickle::{PickledStates, StateKey};
use mxrs_format::{Checkpoint, Options};
use mxrs_optim::SavedStates;
use mxrs_symbol::{Registry, graph_to_file, open_graph};
use mxrs_types::{Device, Result};
use std::path::Path;

impl Module {
    /// Reads `<prefix>-symbol.json`, which may name operators as old releases do (`Convolution_v1`), and
    /// `<prefix>-NNNN.params`. The parameters are set by
    /// [`init_params`](Self::init_params), once the module is bound.
    ///
    /// # Errors
    /// What is wrong with either file, naming it; an operator that the options do not have.
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

    /// Writes `<prefix>-symbol.json` and `<prefix>-NNNN.params`, and with `with_states` `<prefix>-NNNN.states`, from which
    /// training goes on with epoch `epoch`. Each file appears whole or not at all.
    ///
    /// The states are of the training that [`fit`](Self::fit) began, or that [`restore`](Self::restore) went on with where its
    /// checkpoint is the newest with this prefix; otherwise of one that begins here. Either way
    /// [`newest`](crate::resume::newest) finds them.
    ///
    /// # Errors
    /// No parameters yet; what computing them reported; those of writing; with states, a prefix that is not UTF-8.
    pub fn save_checkpoint(&self, prefix: impl AsRef<Path>, epoch: u64, with_states: bool) -> Result<()> {
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
        // It is the same at every checkpoint.
        if std::fs::read(&path).is_ok_and(|there| there == file.to_json().as_bytes()) {
            return Ok(());
        }
        file.save(path)
    }

    /// Writes everything that training goes on from at `position`.
    pub(super) fn save_training(
        &self,
        prefix: &Path,
        position: Position,
        params: Checkpoint,
        best: Option<(u64, f64)>,
        run: Run,
    ) -> Result<()> {
        self.save_symbol(prefix)?;
        let optimizer = match &self.update {
            Some(update) => OptimizerStates::Own(update.states()?),
            None => OptimizerStates::Own(SavedStates::default()),
        };
        let random = Some(self.context.random().state(Device::cpu(0)));
        TrainingState { position, optimizer, random, best, run }.save(prefix, params)?;
        tracing::info!("Saved checkpoint to \"{}\"", position.path(prefix, ".params").display());
        tracing::info!("Saved optimizer state to \"{}\"", position.path(prefix, ".states").display());
        Ok(())
    }

    /// Goes on from a checkpoint: parameters, states of the optimizer, random numbers. States of parameters that are fixed here
    /// are left out of what MXNet saved.
    ///
    /// # Errors
    /// Parameters of another network, naming the first that differs and both shapes; states of another optimizer.
    pub fn restore(&mut self, state: &TrainingState, params: &Checkpoint) -> Result<()> {
        self.set_params(params)?;
        match &state.optimizer {
            OptimizerStates::Own(states) => {
                if let Some(update) = &mut self.update {
                    update.set_states(&self.nd, &self.params, states)?;
                }
            }
            OptimizerStates::Pickled(states) => {
                let states = self.by_name(states);
                if let Some(update) = &mut self.update {
                    update.set_pickled_states(&self.nd, &self.params, &states)?;
                }
            }
        }
        if let Some(random) = &state.random {
            self.context.random().restore(Device::cpu(0), random);
        }
        *self.training.get_mut() = Training::new(Run::default(), Some(Restored::from(state)));
        Ok(())
    }

    /// MXNet's states under the names of their parameters, where it has their places: those among all arguments that are
    /// neither inputs nor labels, fixed ones too.
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
