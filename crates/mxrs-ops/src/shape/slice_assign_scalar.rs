//! Replaces a part of a tensor by a number: `out` is data, with the number in the ranges that `slice` takes with the same
//! `begin`, `end` and `step`.
//!
//! Gradient: `ograd` with zeros in the ranges.
//!
//! MXNet: `_slice_assign_scalar`, also `_crop_assign_scalar`, `_npi_slice_assign_scalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::indexing::for_each_index;
use crate::families::ranges::{self, known, learn_part, position};
use crate::inference::{unify, unify_dtypes};
use mxrs_op::param::OptionalItems;
use mxrs_op::{Gradient, OpDef, Precision, Sample, elements, op_params};
use mxrs_types::{PartialShape, Shape};

op_params! {
    /// Parameters of `_slice_assign_scalar`.
    pub struct SliceAssignScalarParams for "_slice_assign_scalar" {
        /// The number.
        scalar: f64 = 0.0,
        /// First positions. A negative one counts from the end; `None` is the first in the direction of the step.
        begin: OptionalItems,
        /// Positions after the last, in the same way.
        end: OptionalItems,
        /// Steps, which may be negative; 1 where they are `None` or absent.
        step: OptionalItems = OptionalItems::default(),
    }
}

/// Defines the operator `_slice_assign_scalar`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_crop_assign_scalar", "_npi_slice_assign_scalar"],
        summary: "data, with a number in ranges of axes",
        infer_shape: |params, inputs, outputs| {
            unify(&mut inputs[0], &mut outputs[0], "output")?;
            if inputs[0].ndim().is_none() {
                return Ok(());
            }
            let SliceAssignScalarParams { begin, end, step, .. } = params.get();
            ranges::ranges(begin, end, step, &inputs[0]).map(drop)
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        inplace: &[(0, 0)],
        gradient: Gradient::By(|params, scope| {
            let mut attrs = crate::families::gradients::params_of(scope);
            let SliceAssignScalarParams { scalar, .. } = params.get();
            if *scalar != 0.0 {
                attrs.set("scalar", "0");
            }
            let head = scope.out_grad(0)?;
            Ok(vec![Some(scope.call("_slice_assign_scalar", attrs, &[head])?[0])])
        }),
        reference: Some(|params, inputs, outputs, _| {
            let SliceAssignScalarParams { scalar, begin, end, step } = params.get();
            let out = &mut outputs[0];
            out.bytes.copy_from_slice(inputs[0].bytes);
            let shape = out.desc.shape.clone();
            let (mut data, mut part) = (PartialShape::from(&shape), PartialShape::unknown());
            let found = ranges::ranges(begin, end, step, &data)?;
            learn_part(&found, &mut data, &mut part)?;
            let ranges = known(Ok(found))?;
            let size = out.desc.dtype.size_of();
            let mut word = 0u64;
            let number = &mut bytemuck::bytes_of_mut(&mut word)[..size];
            elements::write_f64(&[*scalar], out.desc.dtype, number);
            for_each_index(&part.known().unwrap_or_else(|| Shape::from([0])), |index| {
                let at = position(&ranges, &shape, index) * size;
                out.bytes[at..at + size].copy_from_slice(number);
            });
            Ok(())
        }),
        samples: || {
            let of = |name, scalar, begin, end, step, shape: &[usize]| {
                let attrs = [("scalar", scalar), ("begin", begin), ("end", end), ("step", step)];
                Sample::new(name, attrs, &[shape])
            };
            vec![
                of("rows", "2.5", "(1,)", "(3,)", "()", &[4, 5]),
                of("block", "-1", "(0, 1)", "(2, -1)", "()", &[3, 5]),
                of("steps", "0", "(None, 4)", "(None, 0)", "(2, -2)", &[5, 6]),
                of("one", "3", "(0,)", "(1,)", "()", &[1]),
                of("empty", "1", "(0, 0)", "(None, 2)", "()", &[0, 3]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("_slice_assign_scalar").params::<SliceAssignScalarParams>()
    }
}
