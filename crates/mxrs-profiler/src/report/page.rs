//! The page: markup, styles and scripts of this crate, and the figures as JSON.

use super::Store;
use crate::config::Config;
use crate::costs::Roofline;
use crate::memory::{Book, OfDevice};
use crate::names;
use crate::stats::Stats;
use mxrs_trace::{Label, MemoryPlan, details_of};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

const MARKUP: &str = include_str!("page.html");
const STYLES: &str = include_str!("page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("common.js"),
    include_str!("timeline.js"),
    include_str!("table.js"),
    include_str!("memory.js"),
    include_str!("roofline.js"),
    include_str!("start.js"),
];

/// The number of tags at a memory peak that the page lists, the largest first.
const TAGS: usize = 100;
/// The number of rectangles of a memory plan that the page draws, the largest first.
const RECTANGLES: usize = 3000;

pub(super) fn page(
    (store, of_operators): (&Store, &Roofline),
    config: &Config,
    book: &Book,
    stats: &Stats,
    n_dropped: u64,
) -> String {
    let timeline = &store.timeline;
    let mut texts = Texts::default();
    let mut spans = Vec::with_capacity(timeline.spans.len() * 6);
    for span in &timeline.spans {
        let [name, category, details] = [span.name, span.category, span.details].map(|label| texts.number(label));
        spans.extend([span.thread.into(), name, category, details, span.begin_ns, span.ns]);
    }
    let threads: Vec<Value> =
        timeline.threads.iter().map(|(number, name)| json!({ "number": number, "name": name.text() })).collect();
    let details: Vec<Value> = texts.labels.iter().map(|label| details_of(*label).collect()).map(pairs).collect();
    let data = json!({
        "process": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
        "zeroUnixNs": mxrs_trace::zero_wall_ns().to_string(),
        "dropped": n_dropped,
        "leftOut": timeline.n_left_out,
        "shortestNs": timeline.shortest_ns,
        "texts": texts.labels.iter().map(|label| names::cut(label.text())).collect::<Vec<_>>(),
        "details": details,
        "threads": threads,
        "spans": spans,
        "stats": stats_json(stats),
        "memory": book.devices.iter().map(|(device, of_device)| memory(&names::device(*device), of_device)).collect::<Vec<_>>(),
        "peaks": config.peaks.map(|peaks| json!({ "flops": peaks.flops_per_s, "bytes": peaks.bytes_per_s })),
        "roofline": roofline(of_operators, config),
        "plans": store.plans.iter().map(plan).collect::<Vec<_>>(),
    });
    // `<` is escaped, because `</script>` in the data would end the script element.
    let data = data.to_string().replace('<', "\\u003c");
    MARKUP.replace("/*STYLES*/", STYLES).replace("/*SCRIPTS*/", &SCRIPTS.concat()).replace("/*DATA*/", &data)
}

/// Gives each label a number, from 0 without gaps.
#[derive(Default)]
struct Texts {
    labels: Vec<Label>,
    numbers: FxHashMap<Label, u64>,
}

impl Texts {
    fn number(&mut self, label: Label) -> u64 {
        *self.numbers.entry(label).or_insert_with(|| {
            self.labels.push(label);
            self.labels.len() as u64 - 1
        })
    }
}

fn pairs(pairs: Vec<(&str, &str)>) -> Value {
    if pairs.is_empty() { Value::Null } else { json!(pairs) }
}

fn stats_json(stats: &Stats) -> Vec<Value> {
    let entries = stats.categories().flat_map(|(category, entries)| entries.map(move |(name, e)| (category, name, e)));
    entries
        .map(|(category, name, entry)| {
            let factor = entry.unit.factor();
            let [total, min, max] = [entry.total, entry.min, entry.max].map(|value| value as f64 * factor);
            let [p50, p90, p99] = [50, 90, 99].map(|percent| entry.percentile(percent) as f64 * factor);
            let values = [total, min, max, entry.mean() * factor, p50, p90, p99];
            json!({ "category": category, "name": name, "unit": entry.unit.word(), "count": entry.count, "values": values })
        })
        .collect()
}

fn memory(device: &str, of_device: &OfDevice) -> Value {
    let points: Vec<u64> = of_device.course.points().iter().flat_map(|p| [p.at_ns, p.live, p.pool]).collect();
    let peak = &of_device.peak;
    let tags: Vec<_> = peak.tags.iter().take(TAGS).collect();
    let rest: u64 = peak.tags.iter().skip(TAGS).map(|(_, bytes)| bytes).sum();
    json!({ "device": device, "points": points, "peak": { "at": peak.at_ns, "live": peak.live_bytes, "tags": tags, "rest": rest } })
}

fn roofline(of_operators: &Roofline, config: &Config) -> Vec<Value> {
    let sums = of_operators.sums();
    sums.iter()
        .map(|(name, sum)| {
            let share = config.peaks.map(|peaks| sum.share(peaks));
            let limit = share.map(|(_, limit)| limit.to_string());
            json!({
                "name": name, "calls": sum.n_calls, "ns": sum.ns, "flops": sum.flops, "bytes": sum.bytes,
                "share": share.map(|(share, _)| share), "limit": limit,
            })
        })
        .collect()
}

fn plan(plan: &MemoryPlan) -> Value {
    let mut largest: Vec<_> = plan.rectangles.iter().collect();
    largest.sort_by_key(|r| std::cmp::Reverse(r.bytes * (r.last_step - r.first_step.min(r.last_step) + 1)));
    let drawn: Vec<Value> = largest
        .iter()
        .take(RECTANGLES)
        .map(|r| json!([r.name, r.offset, r.bytes, r.first_step, r.last_step]))
        .collect();
    json!({
        "name": plan.name, "arena": plan.arena_bytes, "steps": plan.n_steps, "rectangles": drawn,
        "leftOut": plan.rectangles.len().saturating_sub(RECTANGLES),
    })
}
