//! The metrics that a training reports.

use crate::exit::{Failure, Outcome};
use mxrs::train::metric::{self, CompositeEvalMetric, EvalMetric};

/// Accuracy, then the top-k accuracy if `top_k` is above 0, then the losses by name.
///
/// # Errors
/// [`Failure::Usage`] if a loss is unknown.
pub fn metrics(top_k: usize, losses: &str) -> Outcome<CompositeEvalMetric> {
    let usage = |error: mxrs::Error| Failure::Usage(error.to_string());
    let mut all: Vec<Box<dyn EvalMetric>> = vec![metric::create("accuracy", &[]).map_err(usage)?];
    if top_k > 0 {
        all.push(metric::create("top_k_accuracy", &[("top_k", &top_k.to_string())]).map_err(usage)?);
    }
    for name in losses.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let loss = match name {
            "ce" | "nll-loss" => metric::create(name, &[]).map_err(usage)?,
            // Other spellings of `nll-loss` that MXNet's script accepts.
            "nll" | "nll_loss" => metric::create("nll-loss", &[]).map_err(usage)?,
            other => return Err(Failure::Usage(format!("--loss: `{other}` is not ce or nll-loss"))),
        };
        all.push(loss);
    }
    Ok(CompositeEvalMetric::new(all))
}
