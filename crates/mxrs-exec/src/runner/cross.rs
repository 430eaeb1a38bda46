//! Copies between devices: finds or makes their source and destination arrays, and pushes the copies.

use crate::pool::MemoryPool;
use crate::program::{Origin, Program, ValueId};
use mxrs_engine::OpName;
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Device, Error, Result, ResultExt, Shape};
use std::sync::Arc;

/// A step that copies between devices, with its arrays.
pub struct Cross {
    /// The step.
    pub step: usize,
    /// The array to copy.
    pub from: NdArray,
    /// The copy.
    pub to: NdArray,
    /// Name and operator of the step, and the devices.
    name: Arc<str>,
}

impl Cross {
    /// Pushes the copy. The engine orders it by the variables of the two arrays.
    ///
    /// # Errors
    /// Returns an error if memory for the copy is short; with `NaiveEngine` also the error of the copy.
    pub fn push(&self) -> Result<()> {
        let copied = self.to.copy_named(&self.from, OpName::from(Arc::clone(&self.name)));
        copied.context(|| format!("running `{}`", self.name))
    }
}

/// The copies between devices of a program, in the order of their steps.
///
/// # Errors
/// Returns an error if the source or the destination of a copy is not an array.
pub fn crosses(program: &Program, bound: &[NdArray], outputs: &[NdArray], crossings: &[NdArray]) -> Result<Vec<Cross>> {
    let array = |value: ValueId| match program.values[value].origin {
        Origin::Bound(index) => Ok(bound[index].clone()),
        Origin::Output(index) => Ok(outputs[index].clone()),
        Origin::Crossing(index) => Ok(crossings[index].clone()),
        other => Err(Error::invalid("end of a copy between devices", format!("{other:?}"), "an array")),
    };
    let steps = program.steps.iter().enumerate().filter(|(_, step)| step.crosses());
    let cross = |(at, step): (usize, &crate::program::Step)| {
        let (from, to) = (array(step.inputs[0])?, array(step.outputs[0])?);
        let devices = format!("from {} to {}", program.values[step.inputs[0]].device, step.device);
        let name = format!("{} ({} {devices})", step.name, step.op);
        Ok(Cross { step: at, from, to, name: name.into() })
    };
    steps.map(cross).collect()
}

/// Makes the crossing arrays of a program, or takes those of other executors of the pool.
///
/// # Errors
/// Returns an error if memory runs out.
pub fn crossing_arrays(program: &Program, pool: &MemoryPool) -> Result<Vec<NdArray>> {
    let array = |(index, value): (usize, &ValueId)| {
        let desc = &program.values[*value].desc;
        // The array is only copied, so its type does not matter. A layout other than row-major may have padding, so the
        // array is made of as many bytes as the layout has.
        let (shape, dtype) = match desc.layout.is_row_major() {
            true => (desc.shape.clone(), desc.dtype),
            false => (Shape::from([desc.size_bytes()]), DType::U8),
        };
        pool.view(&format!("crossing {index}"), &shape, dtype, memory_of(program, *value))
    };
    program.crossings.iter().enumerate().map(array).collect()
}

/// Where the crossing array of a value lies: on the device of the value. If that is the host and another device copies from
/// or to the array, it is in pinned memory, which that device can read and write.
fn memory_of(program: &Program, value: ValueId) -> Device {
    let device = program.values[value].device;
    let other_end = |step: &crate::program::Step| match (step.inputs[0], step.outputs[0]) {
        (from, to) if from == value => Some(program.values[to].device),
        (from, to) if to == value => Some(program.values[from].device),
        _ => None,
    };
    let mut others = program.steps.iter().filter(|step| step.crosses()).filter_map(other_end);
    match others.find(|other| device.is_host() && !other.is_host()) {
        Some(other) => Device::cpu_pinned(other.id),
        None => device,
    }
}
