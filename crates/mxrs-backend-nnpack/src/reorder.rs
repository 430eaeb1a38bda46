//! Copies between layouts: images from and to blocks of channels, weights into their packed forms.

use crate::convolve::{Panel, part};
use crate::direct::grouped::Groups;
use crate::direct::small_groups;
use crate::filters::Filters;
use crate::gradients::merged_phases::MergedPhases;
use crate::layouts::{
    BLOCK, PANEL, PackedForm, bf16_image, blocked_image_stride, channels_last, is_blocked, spectra, transform, weights,
};
use half::bf16;
use mxrs_op::{Kernel, KernelArgs, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::bfloat16::{narrow, widen};
use mxrs_types::{Error, Result, WriteReq};

/// Values per thread below which another thread costs more than it saves.
const NUMBERS_PER_THREAD: usize = 1 << 14;

/// A copy between two layouts.
pub struct Reorder {
    sizes: [usize; 4],
    conversion: Conversion,
    /// Whether the values are bfloat16. Weights are then widened to float32 before they are packed.
    is_bf16: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    ToBlocks,
    /// From blocks of channels. The number is the distance in values from one image to the next.
    FromBlocks(usize),
    /// To bfloat16 with channels last.
    ToPixels,
    FromPixels,
    Pack(PackedForm),
}

impl Reorder {
    /// Returns the copy, if this backend knows both layouts.
    pub fn new(from: &TensorDesc, to: &TensorDesc) -> Option<Self> {
        let is_bf16 = bf16_image(from).is_some();
        let sizes = if is_bf16 { bf16_image(from) } else { weights(from) };
        let sizes = sizes.filter(|sizes| from.shape == to.shape && from.dtype == to.dtype && !sizes.contains(&0))?;
        let is_last = |desc: &TensorDesc| is_bf16 && desc.layout == channels_last(sizes);
        let conversion = match (from.layout.is_row_major(), to.layout.is_row_major()) {
            (true, false) if is_blocked(to) => Conversion::ToBlocks,
            (true, false) if is_last(to) => Conversion::ToPixels,
            (false, true) if is_last(from) => Conversion::FromPixels,
            (false, true) => Conversion::FromBlocks(blocked_image_stride(from)?),
            (true, false) => {
                Conversion::Pack(PackedForm::of(&to.layout).filter(|form| form.layout(sizes) == to.layout)?)
            }
            _ => return None,
        };
        Some(Self { sizes, conversion, is_bf16 })
    }
}

impl Kernel for Reorder {
    fn name(&self) -> &str {
        match self.conversion {
            Conversion::ToBlocks => "nnpack:reorder:blocks",
            Conversion::ToPixels => "nnpack:reorder:pixels",
            Conversion::FromBlocks(_) | Conversion::FromPixels => "nnpack:reorder:rows",
            Conversion::Pack(_) => "nnpack:reorder:weights",
        }
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        match args.reqs.first().copied().unwrap_or_default() {
            WriteReq::Null => return Ok(()),
            WriteReq::Add => return Err(Error::not_built("adding to a copy", "copies between layouts overwrite")),
            WriteReq::Write | WriteReq::Inplace => {}
        }
        // SAFETY: this is an input of the running call. By the contract of `RawTensor` only an `Inplace` output could
        // write it, and the executor plans no copy between layouts in place.
        let from = unsafe { args.inputs[0].bytes() };
        // SAFETY: this is an output of the running call, and no other slice of its memory exists: `from` is other
        // memory.
        let to = unsafe { args.outputs[0].bytes_mut() };
        let [n, c, h, w] = self.sizes;
        let pixels = h * w;
        let lines = match self.conversion {
            Conversion::ToPixels => Some([c, pixels]),
            Conversion::FromPixels => Some([pixels, c]),
            _ => None,
        };
        if let Some([rows, columns]) = lines {
            let from = bytemuck::cast_slice::<u8, u16>(from);
            let all =
                from.chunks_exact(c * pixels).zip(bytemuck::cast_slice_mut::<u8, u16>(to).chunks_exact_mut(c * pixels));
            all.for_each(|(from, to)| transpose(from, to, rows, columns));
            return Ok(());
        }
        let widened: Vec<f32>;
        let from = if self.is_bf16 {
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
        if let Conversion::Pack(form @ (PackedForm::Bf16Rows | PackedForm::Bf16Blocks)) = self.conversion {
            self.pack_bf16(form, from, bytemuck::cast_slice_mut::<u8, bf16>(to), args.team);
            return Ok(());
        }
        let to = bytemuck::cast_slice_mut::<u8, f32>(to);
        match self.conversion {
            Conversion::ToPixels | Conversion::FromPixels => {}
            Conversion::ToBlocks => {
                in_chunks(args.team, to, pixels * BLOCK, &|at, block| {
                    let (image, cb) = (at / c.div_ceil(BLOCK), at % c.div_ceil(BLOCK));
                    let channels = (c - cb * BLOCK).min(BLOCK);
                    to_block(&from[(image * c + cb * BLOCK) * pixels..][..channels * pixels], block, pixels);
                });
            }
            Conversion::FromBlocks(distance) => {
                // In both layouts, the channels of one block of an image lie in one contiguous part of memory.
                let padded = c.next_multiple_of(BLOCK);
                for (image, to) in to.chunks_exact_mut(c * pixels).enumerate().take(n) {
                    let from = &from[image * distance..][..padded * pixels];
                    in_chunks(args.team, to, pixels * BLOCK, &|cb, rows| {
                        from_block(&from[cb * BLOCK * pixels..][..BLOCK * pixels], rows, pixels);
                    });
                }
            }
            Conversion::Pack(PackedForm::Winograd(variant)) => {
                transform(self.sizes, variant)?.pack_weights(from, to, args.team)?;
            }
            Conversion::Pack(PackedForm::FlippedWinograd(variant)) => {
                transform([c, n, h, w], variant)?.pack_flipped_weights(from, to, args.team)?;
            }
            Conversion::Pack(PackedForm::MergedPhases(steps)) => {
                if let Some(merged) = MergedPhases::new(steps, [h, w]) {
                    let filters = merged.filters(from, [n, c], pixels);
                    let sizes = [merged.channels(c), n, merged.window[0], merged.window[1]];
                    let filters = Filters::plain(&filters, n, merged.window[0] * merged.window[1]);
                    pack_panels(PackedForm::Blocks, sizes, filters, to, args.team);
                }
            }
            Conversion::Pack(PackedForm::Phases(steps)) => {
                let mut to = &mut *to;
                for phase in steps.phases([h, w]).unwrap_or_default() {
                    let sizes = [c, n, phase.lines[0].taps.len(), phase.lines[1].taps.len()];
                    let (these, others) = to.split_at_mut(PackedForm::Blocks.len(sizes));
                    to = others;
                    if phase.n_cells() > 0 {
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
            Conversion::Pack(PackedForm::GroupPhases(steps, groups)) => {
                let groups = Groups::flipped(usize::from(groups), [n, c]);
                let mut to = &mut *to;
                for phase in steps.phases([h, w]).unwrap_or_default() {
                    let taps = phase.cells(w);
                    let (these, others) = to.split_at_mut(groups.n * groups.packed_len(taps.len()));
                    to = others;
                    if !taps.is_empty() {
                        in_chunks(args.team, these, groups.packed_len(taps.len()), &|index, to| {
                            groups.pack_flipped(index, (&taps, pixels), from, to);
                        });
                    }
                }
            }
            Conversion::Pack(PackedForm::FlippedBlocks) => {
                let filters = Filters::flipped(from, [c, n], pixels);
                pack_panels(PackedForm::Blocks, [c, n, h, w], filters, to, args.team);
            }
            Conversion::Pack(PackedForm::Groups(groups)) => {
                let groups = Groups::new(groups as usize, c, n / groups as usize);
                in_chunks(args.team, to, groups.packed_len(pixels), &|index, to| groups.pack(index, pixels, from, to));
            }
            Conversion::Pack(PackedForm::SmallGroups(_)) => {
                in_chunks(args.team, to, pixels * c * BLOCK, &|block, to| {
                    small_groups::pack(block, c, pixels, from, to)
                });
            }
            Conversion::Pack(PackedForm::Depthwise) => {
                // Depthwise weights are copied like an image: a window is a channel, and its taps are the pixels.
                in_chunks(args.team, to, pixels * BLOCK, &|block, to| {
                    let channels = (n - block * BLOCK).min(BLOCK);
                    to_block(&from[block * BLOCK * pixels..][..channels * pixels], to, pixels);
                });
            }
            Conversion::Pack(PackedForm::Fourier(tile)) => {
                spectra(self.sizes, tile)?.pack_weights(from, to, args.team)?
            }
            Conversion::Pack(form) => pack_panels(form, self.sizes, Filters::plain(from, c, pixels), to, args.team),
        }
        Ok(())
    }
}

impl Reorder {
    /// Packs weights as bfloat16.
    fn pack_bf16(&self, form: PackedForm, from: &[f32], to: &mut [bf16], team: &Team) {
        let [n, c, h, w] = self.sizes;
        let filters = Filters::plain(from, c, h * w);
        let steps = form.len(self.sizes) / n.next_multiple_of(BLOCK);
        let short = |from: &[f32], to: &mut [bf16]| to.iter_mut().zip(from).for_each(|(to, x)| *to = narrow(*x));
        if form == PackedForm::Bf16Rows {
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

/// Runs `body` on all chunks of `len` values of `to`; the last chunk may be shorter. The threads of the team share the
/// chunks.
fn in_chunks<T: Send>(team: &Team, to: &mut [T], len: usize, body: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let total = to.len();
    let n_chunks = total.div_ceil(len);
    let threads = (total / NUMBERS_PER_THREAD).clamp(1, team.size()).min(n_chunks);
    let start = Start(to.as_mut_ptr());
    team.run(threads, &|thread| {
        let start = &start;
        for chunk in part(n_chunks, threads, thread) {
            let first = chunk * len;
            // SAFETY: `chunk < n_chunks = total.div_ceil(len)`, so `first < total`, and `min(total - first)` keeps the
            // chunk inside `to`. `part` gives each chunk to one thread. `to` stays mutably borrowed until `run`
            // returns.
            let chunk_of = unsafe { std::slice::from_raw_parts_mut(start.0.add(first), len.min(total - first)) };
            body(chunk, chunk_of);
        }
    });
}

/// Start of a slice that threads share in disjoint parts.
struct Start<T>(*mut T);

// SAFETY: only `in_chunks` shares a `Start`, and there `part` gives each chunk to one thread, so threads access
// disjoint parts.
unsafe impl<T: Send> Sync for Start<T> {}

/// Transposes a matrix of `rows` by `columns`.
fn transpose(from: &[u16], to: &mut [u16], rows: usize, columns: usize) {
    for first in (0..columns).step_by(TILE) {
        for (row, from) in from.chunks_exact(columns).enumerate() {
            for (column, x) in from.iter().enumerate().skip(first).take(TILE) {
                to[column * rows + row] = *x;
            }
        }
    }
}

/// Pixels that are transposed at a time: those of one cache line.
const TILE: usize = 16;

/// Copies contiguous channels into one block; missing channels become 0.
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

/// Copies a block into contiguous channels, without its padding.
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

/// Writes the transposed matrix of `rows` to `to`, in rows of `width` values; values outside the matrix become 0. Reads
/// one cache line of each row at a time, because rows whose distance is a power of two evict each other's lines from
/// the cache.
fn transpose_rows(rows: &[f32], row_len: usize, to: &mut [f32], width: usize) {
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

/// Packs all panels of filters `[k, c, kh, kw]`.
fn pack_panels(form: PackedForm, sizes: [usize; 4], filters: Filters<'_>, to: &mut [f32], team: &Team) {
    let steps = form.len(sizes) / sizes[0].next_multiple_of(BLOCK);
    in_chunks(team, to, steps * PANEL, &|index, to| pack_panel(form, sizes, Panel::of(sizes[0], index), filters, to));
}

/// Packs one panel of filters `[k, c, kh, kw]`. The panel is written in order, so that each of its rows leaves the
/// cache once; the filters are read one cache line at a time.
fn pack_panel(form: PackedForm, [k, c, kh, kw]: [usize; 4], panel: Panel, filters: Filters<'_>, to: &mut [f32]) {
    let cells = kh * kw;
    let first = panel.index * PANEL;
    let columns = (k - first).min(panel.width);
    if let Some(rows) = filters.rows().filter(|_| cells == 1) {
        return transpose_rows(&rows[first * c..][..columns * c], c, to, panel.width);
    }
    for (step, row) in to.chunks_exact_mut(panel.width).enumerate() {
        let (channel, cell) = match form {
            PackedForm::Blocks | PackedForm::Bf16Blocks => {
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
