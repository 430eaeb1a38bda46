//! The terms of each entry's gradient, and their sum.
//!
//! If an entry has few readers, its terms become one `add_n` when all are available. If it has many readers, a `_grad_add`
//! adds each term as soon as the term is available. The call that makes a term then waits for the sum of the earlier terms,
//! so that only two terms are alive at a time. Both methods add from the first term to the last.

use super::sweep::Sweep;
use crate::{Entry, EntryId, NodeId};
use mxrs_op::Attrs;
use mxrs_types::Result;

/// The terms collected for an entry.
#[derive(Default)]
pub(super) struct Terms {
    /// Terms that are not summed yet. If terms are added one by one, the list holds at most one term or partial sum.
    list: Vec<Entry>,
    /// Whether `list[0]` is a partial sum, which `add_term` made.
    has_partial: bool,
    /// The gradient, once all readers have been visited.
    pub sum: Option<Entry>,
}

impl Sweep<'_> {
    /// Adds a term to the gradient of `entry`; a term that is zero is ignored.
    pub(super) fn add_term(&mut self, entry: EntryId, term: Entry) -> Result<()> {
        if self.zeros.contains(&term.node) {
            return Ok(());
        }
        let is_chained = self.n_readers[entry.index()] as usize >= self.sum_cap;
        let terms = &mut self.terms[entry.index()];
        match terms.list.first().copied().filter(|_| is_chained) {
            None => terms.list.push(term),
            Some(partial) => {
                let waits = terms.has_partial && term.node > partial.node;
                if waits && !self.out.node(term.node).is_none_or(crate::Node::is_variable) {
                    self.out.add_control_deps(term.node, &[partial.node])?;
                }
                let sum = self.sum_call("_grad_add", entry, Attrs::new(), vec![partial, term])?;
                let terms = &mut self.terms[entry.index()];
                terms.list[0] = sum;
                terms.has_partial = true;
            }
        }
        Ok(())
    }

    /// Sums the terms of `entry`, after all its readers have been visited.
    pub(super) fn close(&mut self, entry: EntryId) -> Result<Option<Entry>> {
        let list = std::mem::take(&mut self.terms[entry.index()].list);
        let sum = match list.as_slice() {
            [] => None,
            [one] => Some(*one),
            many => {
                let n = many.len().to_string();
                Some(self.sum_call("add_n", entry, Attrs::from([("num_args", n.as_str())]), list)?)
            }
        };
        self.terms[entry.index()].sum = sum;
        Ok(sum)
    }

    fn sum_call(&mut self, op: &str, entry: EntryId, attrs: Attrs, inputs: Vec<Entry>) -> Result<Entry> {
        let of: NodeId = self.graph.entry_at(entry).0;
        let name = format!("{}_grad_sum", self.graph.node(of).name);
        Ok(Entry::new(self.add_call(op, name, attrs, inputs, of)?, 0))
    }

    /// The gradient of `entry`: its sum, or zeros of its shape.
    pub(super) fn gradient_or_zeros(&mut self, entry: EntryId) -> Result<Entry> {
        if let Some(sum) = self.terms[entry.index()].sum {
            return Ok(sum);
        }
        let (of, index) = self.graph.entry_at(entry);
        let name = format!("{}_grad_zeros", self.graph.node(of).name);
        let value = Entry::new(of, index as u32);
        Ok(Entry::new(self.add_call("zeros_like", name, Attrs::new(), vec![value], of)?, 0))
    }
}
