//! What the workers of a training must have in common before it begins.

use super::examples::Source;
use crate::exit::{Failure, Outcome};
use mxrs::Error;
use mxrs::train::KvStore;
use mxrs::train::resume::Position;

/// Gives every worker epochs of the same number of batches: that of the worker with the most examples. Returns this number too.
///
/// # Errors
/// Fails if a worker is lost.
pub fn equal_epochs(store: &dyn KvStore, source: Source, epoch_size: u64) -> Outcome<(Source, u64)> {
    let own = source.train.n_batches().unwrap_or(epoch_size);
    let all = store.all_gather(&own.to_le_bytes())?;
    let sizes = all.iter().map(|bytes| <[u8; 8]>::try_from(bytes.as_slice()).map_or(0, u64::from_le_bytes));
    let most = sizes.max().unwrap_or(own);
    if own == most {
        return Ok((source, most));
    }
    tracing::info!("worker {}: epochs of {most} batches instead of {own}, as other workers have", store.rank());
    Ok((source.resized(most)?, most))
}

/// Checks that all workers begin with the same checkpoint, or all without one.
///
/// # Errors
/// [`Failure::Input`] if a worker sees another checkpoint. Fails if a worker is lost.
pub fn same_checkpoint(store: &dyn KvStore, from: Option<Position>) -> Outcome {
    let own = from.map_or("none".to_owned(), |at| format!("that of epoch {}, batch {}", at.epoch, at.batch));
    let all = store.all_gather(own.as_bytes())?;
    let text = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
    match (1..all.len()).find(|&rank| all[rank] != all[0]) {
        None => Ok(()),
        Some(rank) => {
            let expected = format!("{}, as worker 0 has: all workers must see the same files", text(0));
            Err(Failure::Input(Error::invalid(format!("checkpoint of worker {rank}"), text(rank), expected)))
        }
    }
}
