//! `--test-io 1`: measures the speed of reading the data, without training.

use super::plan::Plan;
use crate::exit::{Failure, Outcome};
use crate::{batches, interrupt};
use mxrs::data::DataIter;
use std::time::Instant;

/// Reads one epoch, and logs the speed every `--disp-batches` batches and at the end.
///
/// # Errors
/// Fails if the data cannot be read or the command is interrupted.
pub fn run(plan: &Plan, train: &mut dyn DataIter) -> Outcome {
    let start = Instant::now();
    let (mut since, mut n, mut n_rows) = (Instant::now(), 0u64, 0u64);
    while let Some(batch) = train.next_batch().map_err(Failure::input)? {
        interrupt::check()?;
        n_rows += batch.n_valid() as u64;
        if (n + 1) % plan.disp_batches == 0 {
            let speed = (plan.disp_batches * plan.batch_size as u64) as f64 / since.elapsed().as_secs_f64();
            tracing::info!("Batch [{n}]\tSpeed: {speed:.2} samples/sec");
            since = Instant::now();
        }
        n += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    tracing::info!("{n_rows} samples in {n} batches: {:.2} samples/sec", n_rows as f64 / seconds);
    batches::tell_bad_records(train);
    Ok(())
}
