//! Lowers copies between devices.

use super::Lowering;
use crate::choose::choose_reorder;
use crate::device::backends_on;
use crate::program::{Action, Origin, Program, Step, Value, ValueId};
use mxrs_graph::{Node, NodeId};
use mxrs_types::{Device, Layout, Result};

impl Lowering<'_> {
    /// Adds a step that copies a value to `device`. The copy has the layout of the value if the backends of `device` know that
    /// layout; then kernels there need no other copy, and are those that would be chosen on one device.
    pub(super) fn cross(&mut self, id: NodeId, node: &Node, input: ValueId, device: Device) -> Result<()> {
        let desc = self.program.values[input].desc.clone();
        let dense = desc.with_layout(Layout::RowMajor);
        let is_known = desc.layout.is_row_major()
            || (matches!(desc.layout, Layout::Blocked { .. })
                && choose_reorder(&backends_on(self.options, device), &desc, &dense).is_ok());
        let mut from = if is_known { input } else { self.in_layout(input, &Layout::RowMajor, &node.name)? };
        let Value { desc, origin, device: source } = self.program.values[from].clone();
        if origin == Origin::Packed {
            // Only arrays are copied between devices, and a constant has none.
            let array = self.add_value(desc.clone(), Origin::Temporary, source, false);
            let name = format!("{}_source", node.name);
            self.program.steps.push(Step::copy(name, ("", Action::View), source, vec![from], vec![array]));
            from = array;
        }
        let output = self.add_value(desc, Origin::Temporary, device, false);
        self.is_computed[output] = true;
        self.copied.insert(output);
        self.of_entry.insert(self.graph.output_id(id, 0), output);
        self.program.steps.push(Step {
            op: node.op_name().into(),
            is_clone: node.clone_of.is_some(),
            ..Step::copy(node.name.clone(), ("", Action::Cross), device, vec![from], vec![output])
        });
        Ok(())
    }
}

/// Gives the ends of copies between devices arrays of their own, unless they are bound arrays or outputs.
pub fn give_arrays(program: &mut Program) {
    for at in 0..program.steps.len() {
        let step = &program.steps[at];
        if !step.crosses() {
            continue;
        }
        for value in [step.inputs[0], step.outputs[0]] {
            if program.values[value].origin == Origin::Temporary {
                program.values[value].origin = Origin::Crossing(program.crossings.len());
                program.crossings.push(value);
            }
        }
    }
}
