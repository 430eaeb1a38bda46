//! Operators that fill a tensor with one value.

use super::loops::cast_mut;
use super::{Run, Step, StepCall, StepResult};
use mxrs_op::elements;
use mxrs_ops::init::full::FullParams;
use mxrs_types::DType;

/// Returns the function that fills a tensor with `value`, converted to this dtype.
fn fill(dtype: DType, value: f64) -> Run {
    let mut word = 0u64;
    elements::write_f64(&[value], dtype, &mut bytemuck::bytes_of_mut(&mut word)[..dtype.size_of()]);
    let bytes: [u8; 8] = bytemuck::cast(word);
    match dtype.size_of() {
        1 => Box::new(move |_, out| out.fill(bytes[0])),
        2 => Box::new(move |_, out| cast_mut::<[u8; 2]>(out).fill([bytes[0], bytes[1]])),
        4 => Box::new(move |_, out| cast_mut::<u32>(out).fill(bytemuck::cast::<_, [u32; 2]>(bytes)[0])),
        _ => Box::new(move |_, out| cast_mut::<u64>(out).fill(word)),
    }
}

/// Returns the `Step` (the function of slices) of an operator that fills a tensor with one value; `None` for other
/// operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let value = match call.name {
        "zeros_like" | "_zeros" => 0.0,
        "ones_like" | "_ones" => 1.0,
        "_full" => call.params.get::<FullParams>().value,
        _ => return None,
    };
    Some(Ok(Step { reads: Vec::new(), run: fill(call.output, value) }))
}
