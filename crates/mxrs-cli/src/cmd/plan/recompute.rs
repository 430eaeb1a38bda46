//! `plan --compare` in training: the memory that every mode of recomputation needs for one graph.

use crate::exit::{Failure, Outcome};
use crate::subject::Subject;
use mxrs::exec::{BindOptions, DryGraph, PlannedGraph, Recompute};
use serde::Serialize;

/// The result of one mode.
#[derive(Debug, Serialize)]
pub struct Recomputed {
    /// Name of the mode, as `MXRS_REMAT` accepts it.
    pub mode: String,
    /// Bytes of the arena.
    pub bytes: usize,
    /// Bytes saved compared with no recomputation.
    pub saved_bytes: usize,
    /// Number of operators that run a second time.
    pub operators: usize,
    /// Multiply-adds of the recomputed operators divided by those of all other operators.
    pub extra_time: f64,
    /// Whether the settings choose this mode.
    pub chosen: bool,
}

/// Plans a training step in every mode, and with a budget of half the memory that it needs without recomputation, if that is
/// possible.
///
/// # Errors
/// Returns an error if planning fails.
pub fn all(subject: &Subject, settings: &BindOptions) -> Outcome<Vec<Recomputed>> {
    let plan = |recompute| -> mxrs::Result<PlannedGraph> {
        let options = BindOptions { recompute, ..settings.clone() };
        DryGraph::new(&subject.graph, &subject.inputs(), &options, true)?.plan(&options.plan)
    };
    let off = plan(Recompute::Off).map_err(Failure::binding)?.arena_bytes;
    let half = Recompute::Budget(off / 2);
    let mut modes = vec![Recompute::Off, Recompute::Light, Recompute::Mirror, Recompute::Sqrt, Recompute::Chain, half];
    if !modes.contains(&settings.recompute) {
        modes.push(settings.recompute);
    }
    let mut rows = Vec::new();
    for mode in modes {
        let planned = match plan(mode) {
            Err(_) if mode == half => continue,
            planned => planned.map_err(Failure::binding)?,
        };
        rows.push(Recomputed {
            mode: word(mode),
            bytes: planned.arena_bytes,
            saved_bytes: off.saturating_sub(planned.arena_bytes),
            operators: planned.n_recomputed,
            extra_time: planned.recomputed_work,
            chosen: mode == settings.recompute,
        });
    }
    Ok(rows)
}

fn word(mode: Recompute) -> String {
    match mode {
        Recompute::Off => "off".into(),
        Recompute::Light => "light".into(),
        Recompute::Mirror => "mirror".into(),
        Recompute::Sqrt => "sqrt".into(),
        Recompute::Chain => "chain".into(),
        Recompute::Budget(bytes) => format!("budget:{bytes}"),
    }
}
