//! Copies between layouts: images row by row or in blocks of channels, weights into their packed forms.

use crate::convolve::{Panel, part};
use crate::direct::grouped::Groups;
use crate::filters::Filters;
use crate::gradients::joined::Joined;
use crate::layouts::{
    BLOCK, PANEL, PackedForm, blocked_apart, channels_last, is_blocked, short_image, spectra, transform, weights,
};
use half::bf16;
use mxrs_op::{Kernel, KernelArgs, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::bfloat16::{narrow, widen};
use mxrs_types::{Error, Result, WriteReq};

/// Numbers below which one thread is faster than two.
const NUMBERS_PER_THREAD: usize = 1 << 14;

/// A copy between two layouts.
pub struct Reorder {
    sizes: [usize; 4],
    way: Way,
    /// Whether numbers are bfloat16. Weights are packed as float32.
    is_short: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ToBlocks,
    /// With so many numbers from one image to the next.
    FromBlocks(usize),
    /// Bfloat16 with channels last.
    ToPixels,
    FromPixels,
    Pack(PackedForm),
}

impl Reorder {
    /// The copy, if both layouts are known here.
    pub fn new(from: &TensorDesc, to: &TensorDesc) -> Option<Self> {
        let is_short = short_image(from).is_some();
        let sizes = if is_short { short_image(from) } else { weights(from) };
        let sizes = sizes.filter(|sizes| from.shape == to.shape && from.dtype == to.dtype && !sizes.contains(&0))?;
        let is_last = |desc: &TensorDesc| is_short && desc.layout == channels_last(sizes);
        let way = match (from.layout.is_row_major(), to.layout.is_row_major()) {
            (true, false) if is_blocked(to) => Way::ToBlocks,
            (true, false) if is_last(to) => Way::ToPixels,
            (false, true) if is_last(from) => Way::FromPixels,
            (false, true) => Way::FromBlocks(blocked_apart(from)?),
            (true, false) => Way::Pack(PackedForm::of(&to.layout).filter(|form| form.layout(sizes) == to.layout)?),
            _ => return None,
        };
        Some(Self { sizes, way, is_short })
    }
}

impl Kernel for Reorder {
    fn name(&self) -> &str {
        match self.way {
            Way::ToBlocks => "nnpack:reorder:blocks",
            Way::ToPixels => "nnpack:reorder:pixels",
            Way::FromBlocks(_) | Way::FromPixels => "nnpack:reorder:rows",
            Way::Pack(_) => "nnpack:reorder:weights",
        }
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        match args.reqs.first().copied().unwrap_or_default() {
            WriteReq::Null => return Ok(()),
            WriteReq::Add => return Err(Error::not_built("adding to a copy", "copies between layouts overwrite")),
            WriteReq::Write | WriteReq::Inplace => {}
        }
        // SAFETY: the input of the running call, which is not the output: their layouts differ.
        let from = unsafe { args.inputs[0].bytes() };
        // SAFETY: its output, of which this is the only slice.
        let to = unsafe { args.outputs[0].bytes_mut() };
        let [n, c, h, w] = self.sizes;
        let pixels = h * w;
        let lines = match self.way {
            Way::ToPixels => Some([c, pixels]),
            Way::FromPixels => Some([pixels, c]),
            _ => None,
        };
        if let Some([rows, columns]) = lines {
            let from = bytemuck::cast_slice::<u8, u16>(from);
            let all =
                from.chunks_exact(c * pixels).zip(bytemuck::cast_slice_mut::<u8, u16>(to).chunks_exact_mut(c * pixels));
            all.for_each(|(from, to)| turn(from, to, rows, columns));
            return Ok(());
        }
        let widened: Vec<f32>;
        let from = if self.is_short {
            let short = bytemuck::cast_slice::<u8, bf16>(from);
            let mut wide = vec![0.0; short.len()];
            in_chunks(args.team, &mut wide, NUMBERS_PER_THREAD, &|index, to| {
                let from = &short[index * NUMBERS_PER_THREAD..][..to.len()];
                to.iter_mut().zip(from).for_each(|(to, x)| *to = widen(*x));
            });
            widened = wide;
            &widened
        } else {
            bytemuck::cast_slice::<u8, f32>(from)
        };
        if let Way::Pack(form @ (PackedForm::ShortRows | PackedForm::ShortBlocks)) = self.way {
            self.pack_short(form, from, bytemuck::cast_slice_mut::<u8, bf16>(to), args.team);
            return Ok(());
        }
        let to = bytemuck::cast_slice_mut::<u8, f32>(to);
        match self.way {
            Way::ToPixels | Way::FromPixels => {}
            Way::ToBlocks => {
                in_chunks(args.team, to, pixels * BLOCK, &|at, block| {
                    let (image, cb) = (at / c.div_ceil(BLOCK), at % c.div_ceil(BLOCK));
                    let channels = (c - cb * BLOCK).min(BLOCK);
                    to_block(&from[(image * c + cb * BLOCK) * pixels..][..channels * pixels], block, pixels);
                });
            }
            Way::FromBlocks(distance) => {
                // Of one image the channels of one block lie together in both.
                let padded = c.next_multiple_of(BLOCK);
                for (image, to) in to.chunks_exact_mut(c * pixels).enumerate().take(n) {
                    let from = &from[image * distance..][..padded * pixels];
                    in_chunks(args.team, to, pixels * BLOCK, &|cb, rows| {
                        from_block(&from[cb * BLOCK * pixels..][..BLOCK * pixels], rows, pixels);
                    });
                }
            }
            Way::Pack(PackedForm::Winograd(variant)) => {
                transform(self.sizes, variant)?.pack_weights(from, to, args.team)?;
            }
            Way::Pack(PackedForm::TurnedWinograd(variant)) => {
                transform([c, n, h, w], variant)?.pack_turned_weights(from, to, args.team)?;
            }
            Way::Pack(PackedForm::Joined(steps)) => {
                if let Some(joined) = Joined::new(steps, [h, w]) {
                    let filters = joined.filters(from, [n, c], pixels);
                    let sizes = [joined.channels(c), n, joined.window[0], joined.window[1]];
                    let filters = Filters::plain(&filters, n, joined.window[0] * joined.window[1]);
                    pack_panels(PackedForm::Blocks, sizes, filters, to, args.team);
                }
            }
            Way::Pack(PackedForm::Phases(steps)) => {
                let mut to = &mut *to;
                for phase in steps.phases([h, w]).unwrap_or_default() {
                    let [rows, columns] = [0, 1].map(|i| phase.lines[i].taps.len());
                    let sizes = [c, n, rows, columns];
                    let (these, others) = to.split_at_mut(PackedForm::Blocks.len(sizes));
                    to = others;
                    if rows * columns > 0 {
                        let cells = phase.cells(w);
                        pack_panels(
                            PackedForm::Blocks,
                            sizes,
                            Filters::picked(from, [c, n], pixels, &cells),
                            these,
                            args.team,
                        );
                    }
                }
            }
            Way::Pack(PackedForm::TurnedBlocks) => {
                let filters = Filters::turned(from, [c, n], pixels);
                pack_panels(PackedForm::Blocks, [c, n, h, w], filters, to, args.team);
            }
            Way::Pack(PackedForm::Groups(groups)) => {
                let groups = Groups::new(groups as usize, c, n / groups as usize);
                in_chunks(args.team, to, groups.packed_len(pixels), &|index, to| groups.pack(index, pixels, from, to));
            }
            Way::Pack(PackedForm::Depthwise) => {
                // Windows one after another are channels of an image of their cells.
                in_chunks(args.team, to, pixels * BLOCK, &|block, to| {
                    let channels = (n - block * BLOCK).min(BLOCK);
                    to_block(&from[block * BLOCK * pixels..][..channels * pixels], to, pixels);
                });
            }
            Way::Pack(PackedForm::Fourier(tile)) => spectra(self.sizes, tile)?.pack_weights(from, to, args.team)?,
            Way::Pack(form) => pack_panels(form, self.sizes, Filters::plain(from, c, pixels), to, args.team),
        }
        Ok(())
    }
}

impl Reorder {
    /// Packs weights as bfloat16.
    fn pack_short(&self, form: PackedForm, from: &[f32], to: &mut [bf16], team: &Team) {
        let [n, c, h, w] = self.sizes;
        let filters = Filters::plain(from, c, h * w);
        let steps = form.len(self.sizes) / n.next_multiple_of(BLOCK);
        let short = |from: &[f32], to: &mut [bf16]| to.iter_mut().zip(from).for_each(|(to, x)| *to = narrow(*x));
        if form == PackedForm::ShortRows {
            in_chunks(team, to, NUMBERS_PER_THREAD, &|index, to| {
                short(&from[index * NUMBERS_PER_THREAD..][..to.len()], to);
            });
        } else {
            in_chunks(team, to, steps * PANEL, &|index, to| {
                let mut panel = vec![0.0; to.len()];
                pack_panel(form, self.sizes, Panel::of(n, index), filters, &mut panel);
                short(&panel, to);
            });
        }
    }
}

/// Runs `body` on all chunks of this length, the last maybe shorter, each on some thread of the team.
fn in_chunks<T: Send>(team: &Team, to: &mut [T], len: usize, body: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let total = to.len();
    let n_chunks = total.div_ceil(len);
    let threads = (total / NUMBERS_PER_THREAD).clamp(1, team.size()).min(n_chunks);
    let start = Start(to.as_mut_ptr());
    team.run(threads, &|thread| {
        let start = &start;
        for chunk in part(n_chunks, threads, thread) {
            let first = chunk * len;
            // SAFETY: within the slice; each chunk belongs to one part, and the slice is borrowed until all parts are done.
            let chunk_of = unsafe { std::slice::from_raw_parts_mut(start.0.add(first), len.min(total - first)) };
            body(chunk, chunk_of);
        }
    });
}

/// Where a slice begins that threads share in disjoint parts.
struct Start<T>(*mut T);

// SAFETY: the parts are disjoint; see `in_chunks`.
unsafe impl<T: Send> Sync for Start<T> {}

/// Rows become columns.
fn turn(from: &[u16], to: &mut [u16], rows: usize, columns: usize) {
    for first in (0..columns).step_by(TILE) {
        for (row, from) in from.chunks_exact(columns).enumerate() {
            for (column, x) in from.iter().enumerate().skip(first).take(TILE) {
                to[column * rows + row] = *x;
            }
        }
    }
}

/// Pixels that are turned around at a time: those of one cache line.
const TILE: usize = 16;

/// Channels one after another become one block; those that are missing become 0.
fn to_block(from: &[f32], to: &mut [f32], pixels: usize) {
    for (tile, to) in to.chunks_mut(TILE * BLOCK).enumerate() {
        let first = tile * TILE;
        let len = to.len() / BLOCK;
        to.fill(0.0);
        for (c, channel) in from.chunks_exact(pixels).enumerate() {
            for (x, to) in channel[first..first + len].iter().zip(to.chunks_exact_mut(BLOCK)) {
                to[c] = *x;
            }
        }
    }
}

/// A block becomes its channels one after another, those that are there.
fn from_block(from: &[f32], to: &mut [f32], pixels: usize) {
    for (tile, from) in from.chunks(TILE * BLOCK).enumerate() {
        let first = tile * TILE;
        let len = from.len() / BLOCK;
        for (c, channel) in to.chunks_exact_mut(pixels).enumerate() {
            for (to, from) in channel[first..first + len].iter_mut().zip(from.chunks_exact(BLOCK)) {
                *to = from[c];
            }
        }
    }
}

/// Rows become columns of rows this wide, whose other columns and whose rows at the end become 0. Of each row a cache line is
/// read at a time: rows whose distance is a power of two push each other's lines out of the cache.
fn turn_rows(rows: &[f32], row_len: usize, to: &mut [f32], width: usize) {
    for (tile, to) in to.chunks_mut(TILE * width).enumerate() {
        let mut lines = [[0.0f32; TILE]; PANEL];
        let first = (tile * TILE).min(row_len);
        let len = (row_len - first).min(TILE);
        for (line, row) in lines.iter_mut().zip(rows.chunks_exact(row_len)) {
            line[..len].copy_from_slice(&row[first..][..len]);
        }
        for (i, to) in to.chunks_exact_mut(width).enumerate() {
            to.iter_mut().zip(&lines).for_each(|(to, line)| *to = line[i]);
        }
    }
}

/// All panels of filters `[k, c, kh, kw]`.
fn pack_panels(form: PackedForm, sizes: [usize; 4], filters: Filters<'_>, to: &mut [f32], team: &Team) {
    let steps = form.len(sizes) / sizes[0].next_multiple_of(BLOCK);
    in_chunks(team, to, steps * PANEL, &|index, to| pack_panel(form, sizes, Panel::of(sizes[0], index), filters, to));
}

/// The panel of filters `[k, c, kh, kw]` that holds some output channels. Written in order, so that rows of the panel leave
/// the cache once; the filters are read a cache line at a time each.
fn pack_panel(form: PackedForm, [k, c, kh, kw]: [usize; 4], panel: Panel, filters: Filters<'_>, to: &mut [f32]) {
    let cells = kh * kw;
    let first = panel.index * PANEL;
    let columns = (k - first).min(panel.width);
    if let Some(rows) = filters.rows().filter(|_| cells == 1) {
        return turn_rows(&rows[first * c..][..columns * c], c, to, panel.width);
    }
    for (step, row) in to.chunks_exact_mut(panel.width).enumerate() {
        let (channel, cell) = match form {
            PackedForm::Blocks | PackedForm::ShortBlocks => {
                (step / (BLOCK * cells) * BLOCK + step % BLOCK, step / BLOCK % cells)
            }
            _ => (step / cells, step % cells),
        };
        if channel >= c {
            row.fill(0.0);
            continue;
        }
        let (row, rest) = row.split_at_mut(columns);
        rest.fill(0.0);
        filters.columns(first, channel, cell, row);
    }
}
