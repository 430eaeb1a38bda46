//! Lowers copies between devices.

use super::Lowering;
use crate::choose::choose_reorder;
use crate::device::backends_on;
use crate::program::{Action, Origin, Program, Step, Value, ValueId};
use mxrs_graph::{Node, NodeId};
use mxrs_types::{Device, Layout, Result};

impl Lowering<'_> {
    /// Adds a step that copies a value to `device`. The copy keeps the layout of the value if the backends of `device` know
    /// this layout. Then the calls that read the copy need no second copy and get the same kernels as in a graph on one
    /// device.
    pub(super) fn cross(&mut self, id: NodeId, node: &Node, input: ValueId, device: Device) -> Result<()> {
        let desc = self.program.values[input].desc.clone();
        let dense = desc.with_layout(Layout::RowMajor);
        let is_known = desc.layout.is_row_major()
            || (matches!(desc.layout, Layout::Blocked { .. })
                && choose_reorder(&backends_on(self.options, device), &desc, &dense).is_ok());
        let mut from = if is_known { input } else { self.in_layout(input, &Layout::RowMajor, &node.name)? };
        let Value { desc, origin, device: source } = self.program.values[from].clone();
        if origin == Origin::Packed {
            // Only arrays are copied between devices. A packed constant is not an array, so it is first copied to a value
            // that becomes a crossing array.
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

/// Gives the source and the destination of each copy between devices an array of its own, unless it is a bound array or an
/// output.
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
