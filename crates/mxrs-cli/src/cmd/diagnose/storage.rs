//! Statistics of the memory pools of each device.

use super::Section;
use mxrs::Runtime;
use mxrs::storage::PoolStats;
use serde_json::{Map, Value};

/// The section about memory pools: one line for each device that was used, with sizes in bytes.
pub fn section(runtime: &Runtime) -> Section {
    let mut section = Section::new("---------Storage Info----------", "storage");
    for (device, stats) in runtime.storage().stats_all() {
        section.add(&device.to_string(), figures(&stats));
    }
    section
}

fn figures(stats: &PoolStats) -> Value {
    let figures = [
        ("live", stats.live_requested),
        ("cached", stats.cached_bytes),
        ("reserved", stats.reserved),
        ("peak", stats.peak_reserved),
        ("allocations", stats.allocations),
        ("hits", stats.hits),
        ("system requests", stats.system_requests),
        ("flushes", stats.flushes),
        ("flushed", stats.flushed_bytes),
    ];
    Value::Object(figures.into_iter().map(|(name, n)| (name.to_owned(), n.into())).collect::<Map<_, _>>())
}
