//! The current training of a module: its batches, the checkpoint that it resumed from, and what its checkpoints record.

use crate::resume::{Position, Restored, Run, goes_on, resolved};
use mxrs_types::Result;
use std::path::{Path, PathBuf};

/// The current training of a module. Each call of `fit` or `restore` begins a new one.
#[derive(Debug, Default)]
pub(super) struct Training {
    /// Description of the training's batches. Its field `number` is not used: `under` has a number for each prefix.
    batches: Run,
    /// The checkpoint from which the training resumed.
    from: Option<Restored>,
    /// What the training's checkpoints record, for each of their prefixes.
    under: Vec<Under>,
}

/// What the checkpoints under one prefix record about the training.
#[derive(Debug)]
pub(super) struct Under {
    prefix: PathBuf,
    /// The number that identifies the training among those that wrote checkpoints with this prefix ([`Run::number`]).
    pub number: u64,
    /// Whether the training continues an earlier one that has checkpoints under this prefix. It then keeps the number of the
    /// earlier one.
    pub goes_on: bool,
    /// The best epoch so far and its metric value.
    pub best: Option<(u64, f64)>,
}

impl Training {
    /// A training that resumes from a checkpoint, or starts from the beginning if `from` is `None`.
    pub fn new(batches: Run, from: Option<Restored>) -> Self {
        Self { batches, from, under: Vec::new() }
    }

    /// What checkpoints under this prefix record about the training. The first call for a prefix chooses the training's
    /// number there. If the training resumed from the newest checkpoint under the prefix, it keeps the number in that
    /// checkpoint. Otherwise it is a new training that begins at `position`, and gets a new number.
    ///
    /// # Errors
    /// Returns an error if the name is not UTF-8 or the folder cannot be read.
    pub fn under(&mut self, prefix: &Path, position: Position) -> Result<&mut Under> {
        let path = resolved(prefix)?;
        let at = match self.under.iter().position(|under| under.prefix == path) {
            Some(at) => at,
            None => {
                let from = match self.from {
                    Some(from) if goes_on(prefix, &from)? => Some(from),
                    _ => None,
                };
                let number = match from {
                    Some(from) => from.run.number,
                    None => Run::next_number(prefix, position)?,
                };
                let best = from.and_then(|from| from.best);
                self.under.push(Under { prefix: path, number, goes_on: from.is_some(), best });
                self.under.len() - 1
            }
        };
        Ok(&mut self.under[at])
    }

    /// What a checkpoint at `position` with this prefix records: the best epoch, and the training.
    ///
    /// # Errors
    /// Fails as [`Self::under`] does.
    pub fn tells(&mut self, prefix: &Path, position: Position) -> Result<(Option<(u64, f64)>, Run)> {
        let Under { number, best, .. } = *self.under(prefix, position)?;
        Ok((best, Run { number, ..self.batches }))
    }
}
