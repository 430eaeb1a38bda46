//! Concatenation of images along their channels. Copies whole blocks where the channels of input and output line up;
//! elsewhere, copies runs of channels of every pixel.
//!
//! A piece, the unit of work, is a block of the output. This backend offers a kernel only if at least one of the inputs is
//! in blocks already.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::layouts::{BLOCK, blocked, image, is_blocked};
use mxrs_op::OpCall;
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_processor::Isa;
use std::ops::Range;

/// A run of channels of one input block that becomes a run of channels of one output block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Channels {
    input: usize,
    /// Block of the input.
    block: usize,
    /// First channel in the input block.
    from: usize,
    /// First channel in the output block.
    to: usize,
    n: usize,
}

/// A prepared concatenation.
struct Concat {
    images: usize,
    pixels: usize,
    /// Number of blocks of each input.
    blocks: Vec<usize>,
    /// The runs of channels that make up each block of the output.
    sources: Vec<Vec<Channels>>,
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, _: Isa) -> Result<Fit, String> {
    let Some([images, channels, h, w]) = image(&call.outputs[0]) else {
        return Err("the output has no four axes".into());
    };
    let axis = call.outputs[0].shape.axis(i64::from(call.params.get::<ConcatParams>().dim));
    if axis.map_err(|error| error.to_string())? != 1 {
        return Err("no kernel for an axis other than the channels".into());
    }
    if !call.inputs.iter().any(is_blocked) {
        return Err("no input is in blocks of channels, so that nothing would be gained".into());
    }
    let sizes: Vec<usize> = call.inputs.iter().map(|input| input.shape[1]).collect();
    let out = blocked([images, channels, h, w]);
    Ok(Fit::new("concat", [out.clone(), out], move || Concat {
        images,
        pixels: h * w,
        blocks: sizes.iter().map(|c| c.div_ceil(BLOCK)).collect(),
        sources: sources(&sizes),
    }))
}

/// Returns the runs of channels that make up each block of the output, for inputs with these numbers of channels.
fn sources(sizes: &[usize]) -> Vec<Vec<Channels>> {
    let mut blocks = vec![Vec::new(); sizes.iter().sum::<usize>().div_ceil(BLOCK)];
    let mut at = 0;
    for (input, &size) in sizes.iter().enumerate() {
        let mut channel = 0;
        while channel < size {
            let (from, to) = (channel % BLOCK, at % BLOCK);
            let n = (size - channel).min(BLOCK - from).min(BLOCK - to);
            blocks[at / BLOCK].push(Channels { input, block: channel / BLOCK, from, to, n });
            channel += n;
            at += n;
        }
    }
    blocks
}

impl Pass for Concat {
    fn pieces(&self) -> usize {
        self.images * self.sources.len()
    }

    fn numbers(&self) -> usize {
        2 * self.pixels * BLOCK
    }

    fn supports_strided_output(&self) -> bool {
        true
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let plane = self.pixels * BLOCK;
        let image_len = memory.dst_image_stride.unwrap_or(self.sources.len() * plane);
        for piece in pieces {
            let (image, block) = (piece / self.sources.len(), piece % self.sources.len());
            let sources = &self.sources[block];
            // SAFETY: `piece < self.pieces()`, so `image < images` and `block` is a block of the output; the caller
            // owns its plane of `plane` values. `sources` contains only blocks below the block count of their input,
            // and runs with `from + n <= BLOCK` and `to + n <= BLOCK`. Inputs and output are different memory, because
            // `fit` leaves `can_run_inplace` false.
            unsafe {
                let dst = memory.dst.add(image * image_len + block * plane);
                if sources.iter().map(|channels| channels.n).sum::<usize>() < BLOCK {
                    dst.write_bytes(0, plane);
                }
                for channels in sources {
                    let blocks = self.blocks[channels.input];
                    let src = memory.inputs[channels.input].add((image * blocks + channels.block) * plane);
                    if channels.n == BLOCK {
                        dst.copy_from_nonoverlapping(src, plane);
                        continue;
                    }
                    for pixel in 0..self.pixels {
                        let from = src.add(pixel * BLOCK + channels.from);
                        dst.add(pixel * BLOCK + channels.to).copy_from_nonoverlapping(from, channels.n);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_has_one_source() {
        for sizes in [&[16, 32][..], &[3, 1, 7], &[20, 40, 16], &[1], &[15, 17, 33]] {
            let (blocks, total) = (sources(sizes), sizes.iter().sum::<usize>());
            let all: Vec<(usize, usize)> =
                sizes.iter().enumerate().flat_map(|(i, &n)| (0..n).map(move |c| (i, c))).collect();
            let mut found = Vec::new();
            for (b, block) in blocks.iter().enumerate() {
                let mut next = 0;
                for c in block {
                    assert_eq!(c.to, next, "block {b} of {sizes:?}");
                    assert!(c.from + c.n <= BLOCK && c.to + c.n <= BLOCK);
                    next += c.n;
                    found.extend((0..c.n).map(|i| (c.input, c.block * BLOCK + c.from + i)));
                }
            }
            assert_eq!(found, all);
            assert_eq!(blocks.len(), total.div_ceil(BLOCK));
        }
    }
}
