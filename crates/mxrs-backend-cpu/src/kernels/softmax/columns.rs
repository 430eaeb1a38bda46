//! Softmax and its logarithm over interleaved rows, as there are if the axis is not the last.
//!
//! A tile is some neighboring rows, as many as the second-level cache of a core holds. Its data is read once and copied into
//! a buffer, where the exponentials `e^((x - largest) / t)`, or with `LOG` the elements, are kept until the sums are known.
//! While the exponentials of a tile are computed, the results of the tile before are stored and the data of the next tile is
//! copied. It is copied and not only prefetched, because lines whose distance is a multiple of a power of two share a small
//! part of a cache and would evict each other.

use super::{COLUMNS, Problem, Rows, from_sum, power};
use crate::chunks::{Compute, Storing, chunk_of, each};
use crate::level::Loop;
use crate::number::{Float, Number, Stored};
use crate::split::in_ranges;
use crate::stream::prefetch;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;
use mxrs_processor::Caches;

/// The width of a tile is a multiple of this number, unless there are fewer rows.
const LINE: usize = 16;
/// Rows of more elements are not kept in a buffer: `deep.rs` computes them.
pub const DEEPEST: usize = 4096;

/// Number of elements of a tile. Three buffers, of 4 bytes for each element, take three quarters of the second-level cache.
/// The size of a tile does not change the bits of the results.
pub fn tile_elements() -> usize {
    match Caches::here().l2 {
        0 => 1 << 16,
        l2 => (l2 / 16).clamp(1 << 15, 1 << 18),
    }
}

/// Neighboring rows that are computed together.
#[derive(Clone, Copy)]
pub struct Tile {
    /// Index of the tile along the axes before the softmax axis.
    pub outer: usize,
    /// First column.
    pub column: usize,
    /// Number of columns.
    pub width: usize,
}

/// The tiles of all rows.
#[derive(Clone, Copy)]
pub struct Tiles {
    rows: Rows,
    width: usize,
}

impl Tiles {
    /// Cuts the rows into tiles of about `elements` elements.
    pub fn new(rows: Rows, elements: usize) -> Self {
        let width = (elements / rows.size.max(1) / LINE * LINE).clamp(LINE, COLUMNS).min(rows.inner.max(1));
        Self { rows, width }
    }

    /// Number of tiles.
    pub fn len(self) -> usize {
        self.rows.outer * self.rows.inner.div_ceil(self.width)
    }

    /// Largest number of columns of a tile.
    pub fn width(self) -> usize {
        self.width
    }

    /// A tile by its index.
    pub fn get(self, index: usize) -> Tile {
        let per_outer = self.rows.inner.div_ceil(self.width);
        let column = index % per_outer * self.width;
        Tile { outer: index / per_outer, column, width: (self.rows.inner - column).min(self.width) }
    }
}

/// A tile whose exponentials are in a buffer, and what its results are computed with.
struct Buffer<T> {
    values: Vec<T>,
    largest: Vec<T>,
    sums: Vec<f64>,
    /// For each column, the value that [`from_sum`] returns for its sum.
    from: Vec<T>,
}

impl<T: Float> Buffer<T> {
    fn new(size: usize, width: usize) -> Self {
        let zeros = |n: usize| vec![T::ZERO; n];
        Self { values: zeros(size * width), largest: zeros(width), sums: vec![0.0; width], from: zeros(width) }
    }
}

/// Computes all rows.
pub fn forward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (data, out): (&Source<'_, I>, &Sink<'_, O>),
) {
    let (rows, scale) = (p.rows, I::Wide::from_f64(p.scale));
    let tiles = Tiles::new(rows, tile_elements());
    in_ranges(args.team, tiles.len(), 4 * rows.size * tiles.width(), &|mine| {
        let mut buffers = [(); 3].map(|()| Buffer::<I::Wide>::new(rows.size, tiles.width()));
        // Each turn copies one tile, computes the exponentials of the tile before and stores the results of the one before
        // that.
        for turn in mine.start..mine.end + 2 {
            let [copied, computed, stored] = &mut buffers;
            let tile = |index: Option<usize>| index.filter(|index| mine.contains(index)).map(|index| tiles.get(index));
            p.level.run(TileLoop::<_, _, LOG> {
                rows,
                data,
                out,
                scale,
                copy: tile(Some(turn)).map(|tile| (tile, copied)),
                compute: tile(turn.checked_sub(1)).map(|tile| (tile, computed)),
                store: tile(turn.checked_sub(2)).map(|tile| (tile, &*stored)),
            });
            buffers.rotate_right(1);
        }
    });
}

/// Copies the data of a tile, computes the exponentials of the tile before, and stores the results of the tile before that.
struct TileLoop<'a, 'b, I: Stored, O, const LOG: bool> {
    rows: Rows,
    data: &'b Source<'a, I>,
    out: &'b Sink<'a, O>,
    scale: I::Wide,
    copy: Option<(Tile, &'b mut Buffer<I::Wide>)>,
    compute: Option<(Tile, &'b mut Buffer<I::Wide>)>,
    store: Option<(Tile, &'b Buffer<I::Wide>)>,
}

/// Number of elements of each row that are added up in the type of the data before the sum is added in `f64`.
const TOGETHER: usize = 4;

/// The data of a line is prefetched this many lines before it is copied.
const LINES_AHEAD: usize = 8;

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Loop for TileLoop<'_, '_, I, O, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { rows, data, out, scale, mut copy, mut compute, store: stored } = self;
        let line = |tile: Tile, k: usize| {
            let start = rows.at((tile.outer, tile.column), k);
            // SAFETY: no other thread accesses these columns. This thread overwrites a tile only after it has copied it to a
            // buffer.
            unsafe { data.slice(start..start + tile.width) }
        };
        if let Some((_, buffer)) = &mut copy {
            buffer.largest.fill(I::Wide::LOWEST);
        }
        if let Some((_, buffer)) = &mut compute {
            buffer.sums.fill(0.0);
        }
        for first in (0..rows.size).step_by(TOGETHER) {
            let lines = first..(first + TOGETHER).min(rows.size);
            if let Some((tile, buffer)) = &mut copy {
                for k in lines.clone() {
                    prefetch(line(*tile, (k + LINES_AHEAD).min(rows.size - 1)));
                    let values = &mut buffer.values[k * tile.width..(k + 1) * tile.width];
                    take(line(*tile, k), values, &mut buffer.largest[..tile.width]);
                }
            }
            if let Some((Tile { width, .. }, buffer)) = &mut compute {
                let width = *width;
                let (largest, sums) = (&buffer.largest[..width], &mut buffer.sums[..width]);
                let values = &mut buffer.values[lines.start * width..lines.end * width];
                if lines.len() == TOGETHER {
                    add_four::<_, LOG>(values, largest, scale, sums);
                } else {
                    values.chunks_exact_mut(width).for_each(|values| add_one::<_, LOG>(values, largest, scale, sums));
                }
            }
            if let Some((tile, buffer)) = stored {
                for k in lines {
                    // SAFETY: only this thread uses the columns of this tile, which is in its buffer.
                    unsafe { store::<O, LOG>(rows, out, scale, (tile, buffer), k) };
                }
            }
        }
        if let Some((_, buffer)) = compute {
            let Buffer { sums, from, .. } = buffer;
            from.iter_mut().zip(sums).for_each(|(from, sum)| *from = I::Wide::from_f64(from_sum::<LOG>(*sum)));
        }
    }
}

/// Copies a line of the data into the buffer. The comparison may ignore NaN, because the exponential of NaN makes every
/// result of the row NaN.
#[inline(always)]
fn take<I: Stored>(from: &[I], to: &mut [I::Wide], largest: &mut [I::Wide]) {
    for ((x, to), largest) in from.iter().zip(to).zip(largest) {
        let x = x.wide();
        *to = x;
        *largest = if x > *largest { x } else { *largest };
    }
}

/// Adds the exponentials of four lines of the buffer to the sums, and without `LOG` keeps them.
#[inline(always)]
fn add_four<T: Float, const LOG: bool>(values: &mut [T], largest: &[T], scale: T, sums: &mut [f64]) {
    let (a, rest) = values.split_at_mut(sums.len());
    let (b, rest) = rest.split_at_mut(sums.len());
    let (c, d) = rest.split_at_mut(sums.len());
    let of = |x: &T, largest: &T| power(*x, *largest, scale);
    // The lines are cut into chunks of constant size, because the compiler vectorizes a loop only if it knows that the
    // slices do not overlap, which it does not know of these.
    let mut column = 0;
    while sums.len() - column >= LINE {
        let here = column..column + LINE;
        let mut four = [T::ZERO; LINE];
        for line in [&mut *a, &mut *b, &mut *c, &mut *d] {
            let line = &mut line[here.clone()];
            let largest = chunk_of::<_, LINE>(largest, column);
            let powers: [T; LINE] = each(T::ZERO, |l| of(&line[l], &largest[l]));
            if !LOG {
                line.copy_from_slice(&powers);
            }
            for l in 0..LINE {
                four[l] = four[l].plus(powers[l]);
            }
        }
        for (sum, four) in sums[here].iter_mut().zip(four) {
            *sum += four.widen();
        }
        column += LINE;
    }
    for column in column..sums.len() {
        let mut four = T::ZERO;
        for line in [&mut *a, &mut *b, &mut *c, &mut *d] {
            let power = of(&line[column], &largest[column]);
            if !LOG {
                line[column] = power;
            }
            four = four.plus(power);
        }
        sums[column] += four.widen();
    }
}

/// Does the same as [`add_four`] for one line.
#[inline(always)]
fn add_one<T: Float, const LOG: bool>(values: &mut [T], largest: &[T], scale: T, sums: &mut [f64]) {
    for ((x, largest), sum) in values.iter_mut().zip(largest).zip(sums) {
        let power = power(*x, *largest, scale);
        if !LOG {
            *x = power;
        }
        *sum += power.widen();
    }
}

/// Stores line `k` of the results of a tile.
///
/// # Safety
/// No other code may use these elements of the output.
#[inline(always)]
unsafe fn store<O: Stored, const LOG: bool>(
    rows: Rows,
    out: &Sink<'_, O>,
    scale: O::Wide,
    (tile, buffer): (Tile, &Buffer<O::Wide>),
    k: usize,
) {
    let start = rows.at((tile.outer, tile.column), k);
    let values = &buffer.values[k * tile.width..(k + 1) * tile.width];
    let results = Results::<_, LOG> { start, scale, values, largest: &buffer.largest, from: &buffer.from };
    // SAFETY: the caller guarantees that no other code uses these elements; the results are computed from the buffer.
    unsafe { Storing::new(*out, start..start + tile.width, results).finish() };
}

/// Computes the results of a line of a tile.
struct Results<'a, T, const LOG: bool> {
    start: usize,
    scale: T,
    values: &'a [T],
    largest: &'a [T],
    from: &'a [T],
}

impl<O: Stored, const LOG: bool> Compute<O> for Results<'_, O::Wide, LOG> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [O; N] {
        let at = at - self.start;
        let (values, from) = (chunk_of::<_, N>(self.values, at), chunk_of::<_, N>(self.from, at));
        if !LOG {
            return each(O::ZERO, |l| O::nearest(values[l].times(from[l])));
        }
        let largest = chunk_of::<_, N>(self.largest, at);
        each(O::ZERO, |l| O::nearest(values[l].minus(largest[l]).times(self.scale).minus(from[l])))
    }
}
