//! `plan --compare`: the memory that every algorithm of the planner needs for one graph.

use super::report::algorithm;
use crate::exit::{Failure, Outcome};
use mxrs::exec::{DryGraph, PlannedGraph};
use mxrs::graph::PlanOptions;
use serde::Serialize;

/// The result of one algorithm.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Bytes of memory that the algorithm's plan needs.
    pub bytes: usize,
    /// `bytes` divided by the lower bound of all plans; `None` if nothing has to be planned.
    pub ratio: Option<f64>,
    /// Number of outputs that reuse the memory of an input.
    pub in_place: usize,
    /// Whether the settings choose this algorithm.
    pub chosen: bool,
}

/// Runs all algorithms. The one that the settings choose is the last row.
///
/// # Errors
/// Returns an error if planning fails.
pub fn all(dry: &DryGraph, settings: &PlanOptions, chosen: &PlannedGraph) -> Outcome<Vec<Compared>> {
    let base = PlanOptions { verbose: false, num_colors: 1, enable_inplace: true, ..*settings };
    let range = |range, auto_search| PlanOptions { match_range: Some(range), auto_search, ..base };
    let offset = PlanOptions { match_range: None, allow_offset: true, allow_pool: false, ..base };
    let limit = PlanOptions::DEFAULT_MATCH_RANGE;
    let mut list = vec![
        ("no sharing".to_owned(), PlanOptions { enable_inplace: false, ..range(0, false) }),
        ("in place only".to_owned(), range(0, false)),
    ];
    list.extend([1, 2, 4, 8, limit].map(|r| (format!("pool, match range {r}"), range(r, false))));
    list.push((format!("pool, sweep to {limit}"), range(limit, true)));
    list.push(("offset, in place off".to_owned(), PlanOptions { enable_inplace: false, ..offset }));
    list.push(("offset".to_owned(), offset));
    let least = dry.plan(&base).map_err(Failure::binding)?.report.lower_bound_bytes;
    let compared = |name: String, planned: &PlannedGraph, chosen| Compared {
        algorithm: name,
        bytes: planned.report.bytes,
        ratio: (least > 0).then(|| planned.report.bytes as f64 / least as f64),
        in_place: planned.report.n_inplace,
        chosen,
    };
    let mut rows = Vec::new();
    for (name, options) in list {
        rows.push(compared(name, &dry.plan(&options).map_err(Failure::binding)?, false));
    }
    rows.push(compared(format!("chosen: {}", algorithm(chosen.report.algorithm)), chosen, true));
    Ok(rows)
}
