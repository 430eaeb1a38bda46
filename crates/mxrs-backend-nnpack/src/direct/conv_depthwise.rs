//! A 1x1 convolution and the depthwise convolution that reads its result, as in the blocks of networks for small devices.
//!
//! The result of the first convolution has several times as many channels as the tensors before and after both, so
//! writing it to memory and reading it again takes longer than computing it. But a depthwise convolution needs only the
//! channels that it computes. So a thread computes one panel (32 channels) of a band of rows into scratch memory, which
//! stays in the second-level cache, and convolves it there. Bands overlap by the rows that two windows share; these rows
//! are computed twice.

use super::depthwise::{Depthwise, Row};
use crate::barrier::Phases;
use crate::convolve::{Panel, PanelBias, part};
use crate::epilogue::Epilogue;
use crate::functions::Apply;
use crate::gemm::{Gemm, Product, row_groups};
use crate::kernel::meet_request;
use crate::layouts::{BLOCK, PANEL};
use crate::problem::ConvProblem;
use mxrs_op::{Kernel, KernelArgs};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::{DType, Result};
use std::ops::Range;

/// Largest size in bytes of a band of a panel, so that it stays in the second-level cache.
const BAND_BYTES: usize = 512 << 10;
/// Largest size in bytes of a band of a panel together with its input data. If it is larger, the input data do not stay in
/// the second-level cache until the next panel reads them.
const BAND_AND_DATA_BYTES: usize = 1 << 20;
/// Time to read one value from the third-level cache, in multiply-adds.
const READ_TIME: f64 = 4.0;
/// Largest accepted ratio of the rows that the first convolution computes to the rows of its output. Rows in overlaps of
/// bands are computed twice. Beyond this ratio, two separate convolutions are faster.
const MOST_OVERLAP: f64 = 1.3;
/// Largest number of bands of an image.
const MOST_BANDS: usize = 64;
/// Time of a multiply-add of the depthwise convolution relative to one of the product.
const DEPTHWISE_TIME: f64 = 2.0;

/// Both convolutions, prepared.
pub struct ConvDepthwise {
    /// Name in traces.
    name: String,
    first: ConvProblem,
    second: Depthwise,
    problem: ConvProblem,
    gemm: Gemm,
    epilogues: [Epilogue; 2],
    function: Option<Apply>,
    /// Offset of each block of input channels in an image.
    offsets: Vec<usize>,
    bands: usize,
    threads: usize,
}

/// The tensors of a run.
struct Memory {
    src: *const f32,
    weights: [*const f32; 2],
    bias: [*const f32; 2],
    dst: *mut f32,
    scratch: *mut f32,
}

// SAFETY: sharing only copies the addresses. The memory behind them is accessed in `ConvDepthwise::item`, whose contract
// excludes conflicting accesses.
unsafe impl Sync for Memory {}

/// The output rows of the first convolution that the second one reads for its output rows `rows`.
fn rows_read(second: &ConvProblem, rows: &Range<usize>) -> Range<usize> {
    let end = ((rows.end - 1) * second.stride.0 + (second.kh - 1) * second.dilate.0 + 1).saturating_sub(second.pad.0);
    let end = end.min(second.h);
    (rows.start * second.stride.0).saturating_sub(second.pad.0).min(end)..end
}

/// Largest number of rows that a band reads if the output has this number of bands.
fn most_rows(second: &ConvProblem, bands: usize) -> usize {
    (0..bands).map(|band| rows_read(second, &part(second.oh, bands, band)).len()).max().unwrap_or(0)
}

/// The number of bands with the lowest estimated time; `None` if no number keeps a band in the cache without computing
/// many rows twice.
pub fn bands(first: &ConvProblem, second: &ConvProblem, threads: usize) -> Option<usize> {
    let panels = Panel::count(first.k);
    let per_row = (first.c.next_multiple_of(BLOCK) * first.w) as f64;
    let per_output = (second.ow * second.kh * second.kw) as f64 * DEPTHWISE_TIME;
    let time = |bands: &usize| {
        let items = (first.n * panels * bands).div_ceil(threads.max(1)) as f64;
        let rows = most_rows(second, *bands);
        let bytes = rows * first.w * (PANEL + first.c.next_multiple_of(BLOCK)) * size_of::<f32>();
        let reading = if bytes > BAND_AND_DATA_BYTES { READ_TIME / PANEL as f64 } else { 0.0 };
        items * (rows as f64 * per_row * (1.0 + reading) + second.oh.div_ceil(*bands) as f64 * per_output)
    };
    let fits = |bands: &usize| {
        let rows = most_rows(second, *bands);
        let is_small = rows * first.w * PANEL * size_of::<f32>() <= BAND_BYTES;
        is_small && (rows * bands) as f64 <= MOST_OVERLAP * second.h as f64
    };
    (1..=second.oh.min(MOST_BANDS)).filter(fits).min_by(|a, b| time(a).total_cmp(&time(b)))
}

impl ConvDepthwise {
    /// Prepares the convolutions for at most `threads` threads, with this number of [`bands`].
    pub fn new(
        name: String,
        [first, second]: [ConvProblem; 2],
        epilogues: [Epilogue; 2],
        bands: usize,
        isa: Isa,
        threads: usize,
    ) -> Self {
        let [function, last] = epilogues.map(|e| e.function.map(|function| Apply::new(function, isa)));
        let offsets = (0..first.c.div_ceil(BLOCK)).map(|block| block * first.h * first.w * BLOCK).collect();
        Self {
            name,
            first,
            second: Depthwise::new(second, last, isa, 1),
            problem: second,
            gemm: Gemm::new(isa),
            epilogues,
            function,
            offsets,
            bands,
            threads: threads.max(1),
        }
    }

    /// Number of values of 16 channels of the largest band.
    fn plane(&self) -> usize {
        most_rows(&self.problem, self.bands) * self.first.w * BLOCK
    }

    /// Bytes of scratch memory.
    pub fn scratch_bytes(&self) -> usize {
        self.threads * self.plane() * (PANEL / BLOCK) * size_of::<f32>()
    }

    fn items(&self) -> usize {
        self.first.n * self.bands * Panel::count(self.first.k)
    }

    /// Computes item `index`: a panel of a band of an image.
    ///
    /// # Safety
    /// `index` must be below [`items`](Self::items). The tensors must have the planned sizes and layouts, and no thread
    /// may write the inputs. No other thread may use these outputs, or `scratch`, which must have the values of one
    /// panel of the largest band.
    unsafe fn item(&self, m: &Memory, index: usize, scratch: *mut f32) {
        let (p, second) = (&self.first, &self.problem);
        let panels = Panel::count(p.k);
        let (image, band) = (index / panels / self.bands, index / panels % self.bands);
        let panel = Panel::of(p.k, index % panels);
        let rows = part(second.oh, self.bands, band);
        let read = rows_read(second, &rows);
        let (c, plane) = (p.c.next_multiple_of(BLOCK), self.plane());
        let [bounds, last_bounds] = self.epilogues.map(|e| e.bounds);
        // SAFETY: `image < n`, `band < bands` and `panel.index < panels` follow from `index`. The pixels `at..at + len`
        // of the rows `read` lie in the image, and in the `plane` values per block of the scratch memory, because no
        // band reads more rows than `most_rows`. `offsets` are those of the channel blocks of the data. A panel of
        // weights has `c * panel.width` values; all panels before it are whole. The rows `rows` of the blocks of this
        // panel are outputs of this item alone.
        unsafe {
            let bias = PanelBias::of(m.bias[0], p.k, panel);
            let epilogue = bias.epilogue(std::ptr::null(), bounds);
            let src = m.src.add((image * c * p.h + read.start * BLOCK) * p.w);
            let b = m.weights[0].add(panel.index * PANEL * c);
            let next = b.wrapping_add(PANEL * c);
            let channels = |half: usize| BLOCK.min(p.k - panel.index * PANEL - half * BLOCK);
            for (i, (at, len)) in row_groups(read.len() * p.w, self.gemm.most_rows()).enumerate() {
                let product = Product {
                    a: src.add(at * BLOCK),
                    a_offsets: &self.offsets,
                    a_row_stride: BLOCK,
                    b,
                    c: scratch.add(at * BLOCK),
                    c_row_stride: BLOCK,
                    c_half_stride: plane,
                    add: false,
                    prefetch: if i == 0 { next } else { std::ptr::null() },
                    prefetch_lines: (next, 0),
                    epilogue: Some(&epilogue),
                };
                self.gemm.run(len, panel.width == PANEL, &product);
                if let Some(apply) = self.function {
                    for half in 0..panel.width / BLOCK {
                        apply.apply_to(scratch.add(half * plane + at * BLOCK), len, channels(half));
                    }
                }
            }
            let (blocks, taps) = (p.k.div_ceil(BLOCK), second.kh * second.kw);
            for half in 0..panel.width / BLOCK {
                let block = panel.index * (PANEL / BLOCK) + half;
                let mut bias = [0.0; BLOCK];
                if !m.bias[1].is_null() {
                    let from = m.bias[1].add(block * BLOCK);
                    bias.as_mut_ptr().copy_from_nonoverlapping(from, channels(half));
                }
                for y in rows.clone() {
                    let row = Row {
                        layer: &self.second,
                        y,
                        first_row: read.start,
                        src: scratch.add(half * plane),
                        weights: m.weights[1].add(block * taps * BLOCK),
                        bias,
                        sum: std::ptr::null(),
                        dst: m.dst.add(((image * blocks + block) * second.oh + y) * second.ow * BLOCK),
                        bounds: last_bounds,
                    };
                    self.second.run_row(&row, channels(half));
                }
            }
        }
    }

    fn write(&self, m: &Memory, team: &Team) {
        let items = self.items();
        let threads = self.threads.min(items);
        let phases = Phases::new(threads, [items]);
        let values = self.plane() * (PANEL / BLOCK);
        team.run(threads, &|thread| {
            let scratch = m.scratch.wrapping_add(thread * values);
            // SAFETY: `Phases` runs each item once, and different items are different panels, rows or images of the
            // output. `thread < threads`, and the scratch memory has `values` values per thread. The caller's tensors
            // belong to the running call.
            phases.work(0, thread, |item| unsafe { self.item(m, item, scratch) });
        });
    }
}

impl Kernel for ConvDepthwise {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let input = |i: usize| args.inputs[i].as_ptr().cast_const().cast::<f32>();
        let optional = |i: Option<usize>| i.map_or(std::ptr::null(), input);
        let [first, second] = self.epilogues.map(|e| e.bias);
        let dw_weight = 2 + usize::from(first.is_some());
        let dst = |dst: mxrs_op::RawTensor<'_>| dst.as_ptr().cast();
        meet_request(args, DType::F32, |out| {
            let memory = Memory {
                src: input(0),
                weights: [input(1), input(dw_weight)],
                bias: [optional(first), optional(second)],
                dst: dst(out),
                scratch: args.scratch.as_ptr().cast(),
            };
            self.write(&memory, args.team);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::winograd::Data;

    fn problems(c: usize, k: usize, size: usize, window: usize, stride: usize) -> [ConvProblem; 2] {
        let first = ConvProblem {
            n: 1,
            c,
            k,
            h: size,
            w: size,
            oh: size,
            ow: size,
            kh: 1,
            kw: 1,
            stride: (1, 1),
            pad: (0, 0),
            data: Data::Blocks,
            dilate: (1, 1),
        };
        let (pad, out) = (window / 2, size.div_ceil(stride));
        let (stride, pad) = ((stride, stride), (pad, pad));
        [first, ConvProblem { c: k, kh: window, kw: window, stride, pad, oh: out, ow: out, ..first }]
    }

    #[test]
    fn bands_read_the_rows_of_their_windows() {
        for (size, window, stride) in [(7, 3, 1), (14, 5, 2), (112, 3, 2), (9, 7, 1)] {
            let [_, p] = problems(16, 32, size, window, stride);
            for bands in 1..=p.oh {
                for band in 0..bands {
                    let rows = part(p.oh, bands, band);
                    let read = rows_read(&p, &rows);
                    for y in rows {
                        for ky in 0..p.kh {
                            let row = (y * p.stride.0 + ky).wrapping_sub(p.pad.0);
                            assert!(row >= p.h || read.contains(&row), "{size} {window} {stride}: {y} of {bands}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn bands_stay_in_the_cache_and_keep_all_threads_at_work() {
        for (c, k, size, window, stride) in [(16, 96, 112, 3, 2), (24, 144, 56, 3, 1), (160, 960, 7, 3, 1)] {
            let [first, second] = problems(c, k, size, window, stride);
            let bands = bands(&first, &second, 2).expect("bands");
            assert!(most_rows(&second, bands) * size * 32 * 4 <= BAND_BYTES);
            assert!(Panel::count(k) * bands > 1);
        }
        // Even one row of this wide image does not fit into the cache, so no number of bands is accepted.
        let [first, second] = problems(16, 32, 4096, 3, 1);
        assert_eq!(bands(&first, &second, 2), None);
    }
}
