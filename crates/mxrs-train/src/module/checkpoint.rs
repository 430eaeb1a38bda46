//! A module on disk: MXNet's files, and the states that training goes on from.

use super::{Module, ModuleNames};
use crate::resume::{Position, TrainingState};
use mxrs_exec::BindOptions;
use mxrs_format::params::{checkpoint_path, symbol_path};
use mxrs_format::symbol::{Registry, graph_to_file, open_graph};
use mxrs_format::{Checkpoint, Options};
use mxrs_ndarray::ArrayContext;
use mxrs_optim::SavedStates;
use mxrs_types::{Device, Result};
use std::path::Path;

impl Module {
    /// Reads `<prefix>-symbol.json`, which may name operators as old releases do (`Convolution_v1`), and
    /// `<prefix>-NNNN.params`. The parameters are set by
    /// [`init_params`](Self::init_params), once the module is bound.
    ///
    /// # Errors
    /// What is wrong with either file, naming it; an operator that the options do not have.
    pub fn load(
        prefix: impl AsRef<Path>,
        epoch: u64,
        context: &ArrayContext,
        options: &BindOptions,
        names: ModuleNames,
    ) -> Result<Self> {
        let (symbol, params) = (symbol_path(&prefix), checkpoint_path(&prefix, epoch));
        let registry = Registry { ops: &options.ops, legacy: mxrs_ops::legacy_name };
        let graph = open_graph(&symbol, &registry, &Options::default())?;
        let checkpoint = Checkpoint::open(&params, &Options::default())?;
        for (path, warnings) in [(symbol, graph.warnings), (params, checkpoint.warnings)] {
            warnings.iter().for_each(|warning| tracing::warn!("{}: {warning}", path.display()));
        }
        let module = Self::new(&graph.value, context, options, names)?;
        Ok(Self { loaded: Some(checkpoint.value), ..module })
    }

    /// Writes `<prefix>-symbol.json` and `<prefix>-NNNN.params`, and with `with_states` `<prefix>-NNNN.states`, from which
    /// training goes on with epoch `epoch`. Each file appears whole or not at all.
    ///
    /// # Errors
    /// No parameters yet; what computing them reported; those of writing.
    pub fn save_checkpoint(&self, prefix: impl AsRef<Path>, epoch: u64, with_states: bool) -> Result<()> {
        let (prefix, position) = (prefix.as_ref(), Position::epoch(epoch));
        if with_states {
            return self.save_training(prefix, position, None);
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
    pub(super) fn save_training(&self, prefix: &Path, position: Position, best: Option<(u64, f64)>) -> Result<()> {
        self.save_symbol(prefix)?;
        let params = self.get_params()?;
        let optimizer = match &self.update {
            Some(update) => update.states()?,
            None => SavedStates::default(),
        };
        let random = self.context.random().state(Device::cpu(0));
        TrainingState { position, optimizer, random, best }.save(prefix, params)?;
        tracing::info!("Saved checkpoint to \"{}\"", position.path(prefix, ".params").display());
        tracing::info!("Saved optimizer state to \"{}\"", position.path(prefix, ".states").display());
        Ok(())
    }

    /// Goes on from a checkpoint: parameters, states of the optimizer, random numbers.
    ///
    /// # Errors
    /// Parameters of another network, naming the first that differs and both shapes; states of another optimizer.
    pub fn restore(&mut self, state: &TrainingState, params: &Checkpoint) -> Result<()> {
        self.set_params(params)?;
        if let Some(update) = &mut self.update {
            update.set_states(&self.nd, &self.params, &state.optimizer)?;
        }
        self.context.random().restore(Device::cpu(0), &state.random);
        Ok(())
    }
}
