//! The gradient of the weights by Winograd's minimal filtering. Data and gradients of outputs are transformed tile by
//! tile. A value of a transformed tile is called a factor. For each factor, one matrix product sums the products of
//! data and gradients over all tiles. The sums are transformed to the gradient of the weights ([`winograd::gradient`]).
//!
//! Tiles are processed in blocks whose factors fit into the last-level cache. The team transforms a block together;
//! then each thread takes some of the factors and adds the products of the block to the sums of these factors. If all
//! tiles fit into one block, no sums need to be kept: a thread computes the sums of a pair of channel blocks for all
//! factors and then transforms them.

use super::outer::{COLUMNS, FETCHED, Outer, Run, Sums};
use crate::barrier::Phases;
use crate::convolve::{Convolve, Operands};
use crate::filtering::shape;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use crate::tiles::image::Image;
use crate::tiles::strip::{BUFFER_STRIDE, Inputs};
use crate::tiles::{Blocking, Schedule, Shape, Tiling};
use crate::winograd::Variant;
use crate::winograd::gradient::{Fold, Matrices, Spread, Transforms, of_data};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;

/// Largest size in bytes of the transformed tiles of a block, of data and gradients together.
const BLOCK_BYTES: usize = 8 << 20;
/// If all transformed tiles together take at most this many bytes, they form one block.
const ONE_BLOCK_BYTES: usize = 20 << 20;
/// Largest size in bytes of the transformed tiles of a block that one thread transforms and multiplies.
const OWN_BLOCK_BYTES: usize = 1 << 20;
/// Smallest number of tiles of a block. Smaller blocks would read and write the sums too often: it is done once per
/// block.
const LEAST_TILES: usize = 64;
/// Number of values in a tile of sums: 16 output channels by `COLUMNS` input channels.
const SUMS: usize = BLOCK * COLUMNS;
/// Values in a cache line. Each plane is longer by this number, so that planes do not fall on the same sets of the
/// caches. A plane holds one value of all transformed tiles.
const LINE: usize = 16;
/// Largest number of taps of a window.
const MOST_CELLS: usize = 49;

/// A prepared gradient of the weights. The operands are those of [`PixelSums`](super::pixels::PixelSums).
pub struct TileSums {
    /// The tiles of the data, and how many form a block.
    tiling: Tiling,
    transforms: Transforms,
    matrices: Matrices,
    outer: Outer,
    threads: usize,
    /// Number of values of a transformed tile, which are called its factors.
    factors: usize,
}

/// The tensors of a run, and the parts of its scratch memory.
struct Tensors {
    ograd: Image,
    data: Image,
    dst: *mut f32,
    /// The transformed tiles of the block that is being worked on: those of the data, then those of the gradients.
    factors: [*mut f32; 2],
    /// Distance in values from one plane to the next, for data and for gradients. A plane holds one value (factor) of
    /// all transformed tiles of the block.
    planes: [usize; 2],
    /// The sums of all pairs of channel blocks. If all tiles form one block: the sums that each thread works on.
    sums: *mut f32,
    /// Buffers for the transforms, one per thread.
    buffers: *mut f32,
}

// SAFETY: sharing only copies addresses. The SAFETY comment in `run` says which thread uses which memory in which
// phase.
unsafe impl Sync for Tensors {}

impl TileSums {
    /// Prepares the gradient of the weights of `p` for `threads` threads.
    ///
    /// # Errors
    /// Fails if the variant is for another window.
    pub fn new(p: &ConvProblem, variant: Variant, isa: Isa, threads: usize) -> Result<Self> {
        Self::in_blocks(p, variant, isa, threads, [ONE_BLOCK_BYTES, BLOCK_BYTES])
    }

    /// Prepares the gradient of the weights of `p` for one thread, whose second-level cache holds a block of tiles.
    ///
    /// # Errors
    /// Fails if the variant is for another window.
    pub fn alone(p: &ConvProblem, variant: Variant, isa: Isa) -> Result<Self> {
        Self::in_blocks(p, variant, isa, 1, [OWN_BLOCK_BYTES; 2])
    }

    /// Prepares the gradient. `bytes` has two largest sizes of a block of tiles: if all tiles fit into the first, they form
    /// one block; otherwise each block takes at most the second.
    fn in_blocks(p: &ConvProblem, variant: Variant, isa: Isa, threads: usize, bytes: [usize; 2]) -> Result<Self> {
        let of_data = of_data(variant, isa, p.data);
        let factors = of_data.factors.real;
        let channels = p.c.next_multiple_of(BLOCK) + p.k.next_multiple_of(BLOCK);
        let per_tile = factors * channels * size_of::<f32>();
        let tiles = crate::filtering::n_tiles(p, of_data.m);
        let at_once = if tiles * per_tile <= bytes[0] { tiles } else { (bytes[1] / per_tile).max(LEAST_TILES) };
        let blocking = Blocking { schedule: Schedule::Cooperative, tiles: at_once, panels: 1, threads };
        let tiling = Tiling::new(shape(p), of_data, blocking, isa, p.data)?;
        let transforms = Transforms::new(variant, isa, p.data);
        let matrices = transforms.matrices();
        Ok(Self { tiling, transforms, matrices, outer: Outer::new(isa), threads: threads.max(1), factors })
    }

    fn tiles_at_once(&self) -> usize {
        self.tiling.blocking.tiles
    }

    fn blocks(&self) -> usize {
        self.tiling.n_tiles().div_ceil(self.tiles_at_once())
    }

    /// Number of channel blocks of data and of gradients.
    fn channel_blocks(&self) -> [usize; 2] {
        [self.tiling.c_blocks, self.tiling.k_blocks]
    }

    fn pairs(&self) -> usize {
        self.tiling.c_blocks.div_ceil(2)
    }

    fn planes(&self) -> [usize; 2] {
        self.channel_blocks().map(|blocks| blocks * self.tiles_at_once() * BLOCK + LINE)
    }

    /// Number of values at [`Tensors::sums`].
    fn sums_len(&self) -> usize {
        let tiles = if self.blocks() == 1 { self.threads } else { self.tiling.k_blocks * self.pairs() };
        self.factors * tiles * SUMS
    }

    fn buffer_len(&self) -> usize {
        self.tiling.transforms.n[0] * BUFFER_STRIDE
    }

    /// Transforms one channel block of piece `piece` of a block of tiles, which is cut into `pieces` pieces. `channels`
    /// is the index of the channel block; indices count the channel blocks of the data first, then those of the
    /// gradients.
    ///
    /// # Safety
    /// `t` must hold the tensors of a run, `block` and `channels` must exist, and no other thread may use the
    /// transformed tiles that this call writes, or the buffer with index `thread`.
    unsafe fn transform(
        &self,
        t: &Tensors,
        block: usize,
        channels: usize,
        (piece, pieces): (usize, usize),
        thread: usize,
    ) {
        let tiling = &self.tiling;
        let tiles = tiling.block(block);
        let within = tiles.len() * piece / pieces..tiles.len() * (piece + 1) / pieces;
        let [c_blocks, _] = self.channel_blocks();
        let is_data = channels < c_blocks;
        let channels = if is_data { channels } else { channels - c_blocks };
        let [size, out] = [tiling.shape.size, tiling.shape.out];
        let m = tiling.transforms.m;
        // SAFETY: `block` and `channels` exist by the contract. Strips of `within` lie in the block and have at most
        // `longest` tiles, so their columns fit the buffer. `strip.first + strip.len` is at most `tiles_at_once`, so
        // all factors are written to this channel block's part of their planes.
        unsafe {
            let buffer = t.buffers.add(thread * self.buffer_len());
            for strip in tiling.strips(tiles.clone(), within, tiling.longest()) {
                let at = [0, 1].map(|i| strip.at[i] * m[i]);
                let to = (channels * self.tiles_at_once() + strip.first) * BLOCK;
                if is_data {
                    (tiling.transforms.input)(&Inputs {
                        src: t.data.pixel(strip.image, channels, [0, 0]),
                        steps: t.data.steps,
                        size,
                        origin: [0, 1].map(|i| at[i] as isize - tiling.shape.pad[i] as isize),
                        len: strip.len,
                        m,
                        factors: t.factors[0].add(to),
                        plane: t.planes[0],
                        buffer,
                    });
                } else {
                    (self.transforms.spread)(&Spread {
                        src: t.ograd.pixel(strip.image, channels, [0, 0]),
                        steps: t.ograd.steps,
                        size: out,
                        origin: at,
                        len: strip.len,
                        factors: t.factors[1].add(to),
                        plane: t.planes[1],
                        buffer,
                    });
                }
            }
        }
    }

    /// Sums the products of data and gradients over the tiles of a block, for one factor (a value of the transformed
    /// tiles) and one tile of channels: the 16 output channels of block `k` by the 32 input channels of `pair`.
    ///
    /// # Safety
    /// The tiles of the block must be transformed. `to` must have room for `SUMS` values, which no other thread may
    /// use.
    unsafe fn sum(&self, t: &Tensors, block: usize, factor: usize, [k, pair]: [usize; 2], to: *mut f32) {
        let tiles = self.tiles_at_once();
        let runs = [Run { g: 0, x: 0, len: self.tiling.block(block).len() }];
        // SAFETY: `factor < self.factors`, and `k` and `pair` are below the numbers of channel blocks and pairs, so
        // both operands lie in planes of this factor. The run covers the tiles of the block. `SUMS` is 16 rows of
        // `COLUMNS` values.
        unsafe {
            let sums = Sums {
                g: t.factors[1].add(factor * t.planes[1] + k * tiles * BLOCK),
                x: t.factors[0].add(factor * t.planes[0] + 2 * pair * tiles * BLOCK),
                x_half: tiles * BLOCK,
                x_step: BLOCK,
                runs: &runs,
                rows: BLOCK.min(self.tiling.shape.k - k * BLOCK),
                to,
                to_row: COLUMNS,
                add: block > 0,
                fetch: [std::ptr::null(); FETCHED],
            };
            self.outer.run(2 * pair + 1 < self.tiling.c_blocks, &sums);
        }
    }

    /// Transforms the sums of a tile of channels to the gradient of the weights. `plane` is the distance from the sums
    /// of one value of the transformed tiles to those of the next.
    ///
    /// # Safety
    /// The sums must be computed, and no other thread may use the gradient of these channels.
    unsafe fn fold(&self, t: &Tensors, [k, pair]: [usize; 2], sums: *const f32, plane: usize) {
        let shape = &self.tiling.shape;
        let cells = shape.kernel[0] * shape.kernel[1];
        let mut taps = [0.0; MOST_CELLS * BLOCK];
        for (row, half) in (0..BLOCK.min(shape.k - k * BLOCK)).flat_map(|row| [(row, 0), (row, 1)]) {
            let first = pair * COLUMNS + half * BLOCK;
            let columns = shape.c.saturating_sub(first).min(BLOCK);
            if columns == 0 {
                continue;
            }
            // SAFETY: `row < 16` and `half < 2` lie in the tile of sums. The variants' windows have at most 25 taps, so
            // `taps` is long enough. `k * BLOCK + row < shape.k` and `first + c < shape.c` bound the output.
            unsafe {
                let sums = sums.add(row * COLUMNS + half * BLOCK);
                (self.transforms.fold)(&Fold { sums, plane, matrices: &self.matrices, to: taps.as_mut_ptr() });
                let to = t.dst.add(((k * BLOCK + row) * shape.c + first) * cells);
                for c in 0..columns {
                    for cell in 0..cells {
                        *to.add(c * cells + cell) = taps[cell * BLOCK + c];
                    }
                }
            }
        }
    }
}

impl Convolve for TileSums {
    fn scratch_bytes(&self) -> usize {
        let factors: usize = self.planes().iter().map(|plane| self.factors * plane).sum();
        (factors + self.sums_len() + self.threads * self.buffer_len()) * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let planes = self.planes();
        let Shape { size, out, .. } = self.tiling.shape;
        let image = |at: *const f32, blocks, size| Image::new(at.cast_mut().cast(), self.tiling.data, blocks, size);
        // SAFETY: by the contract the scratch memory has `scratch_bytes`, which counts `self.factors` planes for the
        // data, as many for the gradients, the sums, and the buffers, in this order.
        let t = unsafe {
            let gradients = o.scratch.add(self.factors * planes[0]);
            let sums = gradients.add(self.factors * planes[1]);
            Tensors {
                ograd: image(o.src, self.tiling.k_blocks, out),
                data: image(o.weights, self.tiling.c_blocks, size),
                dst: o.dst,
                factors: [o.scratch, gradients],
                planes,
                sums,
                buffers: sums.add(self.sums_len()),
            }
        };
        let (blocks, pairs, k_blocks) = (self.blocks(), self.pairs(), self.tiling.k_blocks);
        let channel_blocks: usize = self.channel_blocks().iter().sum();
        let pieces = (4 * self.threads).div_ceil(channel_blocks).min(self.tiles_at_once());
        let tiles_of_sums = k_blocks * pairs;
        // Each work item sums one factor (a value of the transformed tiles) for one part of the output channels. There
        // are enough parts to give all threads work.
        let parts = (4 * self.threads).div_ceil(self.factors).min(k_blocks);
        let mut items: Vec<usize> = (0..blocks).flat_map(|_| [channel_blocks * pieces, self.factors * parts]).collect();
        if blocks == 1 {
            items.pop();
        }
        items.push(tiles_of_sums);
        let phases = Phases::new(self.threads, items.iter().copied());
        let last = items.len() - 1;
        team.run(self.threads, &|thread| {
            // SAFETY: each work item is run by one thread. Different items write different transformed tiles (first
            // phase of a block), different sums (second phase) or different parts of the gradient (last phase). A phase
            // reads only what earlier phases wrote, for which `wait` has waited. Each thread has its own buffer and, if
            // there is only one block, its own sums.
            unsafe {
                let mut phase = 0;
                for block in 0..blocks {
                    phases.work(phase, thread, |i| {
                        self.transform(&t, block, i / pieces, (i % pieces, pieces), thread);
                    });
                    phases.wait(phase);
                    phase += 1;
                    if blocks == 1 {
                        break;
                    }
                    phases.work(phase, thread, |i| {
                        let (factor, part) = (i / parts, i % parts);
                        for pair in 0..pairs {
                            for k in k_blocks * part / parts..k_blocks * (part + 1) / parts {
                                let at = (factor * tiles_of_sums + pair * k_blocks + k) * SUMS;
                                self.sum(&t, block, factor, [k, pair], t.sums.add(at));
                            }
                        }
                    });
                    phases.wait(phase);
                    phase += 1;
                }
                phases.work(last, thread, |i| {
                    let tile = [i % k_blocks, i / k_blocks];
                    if blocks > 1 {
                        self.fold(&t, tile, t.sums.add(i * SUMS), tiles_of_sums * SUMS);
                        return;
                    }
                    let sums = t.sums.add(thread * self.factors * SUMS);
                    for factor in 0..self.factors {
                        self.sum(&t, 0, factor, tile, sums.add(factor * SUMS));
                    }
                    self.fold(&t, tile, sums, SUMS);
                });
            }
        });
        Ok(())
    }
}
