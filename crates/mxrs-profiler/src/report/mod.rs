//! The report: one HTML page with the timeline, the statistics, memory over time and the roofline. It needs no network.

mod page;
mod timeline;

use crate::config::Config;
use crate::costs::Roofline;
use crate::memory::Book;
use crate::stats::Stats;
use mxrs_trace::{Event, MemoryPlan, ThreadInfo};
use timeline::Timeline;

/// What the report keeps of the records, in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Store {
    timeline: Timeline,
    plans: Vec<MemoryPlan>,
}

impl Store {
    pub(crate) fn take(&mut self, thread: ThreadInfo, event: &Event) {
        if let Event::Span(span) = event {
            self.timeline.take(thread, span);
        }
    }

    /// Adds a memory plan; the report shows the last ones.
    pub(crate) fn add_plan(&mut self, plan: MemoryPlan) {
        const MOST: usize = 8;
        if self.plans.len() == MOST {
            self.plans.remove(0);
        }
        self.plans.push(plan);
    }

    /// The page.
    pub(crate) fn page(
        &self,
        config: &Config,
        roofline: &Roofline,
        book: &Book,
        stats: &Stats,
        n_dropped: u64,
    ) -> String {
        page::page((self, roofline), config, book, stats, n_dropped)
    }
}
