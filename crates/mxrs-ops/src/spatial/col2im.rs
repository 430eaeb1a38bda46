//! Adds up the columns of windows: the inverse of `im2col`, except that elements in several windows are summed. Data
//! `[n, c · k, windows]` gives `[n, c, space…]` with `output_size` (space…), where `k` is the number of elements of a window.
//!
//! Gradient: `im2col` of `ograd`.
//!
//! MXNet: `col2im`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::columns::{columns_of, positions};
use crate::families::gradients::params_of;
use crate::families::moved::add_at;
use crate::families::window::Window;
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Accuracy, Attrs, Gradient, OpDef, OpParams, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `col2im`.
    pub struct Col2imParams for "col2im" {
        /// Sizes of the image, without batch and channels.
        output_size: ShapeAttr,
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

impl Col2imParams {
    fn window(&self) -> Result<Window> {
        Window::new("col2im", &self.kernel, &self.stride, &self.dilate, &self.pad)
    }
}

/// Defines the operator `col2im`.
pub fn define() -> OpDef {
    OpDef {
        summary: "adds up the columns of windows",
        infer_shape,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(|_, scope| {
            let given = params_of(scope);
            let keys = ["kernel", "stride", "dilate", "pad"];
            let attrs: Attrs = given.iter().filter(|(key, _)| keys.contains(key)).collect();
            let head = scope.out_grad(0)?;
            Ok(vec![Some(scope.call("im2col", attrs, &[head])?[0])])
        }),
        reference: Some(|params, inputs, outputs, _| {
            let positions = positions(&params.get::<Col2imParams>().window()?, &outputs[0].desc.shape)?;
            add_at(&inputs[0], &mut outputs[0], &positions);
            Ok(())
        }),
        samples,
        ..OpDef::new("col2im").params::<Col2imParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let ([data], [out]) = (inputs, outputs) else { return Ok(()) };
    let params = params.get::<Col2imParams>();
    let window = params.window()?;
    let size = &params.output_size;
    if size.len() != window.ndim() || size.iter().any(|size| *size < 1) {
        let expected = format!("{} positive sizes", window.ndim());
        return Err(bad_attribute("col2im", "output_size", expected, size.to_text()));
    }
    require_ndim(data, 3, "data")?;
    require_ndim(out, window.ndim() + 2, "output")?;
    learn_dim(out, 0, data.dim(0), "output")?;
    if let Some(rows) = data.dim(1) {
        let of_window = window.kernel.iter().try_fold(1usize, |n, size| n.checked_mul(*size)).unwrap_or(usize::MAX);
        if !rows.is_multiple_of(of_window) {
            return Err(Error::shape(OP, "data", format!("a multiple of {of_window} rows"), &*data));
        }
        learn_dim(out, 1, Some(rows / of_window), "output")?;
    }
    let space = size.iter().map(|size| usize::try_from(*size).ok());
    learn(out, &PartialShape::new([out.dim(0), out.dim(1)].into_iter().chain(space)), "output")?;
    learn(data, &columns_of(&window, out)?, "data")
}

fn samples() -> Vec<Sample> {
    let size = |size| ("output_size", size);
    vec![
        Sample::new("images", [size("(4, 5)"), ("kernel", "(3, 3)"), ("pad", "(1, 1)")], &[&[2, 27, 20]]),
        Sample::new("strides", [size("(5, 4)"), ("kernel", "(2, 2)"), ("stride", "(3, 2)")], &[&[1, 8, 4]]),
        Sample::new("lines", [size("(4,)"), ("kernel", "(2,)"), ("dilate", "(2,)")], &[&[2, 4, 2]]),
        Sample::new("one", [size("(1, 1)"), ("kernel", "(1, 1)")], &[&[1, 1, 1]]),
        Sample::new("empty", [size("(3, 3)"), ("kernel", "(2, 2)")], &[&[0, 4, 4]]),
    ]
}
