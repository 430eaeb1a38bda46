//! Exchanges two axes: [a, b, c] with dim1 0 and dim2 2 gives [c, b, a].
//!
//! Gradient: `ograd` with the same axes exchanged.
//!
//! MXNet: `SwapAxis`, also `_npi_swapaxes`, `swapaxes`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along;
use crate::families::indexing::flat;
use crate::families::moved::{self, Move, by_index};
use crate::inference::{learn, resolve_axis};
use mxrs_op::{MovedParts, OpDef, RefInput, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `SwapAxis`.
    pub struct SwapAxisParams for "SwapAxis" {
        /// The first axis.
        dim1: i32 = 0,
        /// The second axis.
        dim2: i32 = 0,
    }
}

impl SwapAxisParams {
    fn axes(&self, ndim: usize) -> Result<[usize; 2]> {
        Ok([resolve_axis(i64::from(self.dim1), ndim, "data")?, resolve_axis(i64::from(self.dim2), ndim, "data")?])
    }
}

struct SwapAxis;

impl Move for SwapAxis {
    type Params = SwapAxisParams;
    const NAME: &'static str = "SwapAxis";
    const ALIASES: &'static [&'static str] = &["_npi_swapaxes", "swapaxes"];
    const SUMMARY: &'static str = "exchanges two axes";
    const BACKWARD: &'static str = "_backward_SwapAxis";

    fn infer_shape(params: &SwapAxisParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Some(ndim) = inputs[0].ndim().or(outputs[0].ndim()) else { return Ok(()) };
        let [a, b] = params.axes(ndim)?;
        let (data, out) = (&mut inputs[0], &mut outputs[0]);
        for turn in [false, true] {
            let (from, to, arg) =
                if turn { (&mut *out, &mut *data, "data") } else { (&mut *data, &mut *out, "output") };
            if let Some(mut dims) = from.dims().map(<[_]>::to_vec) {
                dims.swap(a, b);
                learn(to, &PartialShape::new(dims), arg)?;
            }
        }
        Ok(())
    }

    fn parts(params: &SwapAxisParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let [a, b] = params.axes(out.ndim())?;
        let mut order: Vec<usize> = (0..out.ndim()).collect();
        order.swap(a, b);
        Ok(along::permuted(inputs[0], &order, out))
    }

    fn sources(params: &SwapAxisParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let [a, b] = params.axes(out.ndim())?;
        Ok(by_index(out, |index| {
            let mut index = index.to_vec();
            index.swap(a, b);
            Some(flat(&inputs[0].desc.shape, &index))
        }))
    }

    fn samples() -> Vec<Sample> {
        let of = |name, dim1, dim2, shape| Sample::new(name, [("dim1", dim1), ("dim2", dim2)], &[shape]);
        vec![
            of("matrix", "0", "1", &[3, 5]),
            of("outer", "0", "2", &[2, 3, 4]),
            of("from_the_end", "-1", "1", &[2, 3, 4, 5]),
            of("one", "0", "0", &[1]),
            of("empty", "0", "1", &[0, 3]),
        ]
    }
}

/// Defines the operator `SwapAxis`.
pub fn define() -> OpDef {
    moved::define::<SwapAxis>()
}
