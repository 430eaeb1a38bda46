//! Callbacks that write checkpoints after epochs.

use super::{EpochEnd, EpochEndCallback};
use crate::module::guard::{diverged, not_finite};
use crate::resume::{Keeper, Position};
use mxrs_types::Result;
use std::path::PathBuf;

/// Writes `<prefix>-symbol.json` and `<prefix>-NNNN.params` after epochs, where NNNN is the number of epochs done. Ends the
/// training with an error before it writes a trained parameter or an auxiliary state that is not finite.
pub struct Checkpoints {
    prefix: PathBuf,
    period: u64,
    with_states: bool,
    keep: (Option<usize>, bool),
    keeper: Option<Keeper>,
    saved: Option<Position>,
}

/// Writes a checkpoint after every `period` epochs, without the states of the optimizer.
pub fn do_checkpoint(prefix: impl Into<PathBuf>, period: u64) -> Checkpoints {
    module_checkpoint(prefix, period, false)
}

/// Writes a checkpoint after every `period` epochs. If `save_optimizer_states` is set, also writes `<prefix>-NNNN.states`,
/// from which training can resume in the same way as from the file that `fit` writes.
pub fn module_checkpoint(prefix: impl Into<PathBuf>, period: u64, save_optimizer_states: bool) -> Checkpoints {
    let with_states = save_optimizer_states;
    Checkpoints {
        prefix: prefix.into(),
        period: period.max(1),
        with_states,
        keep: (None, false),
        keeper: None,
        saved: None,
    }
}

impl Checkpoints {
    /// Keeps only the last `n` checkpoints.
    #[must_use]
    pub fn keep_last(self, n: usize) -> Self {
        Self { keep: (Some(n), self.keep.1), ..self }
    }

    /// Also keeps the checkpoint whose first validation metric is best: the smallest value if the metric is an error or a
    /// loss, otherwise the largest.
    #[must_use]
    pub fn keep_best(self) -> Self {
        Self { keep: (self.keep.0, true), ..self }
    }

    fn keeper(&mut self) -> &mut Keeper {
        let (prefix, (last, best)) = (&self.prefix, self.keep);
        self.keeper.get_or_insert_with(|| Keeper::new(prefix, last, best))
    }
}

impl EpochEndCallback for Checkpoints {
    fn epoch_end(&mut self, at: &EpochEnd<'_>) -> Result<()> {
        let done = at.epoch + 1;
        if done.is_multiple_of(self.period) {
            let position = Position::epoch(done);
            if let Some(found) = not_finite(&at.module.get_params()?, &at.module.names().fixed_params) {
                return Err(diverged(&found, position, &self.prefix, self.saved));
            }
            at.module.save_checkpoint(&self.prefix, done, self.with_states)?;
            self.saved = Some(position);
            self.keeper().wrote(position);
        }
        Ok(())
    }

    fn validation_end(&mut self, at: &EpochEnd<'_>) -> Result<()> {
        // Unlike `fit`, this callback does not record the best epoch in the states file: `fit` does that if its own
        // options keep the best checkpoint.
        self.keeper().validated(at.epoch + 1, at.validation, |_| Ok(()))
    }
}
