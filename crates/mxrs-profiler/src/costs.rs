//! What operators cost, and how close they are to what the machine can do.

use crate::config::Peaks;
use mxrs_trace::{Label, Span, SpanKind, details_of};
use rustc_hash::FxHashMap;
use std::fmt;

/// The time and the costs of all calls of one operator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// The number of calls.
    pub n_calls: u64,
    /// The time of all calls in nanoseconds.
    pub ns: u64,
    /// Floating-point operations of all calls; a multiply-add is two.
    pub flops: f64,
    /// Bytes that the calls read and write at least.
    pub bytes: f64,
}

/// What limits an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Arithmetic.
    Compute,
    /// The bandwidth of memory.
    Memory,
    /// Neither arithmetic nor memory: the operator takes more than ten times as long as these need at the peak speeds.
    Overhead,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Overhead => "overhead",
        })
    }
}

impl Costs {
    /// The share of the operator's time that the machine needs at its peak speeds, from 0 to 1, and what limits the
    /// operator.
    #[must_use]
    pub fn share(&self, peaks: Peaks) -> (f64, Limit) {
        let seconds = self.ns as f64 * 1e-9;
        let (compute, memory) = (self.flops / peaks.flops_per_s, self.bytes / peaks.bytes_per_s);
        let share = if seconds > 0.0 { compute.max(memory) / seconds } else { 0.0 };
        let limit = match () {
            () if share < 0.1 => Limit::Overhead,
            () if compute >= memory => Limit::Compute,
            () => Limit::Memory,
        };
        (share, limit)
    }
}

/// The sums over operators whose details contain `flops` or `bytes`, by operator name.
#[derive(Debug, Default)]
pub(crate) struct Roofline {
    sums: FxHashMap<Label, Costs>,
    /// The costs of each text of details, so that it is parsed only once.
    costs: FxHashMap<Label, Option<(f64, f64)>>,
}

impl Roofline {
    pub(crate) fn take(&mut self, span: &Span) {
        if !matches!(span.kind, SpanKind::Symbolic | SpanKind::Imperative) {
            return;
        }
        let costs = *self.costs.entry(span.details).or_insert_with(|| costs_of(span.details));
        let Some((flops, bytes)) = costs else { return };
        let sum = self.sums.entry(span.name).or_default();
        sum.n_calls += 1;
        sum.ns += span.end_ns.saturating_sub(span.begin_ns);
        sum.flops += flops;
        sum.bytes += bytes;
    }

    /// The sums, those with the longest times first.
    pub(crate) fn sums(&self) -> Vec<(&'static str, Costs)> {
        let mut sums: Vec<_> = self.sums.iter().map(|(name, sum)| (name.text(), *sum)).collect();
        sums.sort_by(|a, b| (b.1.ns, a.0).cmp(&(a.1.ns, b.0)));
        sums
    }
}

fn costs_of(details: Label) -> Option<(f64, f64)> {
    let number = |wanted| details_of(details).find(|(name, _)| *name == wanted)?.1.parse::<f64>().ok();
    match (number("flops"), number("bytes")) {
        (None, None) => None,
        (flops, bytes) => Some((flops.unwrap_or(0.0), bytes.unwrap_or(0.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_of_both_times_limits() {
        let peaks = Peaks { flops_per_s: 1e12, bytes_per_s: 1e10 };
        let of = |ns, flops, bytes| Costs { n_calls: 1, ns, flops, bytes }.share(peaks);
        let is = |(share, limit): (f64, Limit), expected: f64, wanted| {
            assert!((share - expected).abs() < 1e-9, "{share}");
            assert_eq!(limit, wanted);
        };
        is(of(2_000_000, 1e9, 1e6), 0.5, Limit::Compute);
        is(of(1_000_000, 1e8, 5e6), 0.5, Limit::Memory);
        is(of(100_000_000, 1e9, 1e6), 0.01, Limit::Overhead);
        is(of(0, 1.0, 1.0), 0.0, Limit::Overhead);
    }
}
