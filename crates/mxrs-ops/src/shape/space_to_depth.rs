//! Moves blocks of space to channels: [N, C, H·b, W·b] gives [N, C·b·b, H, W] for the block size `b`. The top left elements
//! of all blocks become the first `C` channels.
//!
//! Gradient: `ograd`, moved back.
//!
//! MXNet: `space_to_depth`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::indexing::flat;
use crate::families::moved::{self, Move, by_index};
use crate::inference::{OP, bad_attribute, learn, require_ndim};
use mxrs_op::{MovedParts, OpDef, RefInput, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `space_to_depth` and `depth_to_space`.
    pub struct BlockParams for "space_to_depth" {
        /// Height and width of a block.
        block_size: i32,
    }
}

/// Infers the shapes of a tensor in `space` and of the same tensor in `depth`.
pub fn learn_blocks(params: &BlockParams, space: &mut PartialShape, depth: &mut PartialShape) -> Result<()> {
    let block = usize::try_from(params.block_size).unwrap_or(0);
    if !(1..=1 << 15).contains(&block) {
        return Err(bad_attribute("space_to_depth", "block_size", "a number from 1 to 32768", params.block_size));
    }
    if space.ndim().is_none() && depth.ndim().is_none() {
        return Ok(());
    }
    require_ndim(space, 4, "data")?;
    require_ndim(depth, 4, "output")?;
    let factors = [1, block * block, block, block];
    let wrong =
        |shape: &PartialShape| Error::shape(OP, "data", format!("sizes that are multiples of {factors:?}"), shape);
    let mut sizes = [[None; 4]; 2];
    for axis in 0..4 {
        // Channels are multiplied on the way to depth, height and width on the way to space.
        let (small, large) = if axis == 1 { (&*space, &*depth) } else { (&*depth, &*space) };
        let factor = factors[axis];
        let (mut a, mut b) = (small.dim(axis), large.dim(axis));
        a = match b {
            Some(size) if size % factor != 0 => return Err(wrong(large)),
            Some(size) => Some(size / factor),
            None => a,
        };
        b = a.and_then(|size| size.checked_mul(factor)).or(b);
        (sizes[0][axis], sizes[1][axis]) = if axis == 1 { (a, b) } else { (b, a) };
    }
    learn(space, &PartialShape::new(sizes[0]), "data")?;
    learn(depth, &PartialShape::new(sizes[1]), "output")
}

struct SpaceToDepth;

impl Move for SpaceToDepth {
    type Params = BlockParams;
    const NAME: &'static str = "space_to_depth";
    const SUMMARY: &'static str = "moves blocks of space to channels";
    const BACKWARD: &'static str = "_backward_space_to_depth";

    fn infer_shape(params: &BlockParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        learn_blocks(params, &mut inputs[0], &mut outputs[0])
    }

    fn parts(params: &BlockParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let (block, data) = (params.block_size as usize, inputs[0]);
        let strides = data.strides();
        let axes = [
            Along::whole(out[0], strides[0]),
            Along::nest(&[(block, strides[2]), (block, strides[3]), (data[1], strides[1])]),
            Along::whole(out[2], block * strides[2]),
            Along::whole(out[3], block * strides[3]),
        ];
        Ok(along::parts(0, &axes, out, 0.0))
    }

    fn sources(params: &BlockParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let (block, data) = (params.block_size as usize, &inputs[0].desc.shape);
        Ok(by_index(out, |index| {
            let [n, channel, y, x] = [0, 1, 2, 3].map(|axis| index[axis]);
            let (place, c) = (channel / data[1], channel % data[1]);
            Some(flat(data, &[n, c, y * block + place / block, x * block + place % block]))
        }))
    }

    fn samples() -> Vec<Sample> {
        let two = [("block_size", "2")];
        vec![
            Sample::new("two", two, &[&[1, 2, 4, 6]]),
            Sample::new("three", [("block_size", "3")], &[&[2, 1, 3, 6]]),
            Sample::new("one", [("block_size", "1")], &[&[1, 1, 1, 1]]),
            Sample::new("empty", two, &[&[0, 1, 4, 4]]),
        ]
    }
}

/// Defines the operator `space_to_depth`.
pub fn define() -> OpDef {
    moved::define::<SpaceToDepth>()
}
