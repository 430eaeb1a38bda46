//! Which training a module is in, as its checkpoints tell it.

use crate::resume::{Position, Restored, Run, goes_on, resolved};
use mxrs_types::Result;
use std::path::{Path, PathBuf};

/// The training that a module is in: from a call of `fit` or `restore` to the next.
#[derive(Debug, Default)]
pub(super) struct Training {
    /// What its batches are; without a number.
    batches: Run,
    /// Where it goes on from.
    from: Option<Restored>,
    /// What is told with each prefix.
    under: Vec<Under>,
}

/// What the checkpoints with one prefix tell of the training.
#[derive(Debug)]
pub(super) struct Under {
    prefix: PathBuf,
    /// Its number there.
    pub number: u64,
    /// Whether one that was there goes on, with its number.
    pub goes_on: bool,
    /// The best epoch so far and its value.
    pub best: Option<(u64, f64)>,
}

impl Training {
    /// Another one, which goes on from there or begins anew.
    pub fn new(batches: Run, from: Option<Restored>) -> Self {
        Self { batches, from, under: Vec::new() }
    }

    /// What is told with this prefix. At first the training goes on under it where the newest checkpoint there is the one it
    /// goes on from; otherwise it begins there at `position`, with a number of its own.
    ///
    /// # Errors
    /// Names that are not UTF-8; a folder that cannot be read.
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

    /// What a checkpoint of `position` tells with this prefix: the best epoch, and the training.
    ///
    /// # Errors
    /// As [`Self::under`].
    pub fn tells(&mut self, prefix: &Path, position: Position) -> Result<(Option<(u64, f64)>, Run)> {
        let Under { number, best, .. } = *self.under(prefix, position)?;
        Ok((best, Run { number, ..self.batches }))
    }
}
