//! One measurement: warm-up runs, then timed runs that wait for their outputs.

use crate::exit::Outcome;
use crate::interrupt;
use crate::networks::Input;
use mxrs::{BoundModel, Model, Result};
use std::time::Instant;

/// Options of a measurement.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Batch size.
    pub batch_size: usize,
    /// Number of runs before the timed ones.
    pub warmup: u32,
    /// Number of timed runs.
    pub num_batches: u32,
    /// Number of measurements.
    pub repeat: u32,
}

/// Images per second of each measurement, and the bound model that was measured.
///
/// # Errors
/// Fails if the model cannot be bound, if a kernel fails, or if the command is interrupted.
pub fn measure(model: &Model, input: &Input, plan: Plan) -> Outcome<(Vec<f64>, BoundModel)> {
    let bound = model.bind(&[(&input.name, input.shape(plan.batch_size))])?;
    input.fill(bound.executor().argument(&input.name)?)?;
    for _ in 0..plan.warmup {
        interrupt::check()?;
        run(&bound)?;
    }
    let mut figures = Vec::new();
    for _ in 0..plan.repeat {
        let start = Instant::now();
        for _ in 0..plan.num_batches {
            interrupt::check()?;
            run(&bound)?;
        }
        let images = f64::from(plan.num_batches) * plan.batch_size as f64;
        figures.push(images / start.elapsed().as_secs_f64());
    }
    Ok((figures, bound))
}

fn run(bound: &BoundModel) -> Result<()> {
    bound.forward(&[])?.iter().try_for_each(|output| output.wait_to_read())
}
