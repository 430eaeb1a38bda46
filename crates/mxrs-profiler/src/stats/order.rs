//! The order of the entries of a category.

use super::{Entry, Stats, Unit};
use mxrs_types::{Error, Result};
use std::cmp::Ordering;
use std::str::FromStr;

/// The column by which the entries of a category are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SortBy {
    /// For times, the sum; for counters and memory, the last value.
    #[default]
    Total,
    /// The mean.
    Avg,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The number of values.
    Count,
}

impl FromStr for SortBy {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        Ok(match word {
            "total" => Self::Total,
            "avg" => Self::Avg,
            "min" => Self::Min,
            "max" => Self::Max,
            "count" => Self::Count,
            _ => return Err(Error::invalid("column to sort by", word, "`total`, `avg`, `min`, `max` or `count`")),
        })
    }
}

impl SortBy {
    fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        let of = |entry: &Entry| {
            // MXNet sorts counters as if their values were microseconds, so they are scaled in the same way here.
            let scale = if entry.unit == Unit::Number { 1000.0 } else { 1.0 };
            scale
                * match self {
                    Self::Total => entry.total as f64,
                    Self::Avg => entry.mean(),
                    Self::Min => entry.min as f64,
                    Self::Max => entry.max as f64,
                    Self::Count => return entry.count as f64,
                }
        };
        of(a).total_cmp(&of(b))
    }
}

/// The categories in order of their names, each with its entries in the order of the column, as MXNet sorts them: entries
/// with equal values are in the reverse order of their names.
pub(super) fn sorted(stats: &Stats, sort_by: SortBy, ascending: bool) -> Vec<(&str, Vec<(&'static str, &Entry)>)> {
    let categories = stats.categories().map(|(category, entries)| {
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|(name_a, a), (name_b, b)| {
            let order = sort_by.compare(a, b);
            let order = if ascending { order } else { order.reverse() };
            order.then_with(|| name_b.cmp(name_a))
        });
        (category, entries)
    });
    categories.collect()
}
