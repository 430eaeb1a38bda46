//! Sums elements at hashed places (count sketch): `out[…, h[i]] += s[i] · data[…, i]`, where out begins as 0.
//!
//! Shapes: data `[n, d]` or `[n1, n2, n3, d]`; h, the places, and s, usually signs, `[1, d]`; out as data, but with `out_dim`
//! elements on the last axis. Fractions of h are dropped, and a place outside out is refused. If h or s has more rows, only the first
//! one is read. Pham and Pagh 2013, "Fast and scalable polynomial kernels via explicit feature maps".
//!
//! Gradient: of data. MXNet has none of h and s either.
//!
//! MXNet: `_contrib_count_sketch`, only on GPUs. Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn_dim, require_ndim};
use mxrs_op::{Fill, OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_contrib_count_sketch`.
    pub struct CountSketchParams for "_contrib_count_sketch" {
        /// Number of elements of the output's last axis.
        out_dim: i32,
        /// Number of rows that MXNet computes at once; read and ignored.
        processing_batch_size: i32 = 32,
    }
}

impl CountSketchParams {
    /// The size of the output's last axis.
    fn size(&self) -> Result<usize> {
        match usize::try_from(self.out_dim) {
            Ok(size) if size > 0 => Ok(size),
            _ => Err(bad_attribute("_contrib_count_sketch", "out_dim", "at least 1", self.out_dim)),
        }
    }
}

struct CountSketch;

impl Formula for CountSketch {
    type Params = CountSketchParams;
    const NAME: &'static str = "_contrib_count_sketch";
    const SUMMARY: &'static str = "sums of elements at hashed places";
    const BACKWARD: &'static str = "_backward_count_sketch";
    const INPUTS: &'static [&'static str] = &["data", "h", "s"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "h", "s"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];

    fn infer_shape(
        params: &CountSketchParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let size = params.size()?;
        let ([data, hashes @ ..], [out]) = (inputs, outputs) else { return Ok(()) };
        let Some(ndim) = data.ndim().or(out.ndim()) else { return Ok(()) };
        if ndim != 2 && ndim != 4 {
            return Err(Error::shape(OP, "data", "2 or 4 axes", format!("{ndim} axes")));
        }
        require_ndim(data, ndim, "data")?;
        require_ndim(out, ndim, "output")?;
        let last = ndim - 1;
        for (hash, name) in hashes.iter_mut().zip(["h", "s"]) {
            require_ndim(hash, 2, name)?;
            learn_dim(hash, 1, data.dim(last), name)?;
            learn_dim(data, last, hash.dim(1), "data")?;
            if hash.dim(0) == Some(0) {
                return Err(Error::shape(OP, name, "at least one row", &*hash));
            }
        }
        learn_dim(out, last, Some(size), "output")?;
        for axis in 0..last {
            learn_dim(out, axis, data.dim(axis), "output")?;
            learn_dim(data, axis, out.dim(axis), "data")?;
        }
        Ok(())
    }

    /// One part for each row.
    fn n_parts(_: &CountSketchParams, _: &[Shape], outputs: &[Shape]) -> usize {
        let size = outputs[0].last().copied().unwrap_or(0);
        outputs[0].n_elements() / size.max(1)
    }

    fn part<T: Number>(
        params: &CountSketchParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let size = params.size()?;
        let width = tensors.inputs[0].last().copied().unwrap_or(0);
        let hashed = tensors.values(1).iter().zip(tensors.values(2)).take(width);
        let mut sums = vec![T::of(0.0); size];
        for (i, (place, factor)) in hashed.enumerate() {
            let place = place_of(*place, size)?;
            sums[place] = sums[place] + tensors.at(0, part * width + i) * T::of(*factor);
        }
        sums.into_iter().enumerate().for_each(|(place, sum)| emit(0, part * size + place, sum));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, attrs: [(&str, &str); 2], data: &[usize], h: &[f64]| {
            let hash = [1, h.len()];
            let signs = (0..h.len()).map(|i| if i % 3 == 1 { -1.0 } else { 1.0 }).collect();
            Sample::new(name, attrs, &[data, &hash, &hash])
                .fill(1, Fill::Values(h.to_vec()))
                .fill(2, Fill::Values(signs))
        };
        let five = [("out_dim", "5"), ("processing_batch_size", "32")];
        let two = [("out_dim", "2"), ("processing_batch_size", "1")];
        vec![
            of("rows", five, &[2, 3], &[0.0, 3.0, 4.0]),
            of("images", two, &[2, 1, 3, 4], &[1.0, 0.0, 1.0, 1.0]),
            of("fractions", two, &[3, 3], &[0.75, 1.5, 0.0]),
            of("no_rows", five, &[0, 3], &[0.0, 3.0, 4.0]),
            of("no_columns", five, &[2, 0], &[]),
        ]
    }
}

/// The place that an element of h names.
///
/// # Errors
/// Fails if it is outside the last axis of the output.
fn place_of(h: f64, size: usize) -> Result<usize> {
    let place = h.trunc();
    if (0.0..size as f64).contains(&place) {
        Ok(place as usize)
    } else {
        Err(Error::invalid("an element of h", h, format!("a place from 0 to {}", size - 1)))
    }
}

/// Defines the operator `_contrib_count_sketch`.
pub fn define() -> OpDef {
    formula::define::<CountSketch>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn places_outside_the_output_are_refused() {
        assert_eq!(place_of(2.9, 3), Ok(2));
        assert_eq!(place_of(-0.5, 3), Ok(0));
        for h in [3.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(place_of(h, 3).is_err(), "{h}");
        }
    }

    #[test]
    fn impossible_calls_are_refused() {
        let op = define();
        let refuse = |out_dim: &str, shapes: [&[usize]; 3]| {
            let params = op.parse(&Attrs::from([("out_dim", out_dim)])).expect("readable parameters");
            let mut inputs = shapes.map(|shape| PartialShape::from(Shape::from(shape)));
            let result = op.infer_shapes(&params, &mut inputs, &mut [PartialShape::unknown()]);
            assert!(result.is_err(), "{out_dim} {shapes:?}");
        };
        refuse("0", [&[2, 3], &[1, 3], &[1, 3]]);
        refuse("-4", [&[2, 3], &[1, 3], &[1, 3]]);
        refuse("4", [&[2, 3, 3], &[1, 3], &[1, 3]]);
        refuse("4", [&[2, 3], &[1, 4], &[1, 3]]);
        refuse("4", [&[2, 3], &[0, 3], &[1, 3]]);
        refuse("4", [&[2, 3], &[3], &[1, 3]]);
    }
}
