//! Concatenations in place: whoever makes a part writes it where it belongs in the whole, and the call that joins them copies
//! nothing.
//!
//! That is done where each part lies in one piece in the whole, at a cache line: along the first axis longer than 1, in
//! row-major order or in blocks of channels that all parts but the last fill. It is left alone where a part is read by anybody else, or
//! twice, or is made by no kernel, and in programs with a gradient. A program is planned both ways; it stays as it is
//! where the parts in place would need a larger arena.

use crate::program::{Action, Origin, Program, Step, ValueId};
use mxrs_op::TensorDesc;
use mxrs_types::Layout;

const CONCAT: &str = "Concat";
/// Where kernels expect tensors to begin.
const ALIGNMENT: usize = 64;

/// The program without the copies, `None` where there is nothing to leave out.
pub fn joined(program: &Program) -> Option<Program> {
    let is_inference = program.n_forward == program.steps.len() && program.sums.is_empty();
    if !is_inference || !program.steps.iter().any(|step| step.op == CONCAT) {
        return None;
    }
    let uses = Uses::of(program);
    let mut joined: Option<Program> = None;
    for (at, step) in program.steps.iter().enumerate() {
        // What a part of a whole is may be a whole itself; then its own parts stay where they are.
        let Some(offsets) = offsets(program, step, &uses) else { continue };
        let joined = joined.get_or_insert_with(|| program.clone());
        let whole = step.outputs[0];
        for (part, offset_bytes) in step.inputs.iter().zip(offsets) {
            joined.values[*part].origin = Origin::Part { whole, offset_bytes };
        }
        let step = &mut joined.steps[at];
        (step.action, step.backend, step.scratch_bytes) = (Action::View, "", 0);
        step.inplace.clear();
    }
    let mut joined = joined?;
    // A part of a part would have no memory of its own to be in.
    let is_nested = |program: &Program, value: &ValueId| match program.values[*value].origin {
        Origin::Part { whole, .. } => matches!(program.values[whole].origin, Origin::Part { .. }),
        _ => false,
    };
    for at in 0..joined.steps.len() {
        if program.steps[at].op == CONCAT && joined.steps[at].inputs.iter().any(|v| is_nested(&joined, v)) {
            joined.steps[at] = program.steps[at].clone();
            let parts = joined.steps[at].inputs.clone();
            parts.into_iter().for_each(|part| joined.values[part].origin = Origin::Temporary);
        }
    }
    let values = &joined.values;
    let is_part = |value: &ValueId| matches!(values[*value].origin, Origin::Part { .. });
    for step in &mut joined.steps {
        let outputs = &step.outputs;
        step.inplace.retain(|(_, output)| !is_part(&outputs[*output]));
    }
    Some(joined)
}

/// Who makes and reads each value.
struct Uses {
    n_readers: Vec<usize>,
    /// Step that makes it with a kernel.
    maker: Vec<Option<usize>>,
}

impl Uses {
    fn of(program: &Program) -> Self {
        let mut uses = Self { n_readers: vec![0; program.values.len()], maker: vec![None; program.values.len()] };
        for (at, step) in program.steps.iter().enumerate() {
            step.inputs.iter().for_each(|value| uses.n_readers[*value] += 1);
            let n_plain = step.outputs.len() - step.n_rewrites;
            if !step.is_view() {
                step.outputs[..n_plain].iter().for_each(|value| uses.maker[*value] = Some(at));
            }
        }
        program.outputs.iter().for_each(|value| uses.n_readers[*value] += 1);
        uses
    }
}

/// Where the parts of a concatenation begin in the whole, if they can be made there.
fn offsets(program: &Program, step: &Step, uses: &Uses) -> Option<Vec<usize>> {
    let [whole] = step.outputs[..] else { return None };
    if step.op != CONCAT || step.is_view() || step.inputs.len() < 2 {
        return None;
    }
    let value = |value: ValueId| &program.values[value];
    let is_private = |part: &ValueId| {
        value(*part).origin == Origin::Temporary && uses.n_readers[*part] == 1 && uses.maker[*part].is_some()
    };
    if value(whole).origin != Origin::Temporary || uses.n_readers[whole] == 0 || !step.inputs.iter().all(is_private) {
        return None;
    }
    let parts: Vec<&TensorDesc> = step.inputs.iter().map(|part| &value(*part).desc).collect();
    part_offsets(&value(whole).desc, &parts)
}

/// Bytes before each part, where each lies in one piece.
fn part_offsets(whole: &TensorDesc, parts: &[&TensorDesc]) -> Option<Vec<usize>> {
    let differs = |axis: &usize| parts.iter().any(|part| part.shape.get(*axis) != whole.shape.get(*axis));
    let axis = (0..whole.shape.len()).find(differs)?;
    if whole.shape[..axis].iter().any(|size| *size != 1) {
        return None;
    }
    // Numbers along the axis that lie together, and how far apart such blocks are.
    let (block, distance) = match &whole.layout {
        Layout::RowMajor => (1, whole.shape[axis + 1..].iter().product::<usize>()),
        Layout::Blocked { strides, blocks, .. } => {
            let of_axis = blocks.iter().filter(|(d, _)| usize::from(*d) == axis).map(|(_, n)| usize::from(*n));
            (of_axis.product::<usize>(), *strides.get(axis)?)
        }
        _ => return None,
    };
    let mut offsets = Vec::with_capacity(parts.len());
    let (mut before, mut end) = (0, 0);
    for (i, part) in parts.iter().enumerate() {
        let is_alike = match (&part.layout, &whole.layout) {
            (Layout::RowMajor, Layout::RowMajor) => true,
            (
                Layout::Blocked { strides: of_part, blocks: part_blocks, .. },
                Layout::Blocked { strides: of_whole, blocks: whole_blocks, .. },
            ) => part_blocks == whole_blocks && of_part.get(axis..) == of_whole.get(axis..),
            _ => false,
        };
        let size = *part.shape.get(axis)?;
        let offset = before / block * distance * whole.dtype.size_of();
        let fills = i + 1 == parts.len() || size.is_multiple_of(block);
        let follows = offset == end && offset.is_multiple_of(ALIGNMENT);
        if !is_alike || !fills || !follows || part.dtype != whole.dtype || part.size_bytes() == 0 {
            return None;
        }
        offsets.push(offset);
        (before, end) = (before + size, offset + part.size_bytes());
    }
    (end == whole.size_bytes()).then_some(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::DType;

    /// `nChw16c` of a tensor of four axes.
    fn blocked(sizes: [usize; 4]) -> TensorDesc {
        let [n, c, h, w] = sizes;
        let c = c.next_multiple_of(16);
        let layout = Layout::Blocked {
            padded: [n, c, h, w].into_iter().collect(),
            strides: [c * h * w, h * w * 16, w * 16, 16].into_iter().collect(),
            blocks: [(1, 16)].into_iter().collect(),
        };
        TensorDesc::dense(sizes, DType::F32).with_layout(layout)
    }

    /// `nhwc`.
    fn pixels(sizes: [usize; 4]) -> TensorDesc {
        let [_, c, h, w] = sizes;
        let layout = Layout::Blocked {
            padded: sizes.into_iter().collect(),
            strides: [c * h * w, 1, w * c, c].into_iter().collect(),
            blocks: Default::default(),
        };
        TensorDesc::dense(sizes, DType::F32).with_layout(layout)
    }

    fn rows(sizes: [usize; 4]) -> TensorDesc {
        TensorDesc::dense(sizes, DType::F32)
    }

    fn along_channels(make: fn([usize; 4]) -> TensorDesc, n: usize, channels: &[usize]) -> Option<Vec<usize>> {
        let parts: Vec<TensorDesc> = channels.iter().map(|c| make([n, *c, 4, 4])).collect();
        part_offsets(&make([n, channels.iter().sum(), 4, 4]), &parts.iter().collect::<Vec<_>>())
    }

    #[test]
    fn parts_of_one_image_lie_in_one_piece() {
        assert_eq!(along_channels(rows, 1, &[16, 4, 5]), Some(vec![0, 1024, 1280]));
        assert_eq!(along_channels(blocked, 1, &[16, 32, 16]), Some(vec![0, 1024, 3072]));
        // The last one may end within a block, as the whole does.
        assert_eq!(along_channels(blocked, 1, &[16, 20]), Some(vec![0, 1024]));
    }

    #[test]
    fn other_parts_are_copied() {
        assert_eq!(along_channels(rows, 2, &[16, 16]), None, "a part of each image");
        assert_eq!(along_channels(blocked, 2, &[16, 16]), None, "a part of each image");
        assert_eq!(along_channels(blocked, 1, &[20, 16]), None, "a block of two parts");
        assert_eq!(along_channels(blocked, 1, &[30, 31]), None, "as many blocks, but not the same");
        assert_eq!(along_channels(pixels, 1, &[16, 16]), None, "a part of each pixel");
        let short = |sizes| TensorDesc { dtype: DType::BF16, ..rows(sizes) };
        let (a, b) = (short([1, 1, 1, 3]), short([1, 1, 1, 5]));
        assert_eq!(part_offsets(&short([1, 1, 1, 8]), &[&a, &b]), None, "no cache line begins there");
        let (a, b) = (rows([1, 16, 4, 4]), blocked([1, 16, 4, 4]));
        assert_eq!(part_offsets(&rows([1, 32, 4, 4]), &[&a, &b]), None, "another layout");
    }

    #[test]
    fn images_follow_one_another() {
        let parts = [blocked([2, 20, 4, 4]), blocked([3, 20, 4, 4])];
        let offsets = part_offsets(&blocked([5, 20, 4, 4]), &parts.iter().collect::<Vec<_>>());
        assert_eq!(offsets, Some(vec![0, 2 * 32 * 16 * 4]));
    }
}
