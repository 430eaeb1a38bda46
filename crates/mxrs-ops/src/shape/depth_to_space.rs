//! Moves blocks of channels to space: [N, C·b·b, H, W] gives [N, C, H·b, W·b] for the block size `b`. The first `C` channels
//! go to the top left element of every block.
//!
//! Gradient: `ograd`, moved back.
//!
//! MXNet: `depth_to_space`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::indexing::flat;
use crate::families::moved::{self, Move, by_index};
use crate::shape::space_to_depth::{BlockParams, learn_blocks};
use mxrs_op::{MovedParts, OpDef, RefInput, Sample};
use mxrs_types::{PartialShape, Result, Shape};

struct DepthToSpace;

impl Move for DepthToSpace {
    type Params = BlockParams;
    const NAME: &'static str = "depth_to_space";
    const SUMMARY: &'static str = "moves blocks of channels to space";
    const BACKWARD: &'static str = "_backward_depth_to_space";

    fn infer_shape(params: &BlockParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        learn_blocks(params, &mut outputs[0], &mut inputs[0])
    }

    fn parts(params: &BlockParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let (block, data) = (params.block_size as usize, inputs[0]);
        let strides = data.strides();
        let channels = out[1] * strides[1];
        let axes = [
            Along::whole(out[0], strides[0]),
            Along::whole(out[1], strides[1]),
            Along::nest(&[(data[2], strides[2]), (block, block * channels)]),
            Along::nest(&[(data[3], strides[3]), (block, channels)]),
        ];
        Ok(along::parts(0, &axes, out, 0.0))
    }

    fn sources(params: &BlockParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let block = params.block_size as usize;
        Ok(by_index(out, |index| {
            let [n, c, y, x] = [0, 1, 2, 3].map(|axis| index[axis]);
            let channel = (y % block * block + x % block) * out[1] + c;
            Some(flat(&inputs[0].desc.shape, &[n, channel, y / block, x / block]))
        }))
    }

    fn samples() -> Vec<Sample> {
        let two = [("block_size", "2")];
        vec![
            Sample::new("two", two, &[&[1, 8, 2, 3]]),
            Sample::new("three", [("block_size", "3")], &[&[2, 9, 1, 2]]),
            Sample::new("one", [("block_size", "1")], &[&[1, 1, 1, 1]]),
            Sample::new("empty", two, &[&[0, 4, 2, 2]]),
        ]
    }
}

/// Defines the operator `depth_to_space`.
pub fn define() -> OpDef {
    moved::define::<DepthToSpace>()
}
