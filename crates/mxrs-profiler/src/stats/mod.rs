//! Statistics of the records: one entry for each name in each category.
//!
//! MXNet's table has the same columns. Its average of a counter is half the difference of maximum and minimum; here every
//! average is the mean. MXNet prints counters of users as milliseconds; here they are plain numbers.

mod csv;
mod histogram;
mod json;
mod order;
mod table;

pub(crate) use csv::in_quotes;
pub use order::SortBy;

use crate::memory::Level;
use crate::names;
use histogram::Histogram;
use mxrs_trace::{Event, Label};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The form of the text that [`crate::Profiler::dumps`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// MXNet's table.
    #[default]
    Table,
    /// MXNet's JSON, with the percentiles `P50`, `P90` and `P99` in addition.
    Json,
    /// One line per entry, separated by commas.
    Csv,
}

/// What the values of an entry are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, printed as milliseconds.
    Time,
    /// Bytes, printed as kB of 1000 bytes.
    Memory,
    /// Plain numbers, the values of a counter.
    Number,
}

impl Unit {
    /// The factor by which a value is multiplied when it is printed.
    pub(crate) fn factor(self) -> f64 {
        match self {
            Self::Time => 1e-6,
            Self::Memory => 1e-3,
            Self::Number => 1.0,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Time => "ms",
            Self::Memory => "kB",
            Self::Number => "",
        }
    }
}

/// The statistics of one name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What the values are.
    pub unit: Unit,
    /// The number of values.
    pub count: u64,
    /// For times, the sum; for counters and memory, the last value.
    pub total: u64,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
    sum: u128,
    histogram: Histogram,
}

impl Entry {
    fn new(unit: Unit) -> Self {
        Self { unit, count: 0, total: 0, min: u64::MAX, max: 0, sum: 0, histogram: Histogram::default() }
    }

    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.total = if self.unit == Unit::Time { self.total.saturating_add(value) } else { value };
        (self.min, self.max) = (self.min.min(value), self.max.max(value));
        self.histogram.add(value);
    }

    /// The mean of all values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The value that `percent` percent of the values do not exceed, with an error of at most 1.6 %.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> u64 {
        // The middle of the first or the last bucket may lie outside the range of the values, so the result is limited to
        // this range.
        self.histogram.percentile(percent.min(100)).clamp(self.min.min(self.max), self.max)
    }
}

/// The statistics of all records.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// By category, then by name.
    categories: BTreeMap<String, FxHashMap<Label, Entry>>,
}

impl Stats {
    /// Adds a record.
    pub(crate) fn add(&mut self, event: &Event) {
        match event {
            Event::Span(span) => {
                let entry = self.entry(&names::category_of(span), span.name, Unit::Time);
                entry.add(span.end_ns.saturating_sub(span.begin_ns));
            }
            Event::Count(count) => {
                self.entry(names::domain_of(count.category), count.name, Unit::Number).add(count.value);
            }
            // MXNet lists the category of a mark, but without entries.
            Event::Mark(mark) => _ = self.category(&names::marks_of(mark.category)),
            _ => {}
        }
    }

    /// Adds the memory of a device after a record has changed it.
    pub(crate) fn add_memory(&mut self, level: &Level) {
        let (category, counter, bytes) = names::counter_of(level);
        self.entry(category, Label::of(&counter), Unit::Memory).add(bytes);
    }

    fn category(&mut self, category: &str) -> &mut FxHashMap<Label, Entry> {
        if !self.categories.contains_key(category) {
            self.categories.insert(category.to_owned(), FxHashMap::default());
        }
        match self.categories.get_mut(category) {
            Some(entries) => entries,
            None => unreachable!("the category was just added"),
        }
    }

    fn entry(&mut self, category: &str, name: Label, unit: Unit) -> &mut Entry {
        self.category(category).entry(name).or_insert_with(|| Entry::new(unit))
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.categories.clear();
    }

    /// The entry of a name in a category, such as `operator`.
    #[must_use]
    pub fn get(&self, category: &str, name: &str) -> Option<&Entry> {
        self.categories.get(category)?.get(&Label::of(name))
    }

    /// The categories in order, and for each its entries in any order.
    pub fn categories(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = (&'static str, &Entry)>)> {
        self.categories
            .iter()
            .map(|(category, entries)| (category.as_str(), entries.iter().map(|(name, entry)| (name.text(), entry))))
    }

    /// The statistics as text.
    #[must_use]
    pub fn print(&self, format: Format, sort_by: SortBy, ascending: bool) -> String {
        match format {
            Format::Table => table::print(self, sort_by, ascending),
            Format::Json => json::print(self, sort_by, ascending),
            Format::Csv => csv::print(self, sort_by, ascending),
        }
    }
}
