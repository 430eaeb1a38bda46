//! Lowers the heads of a graph: its outputs and gradients.

use super::{Lowering, NO_VALUE};
use crate::program::Origin;
use mxrs_types::{Layout, Result, WriteReq};

impl Lowering<'_> {
    /// Lowers the heads of this range that have not been lowered yet.
    pub(super) fn heads(&mut self, mut range: std::ops::Range<usize>) -> Result<()> {
        range.try_for_each(|index| if self.program.outputs[index] == NO_VALUE { self.head(index) } else { Ok(()) })
    }

    /// Lets the producer of a row-major head write to the output array. Any other head is copied to the output array.
    pub(super) fn head(&mut self, index: usize) -> Result<()> {
        let entry = self.graph.entry_id(self.graph.heads()[index]);
        let value = self.of_entry[&entry];
        let v = &self.program.values[value];
        // With the request Add, the array holds a sum and not the value itself, so no other step may read the value from it.
        let is_private = self.source.output_reqs[index] != WriteReq::Add
            || (self.graph.consumers(entry).is_empty() && self.n_heads_of[entry.index()] == 1);
        // A copy between devices overwrites its destination and cannot add to it.
        let can_add = self.source.output_reqs[index] != WriteReq::Add || !self.copied.contains(&value);
        let is_own = v.origin == Origin::Temporary && v.desc.layout.is_row_major();
        let is_direct = is_own && self.is_computed[value] && can_add;
        if is_direct && is_private {
            self.program.values[value].origin = Origin::Output(index);
            self.program.outputs[index] = value;
            return Ok(());
        }
        let (desc, device) = (v.desc.with_layout(Layout::RowMajor), v.device);
        let from = if self.source.output_reqs[index] == WriteReq::Add {
            self.in_layout(value, &Layout::RowMajor, &format!("output{index}"))?
        } else {
            value
        };
        let output = self.add_value(desc, Origin::Output(index), device, false);
        let step = self.copy_step(from, output, format!("output{index}"), self.source.output_reqs[index])?;
        self.program.steps.push(step);
        self.program.outputs[index] = output;
        Ok(())
    }
}
