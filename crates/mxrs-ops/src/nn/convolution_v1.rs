//! The first convolution of MXNet, with the results of [`Convolution`](super::convolution).
//!
//! Shapes, formula and gradients are those of `Convolution`, whose reference kernel and gradients it uses. It has two or
//! three spatial axes, and no layout for one axis. MXNet computes only two axes with the channels before space; here three
//! axes and `NHWC` are computed too.
//!
//! MXNet: `Convolution_v1`. Files that name this operator are read as `Convolution` ([`crate::legacy_name`]). Dtypes: f32
//! f64 f16 bf16, the same for all tensors.

use super::convolution::{self, ConvolutionParams, CudnnTune};
use crate::inference::bad_attribute;
use mxrs_op::param::{Parameters, ShapeAttr};
use mxrs_op::{Attrs, OpDef, OpParams, Precision, Sample, op_enum, op_params};
use mxrs_types::Result;
use std::sync::{Arc, LazyLock};

op_enum! {
    /// Order of the axes of data and output.
    pub enum ConvV1Layout { Nchw = "NCHW", Ncdhw = "NCDHW", Nhwc = "NHWC", Ndhwc = "NDHWC" }
}

op_params! {
    /// Parameters of `Convolution_v1`.
    pub struct ConvolutionV1Params for "Convolution_v1" {
        /// Size of the window on each spatial axis: two or three sizes.
        kernel: ShapeAttr,
        /// Distance between windows; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Distance between neighboring elements of a window; 1 if empty.
        dilate: ShapeAttr = ShapeAttr::default(),
        /// Zeros added on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
        /// Number of output channels.
        num_filter: u32,
        /// Number of groups that the channels are split into.
        num_group: u32 = 1,
        /// MXNet's workspace limit; read and ignored.
        workspace: u64 = 1024,
        /// Whether calls have only data and weight.
        no_bias: bool = false,
        /// Read and ignored.
        cudnn_tune: Option<CudnnTune> = None,
        /// Read and ignored.
        cudnn_off: bool = false,
        /// Order of axes; channels come before space if absent.
        layout: Option<ConvV1Layout> = None,
    }
}

/// Reads the parameters as those of `Convolution`, and refuses those that only `Convolution` has.
fn parse(attrs: &Attrs) -> Result<OpParams> {
    let params = ConvolutionV1Params::parse(attrs)?;
    if !(2..=3).contains(&params.kernel.len()) {
        return Err(bad_attribute("Convolution_v1", "kernel", "two or three sizes", params.kernel.to_text()));
    }
    ConvolutionParams::parse(attrs).map(OpParams::new)
}

/// The operator whose kernels can compute this one. The backends that have fast convolutions do not look at `same_as`, so a
/// call by the old name is slow; those of files get the current name.
static CURRENT: LazyLock<Arc<OpDef>> = LazyLock::new(|| Arc::new(convolution::define()));

/// Defines the operator `Convolution_v1`.
pub fn define() -> OpDef {
    OpDef {
        name: "Convolution_v1",
        aliases: &[],
        summary: "2-d, 3-d convolution, first version",
        param_specs: ConvolutionV1Params::specs(),
        parse_with: parse,
        precision: Precision::float32,
        companions: Vec::new,
        same_as: Some(|call| Some((Arc::clone(&CURRENT), call.params.clone()))),
        samples,
        ..convolution::define()
    }
}

fn samples() -> Vec<Sample> {
    let square = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
    vec![
        Sample::new("padded_3x3", square, &[&[2, 3, 7, 9], &[4, 3, 3, 3], &[4]]),
        Sample::new(
            "groups",
            [("kernel", "(3, 2)"), ("num_filter", "6"), ("num_group", "3"), ("stride", "(2, 1)"), ("no_bias", "True")],
            &[&[1, 6, 5, 5], &[6, 2, 3, 2]],
        ),
        Sample::new(
            "dilated",
            [("kernel", "(3, 2)"), ("num_filter", "2"), ("dilate", "(2, 3)"), ("pad", "(2, 0)")],
            &[&[1, 2, 7, 8], &[2, 2, 3, 2], &[2]],
        ),
        Sample::new(
            "three_axes",
            [("kernel", "(2, 3, 3)"), ("num_filter", "4"), ("pad", "(0, 1, 1)")],
            &[&[1, 2, 4, 5, 5], &[4, 2, 2, 3, 3], &[4]],
        ),
        Sample::new("no_images", square, &[&[0, 3, 5, 5], &[4, 3, 3, 3], &[4]]),
    ]
}
