//! The gradients of softmax and its logarithm over interleaved rows, in tiles as in `columns.rs`. A tile is read from memory
//! to add up the products of output and output gradient. It is read again, from a cache, to compute the gradient while the
//! products of the next tile are added up.

use super::columns::{Tile, Tiles, tile_elements};
use super::gradient::through;
use super::{Problem, Rows};
use crate::chunks::{Compute, Storing, chunk_of, each};
use crate::level::Loop;
use crate::number::{Element, Number, Stored};
use crate::split::in_ranges;
use crate::stream::prefetch;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;

/// Computes the gradient of all rows.
pub fn backward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (ograd, output, out): (&Source<'_, I>, &Source<'_, I>, &Sink<'_, O>),
) {
    let (rows, scale) = (p.rows, I::Wide::from_f64(p.scale));
    let tiles = Tiles::new(rows, tile_elements());
    in_ranges(args.team, tiles.len(), 4 * rows.size * tiles.width(), &|mine| {
        let zeros = || vec![I::Wide::ZERO; tiles.width()];
        let (mut sums, mut now, mut before) = (vec![0.0; tiles.width()], zeros(), zeros());
        let mut last = None;
        for index in mine.map(Some).chain([None]) {
            let tile = index.map(|index| tiles.get(index));
            sums.fill(0.0);
            let before_tile = last.map(|tile| (tile, &before[..]));
            p.level.run(TileLoop::<_, _, LOG> {
                rows,
                tensors: (ograd, output, out),
                scale,
                tile,
                sums: &mut sums,
                before: before_tile,
            });
            now.iter_mut().zip(&sums).for_each(|(to, sum)| *to = I::Wide::from_f64(*sum));
            std::mem::swap(&mut now, &mut before);
            last = tile;
        }
    });
}

/// Adds up the products of a tile, and stores the gradient of the tile before.
struct TileLoop<'a, 'b, I: Stored, O, const LOG: bool> {
    rows: Rows,
    tensors: (&'b Source<'a, I>, &'b Source<'a, I>, &'b Sink<'a, O>),
    scale: I::Wide,
    /// The tile whose products are added up; `None` after the last tile.
    tile: Option<Tile>,
    sums: &'b mut [f64],
    /// The tile before, and the sum of each column.
    before: Option<(Tile, &'b [I::Wide])>,
}

/// Number of products of each row that are added up in the type of the data before the sum is added in `f64`.
const TOGETHER: usize = 4;
/// The data of a line is prefetched this many lines before it is read.
const LINES_AHEAD: usize = 8;

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Loop for TileLoop<'_, '_, I, O, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { rows, tensors: (ograd, output, out), scale, tile, sums, before } = self;
        let [ograd_line, output_line] = [ograd, output].map(|of| {
            move |tile: Tile, k: usize| {
                let start = rows.at((tile.outer, tile.column), k);
                // SAFETY: only this thread uses the columns of both tiles, and reads each element before it stores the
                // gradient there.
                unsafe { of.slice(start..start + tile.width) }
            }
        });
        for first in (0..rows.size).step_by(TOGETHER) {
            let n = (rows.size - first).min(TOGETHER);
            if let Some(tile) = tile {
                for k in first..first + n {
                    let soon = (k + LINES_AHEAD).min(rows.size - 1);
                    prefetch(ograd_line(tile, soon));
                    prefetch(output_line(tile, soon));
                }
                let lines = |k: usize| (ograd_line(tile, k), output_line(tile, k));
                if n == TOGETHER {
                    add_four::<I, LOG>(lines(first), lines(first + 1), lines(first + 2), lines(first + 3), sums);
                } else {
                    (first..first + n).for_each(|k| add_one::<I, LOG>(lines(k), sums));
                }
            }
            if let Some((tile, sums)) = before {
                for k in first..first + n {
                    let start = rows.at((tile.outer, tile.column), k);
                    let gradient = Gradient::<I, LOG> { ograd, output, start, sums, scale };
                    // SAFETY: only this thread uses these columns, and it has read each element before the gradient is
                    // stored there.
                    unsafe { Storing::new(*out, start..start + tile.width, gradient).finish() };
                }
            }
        }
    }
}

/// The term of an element in the sum of its row: the product `g · y`, or with `LOG` only `g`, the gradient of the output.
#[inline(always)]
fn product<I: Stored, const LOG: bool>(g: I, y: I) -> I::Wide {
    if LOG { g.wide() } else { g.wide().times(y.wide()) }
}

/// A line of the gradient of the output, and of the output.
type Lines<'a, I> = (&'a [I], &'a [I]);

/// Adds the products of four lines to the sums.
#[inline(always)]
fn add_four<I: Stored, const LOG: bool>(
    a: Lines<'_, I>,
    b: Lines<'_, I>,
    c: Lines<'_, I>,
    d: Lines<'_, I>,
    sums: &mut [f64],
) {
    let left = a.0.iter().zip(a.1).zip(b.0.iter().zip(b.1));
    let right = c.0.iter().zip(c.1).zip(d.0.iter().zip(d.1));
    for (((a, b), (c, d)), sum) in left.zip(right).zip(sums) {
        let of = |(g, y): (&I, &I)| product::<I, LOG>(*g, *y);
        *sum += of(a).plus(of(b)).plus(of(c).plus(of(d))).widen();
    }
}

/// Adds the products of one line to the sums.
#[inline(always)]
fn add_one<I: Stored, const LOG: bool>((g, y): Lines<'_, I>, sums: &mut [f64]) {
    for ((g, y), sum) in g.iter().zip(y).zip(sums) {
        *sum += product::<I, LOG>(*g, *y).widen();
    }
}

/// Computes the gradient of a line, with one sum for each element.
struct Gradient<'a, 'b, I: Stored, const LOG: bool> {
    ograd: &'b Source<'a, I>,
    output: &'b Source<'a, I>,
    /// The first element of the line.
    start: usize,
    sums: &'b [I::Wide],
    scale: I::Wide,
}

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Compute<O> for Gradient<'_, '_, I, LOG> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [O; N] {
        let sums = chunk_of::<_, N>(self.sums, at - self.start);
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let (g, y) = unsafe { (self.ograd.chunk::<N>(at), self.output.chunk::<N>(at)) };
        each(O::ZERO, |l| O::nearest(through::<_, LOG>(g[l].wide(), y[l].wide(), sums[l], self.scale)))
    }
}
