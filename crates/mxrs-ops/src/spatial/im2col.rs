//! The windows of an image as columns: data `[n, c, space…]` gives `[n, c · k, windows]`, where `k` is the number of elements
//! of a window. Elements in the padding are 0.
//!
//! Gradient: each element gets the sum of the gradients of its copies.
//!
//! MXNet: `im2col`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::columns::{columns_of, positions};
use crate::families::moved::{self, Move};
use crate::families::window::Window;
use crate::inference::{learn, learn_dim, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, RefInput, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `im2col`.
    pub struct Im2colParams for "im2col" {
        /// Size of a window.
        kernel: ShapeAttr,
        /// Distance of windows; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Distance of the elements of a window; 1 if empty.
        dilate: ShapeAttr = ShapeAttr::default(),
        /// Zeros on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
    }
}

impl Im2colParams {
    fn window(&self) -> Result<Window> {
        Window::new("im2col", &self.kernel, &self.stride, &self.dilate, &self.pad)
    }
}

struct Im2col;

impl Move for Im2col {
    type Params = Im2colParams;
    const NAME: &'static str = "im2col";
    const SUMMARY: &'static str = "windows of an image as columns";
    const BACKWARD: &'static str = "_backward_im2col";
    const DTYPES: &'static [DType] = FLOATS;

    fn infer_shape(params: &Im2colParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let window = params.window()?;
        require_ndim(&mut inputs[0], window.ndim() + 2, "data")?;
        require_ndim(&mut outputs[0], 3, "output")?;
        learn_dim(&mut inputs[0], 0, outputs[0].dim(0), "data")?;
        learn(&mut outputs[0], &columns_of(&window, &inputs[0])?, "output")
    }

    fn sources(params: &Im2colParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<Vec<Option<usize>>> {
        positions(&params.window()?, &inputs[0].desc.shape)
    }

    fn samples() -> Vec<Sample> {
        let three = ("kernel", "(3, 3)");
        vec![
            Sample::new("images", [three, ("pad", "(1, 1)")], &[&[2, 3, 4, 5]]),
            Sample::new("strides", [three, ("stride", "(2, 1)"), ("dilate", "(1, 2)")], &[&[1, 2, 5, 7]]),
            Sample::new("lines", [("kernel", "(2,)"), ("pad", "(1,)")], &[&[2, 2, 4]]),
            Sample::new("one", [("kernel", "(1, 1)")], &[&[1, 1, 1, 1]]),
            Sample::new("empty", [("kernel", "(2, 2)")], &[&[0, 1, 3, 3]]),
        ]
    }
}

/// Defines the operator `im2col`.
pub fn define() -> OpDef {
    moved::define::<Im2col>()
}
