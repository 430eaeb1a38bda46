//! Input transform, product and output transform over blocks of tiles, by a team.

mod fetch;

use super::image::Image;
use super::strip::{BUFFER_STRIDE, ChannelEpilogue, Inputs, Outputs};
use super::{BLOCK, Epilogue, Schedule, Tiling, check_len};
use crate::barrier::Phases;
use crate::gemm::{PANEL, Product, row_groups};
use mxrs_sync::Team;
use mxrs_types::{Error, Result};
use std::ops::Range;

/// Values in a cache line.
const LINE: usize = 16;

/// The tensors of a run. Threads write different tiles, or different channels of the same tiles.
struct Tensors<'a> {
    src: Image,
    weights: *const f32,
    dst: Image,
    /// The tensor that is added to the outputs.
    sum: Option<Image>,
    epilogue: &'a Epilogue<'a>,
    scratch: *mut f32,
}
// SAFETY: sharing only copies addresses. The SAFETY comments in `independent` and `cooperative` say which thread uses
// which part.
unsafe impl Sync for Tensors<'_> {}

/// The layout of the scratch memory, in values.
struct Layout {
    /// Tiles of a block.
    tiles: usize,
    /// Largest number of tiles in a part of a block.
    part: usize,
    /// Distance from one plane of transformed inputs to the next.
    factors_plane: usize,
    /// Distance from one plane of products to the next.
    products_plane: usize,
    /// Size of all transformed inputs of a block.
    factors: usize,
    /// Size of the memory that each thread has for itself: products and a buffer. In the independent schedule, each
    /// thread also has its own transformed inputs, and this memory follows them.
    own: usize,
}

impl Tiling {
    fn layout(&self) -> Layout {
        let (tiles, factors) = (self.blocking.tiles, self.transforms.factors);
        let part = tiles.div_ceil(self.blocking.parts(self.panels()));
        // The additional cache line per plane keeps the planes from falling on the same sets of the caches.
        let factors_plane = self.c_blocks * tiles * BLOCK + LINE;
        let products_plane = self.blocking.panels * PANEL * part + LINE;
        let own = factors.numbers() * products_plane + self.transforms.n[0] * BUFFER_STRIDE;
        Layout { tiles, part, factors_plane, products_plane, factors: factors.planes() * factors_plane, own }
    }

    /// Bytes of scratch memory that [`run`](Self::run) needs.
    pub fn scratch_bytes(&self) -> usize {
        let layout = self.layout();
        let shared = match self.blocking.schedule {
            Schedule::Independent => self.blocking.threads,
            Schedule::Cooperative => 1,
        };
        (shared * layout.factors + self.blocking.threads * layout.own) * size_of::<f32>()
    }

    /// Computes the convolution. The layout of `src` and `dst` is that of the tiling's [`Data`]; `weights` come from
    /// [`pack_weights`](Self::pack_weights). Channels of `src` beyond C must be zeros; channels of `dst` beyond K
    /// become zeros.
    ///
    /// # Errors
    /// Fails if the scratch memory is too short, or the bias does not have K values.
    ///
    /// # Safety
    /// All addresses, including that of the sum, must be valid for tensors of the shape. During the call no other thread
    /// may write these tensors or use the output. `src` and `dst` must not overlap. The scratch memory should be aligned
    /// to 64 bytes, for speed.
    pub unsafe fn run(
        &self,
        src: *const u8,
        weights: *const f32,
        epilogue: &Epilogue<'_>,
        dst: *mut u8,
        scratch: &mut [f32],
        team: &Team,
    ) -> Result<()> {
        if let Some(bias) = epilogue.bias {
            check_len("bias", bias.len(), self.shape.k)?;
        }
        if size_of_val(scratch) < self.scratch_bytes() {
            return Err(Error::invalid(
                "scratch",
                format!("{} values", scratch.len()),
                format!("{} bytes", self.scratch_bytes()),
            ));
        }
        let dst = Image::new(dst, self.data, self.k_blocks, self.shape.out);
        let tensors = Tensors {
            src: Image::new(src.cast_mut(), self.data, self.c_blocks, self.shape.size),
            weights,
            dst: dst.with_image_stride(self.dst_image_stride),
            sum: epilogue.sum.map(|sum| dst.moved(sum.cast_mut())),
            epilogue,
            scratch: scratch.as_mut_ptr(),
        };
        // SAFETY: the caller's contract covers the tensors; the length of the scratch memory was checked above.
        unsafe {
            match self.blocking.schedule {
                Schedule::Independent => self.independent(&tensors, team),
                Schedule::Cooperative => self.cooperative(&tensors, team),
            }
        }
        Ok(())
    }

    /// Runs the schedule [`Schedule::Independent`].
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold, and `tensors.scratch` must have [`Self::scratch_bytes`].
    unsafe fn independent(&self, tensors: &Tensors<'_>, team: &Team) {
        let (layout, threads) = (self.layout(), self.blocking.threads);
        let phases = Phases::new(threads, [self.n_tiles().div_ceil(layout.tiles)]);
        team.run(threads, &|thread| {
            // SAFETY: `run` has checked that the scratch memory has `scratch_bytes`, which counts
            // `layout.factors + layout.own` values for each of `threads` threads. `Phases` gives each block of tiles,
            // and so its outputs, to one thread. The caller promises the tensors.
            unsafe {
                let factors = tensors.scratch.add(thread * (layout.factors + layout.own));
                let own = factors.add(layout.factors);
                phases.work(0, thread, |block| {
                    let tiles = self.block(block);
                    self.inputs(tensors, &layout, tiles.clone(), 0..tiles.len(), 0..self.c_blocks, factors, own);
                    for group in 0..self.panels().div_ceil(self.blocking.panels) {
                        self.outputs(
                            tensors,
                            &layout,
                            tiles.clone(),
                            0..tiles.len(),
                            group,
                            Some(self.block(block + 1)),
                            factors,
                            own,
                        );
                    }
                });
            }
        });
    }

    /// Runs the schedule [`Schedule::Cooperative`].
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold, and `tensors.scratch` must have [`Self::scratch_bytes`].
    unsafe fn cooperative(&self, tensors: &Tensors<'_>, team: &Team) {
        let (layout, threads) = (self.layout(), self.blocking.threads);
        let blocks = self.n_tiles().div_ceil(layout.tiles);
        let groups = self.panels().div_ceil(self.blocking.panels);
        let parts = layout.tiles.div_ceil(layout.part);
        // Each work item transforms the tiles of one channel block. If there are few channel blocks, the tiles of each
        // are divided into several items, so that all threads have work.
        let pieces = (2 * threads).div_ceil(self.c_blocks).min(layout.tiles);
        let items = |phase| if phase % 2 == 0 { self.c_blocks * pieces } else { groups * parts };
        let phases = Phases::new(threads, (0..2 * blocks).map(items));
        team.run(threads, &|thread| {
            // SAFETY: even phases transform inputs, odd phases compute outputs from them. The items of an even phase
            // write different transformed inputs; `wait` makes sure that they are complete before the odd phase reads
            // them, and that the odd phase has ended before the next even phase overwrites them. The items of an odd
            // phase write different panels or different tiles of the outputs. Only this thread uses the memory at
            // `own`: `scratch_bytes`, which `run` has checked, counts the transformed inputs of one block and `threads`
            // times `layout.own`.
            unsafe {
                let own = tensors.scratch.add(layout.factors + thread * layout.own);
                for block in 0..blocks {
                    let tiles = self.block(block);
                    let cut = |pieces, i| tiles.len() * i / pieces..tiles.len() * (i + 1) / pieces;
                    phases.work(2 * block, thread, |item| {
                        let (c, piece) = (item / pieces, item % pieces);
                        self.inputs(
                            tensors,
                            &layout,
                            tiles.clone(),
                            cut(pieces, piece),
                            c..c + 1,
                            tensors.scratch,
                            own,
                        );
                    });
                    phases.wait(2 * block);
                    phases.work(2 * block + 1, thread, |item| {
                        let (group, part) = (item / parts, item % parts);
                        let next = (part == 0).then(|| self.block(block + 1));
                        self.outputs(
                            tensors,
                            &layout,
                            tiles.clone(),
                            cut(parts, part),
                            group,
                            next,
                            tensors.scratch,
                            own,
                        );
                    });
                    if block + 1 < blocks {
                        phases.wait(2 * block + 1);
                    }
                }
            }
        });
    }

    /// Transforms the inputs of the tiles `within`, which are a part of `block`, and stores them at `factors`.
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold; the memory at `factors` and `own` must have the sizes that [`Layout`]
    /// says. No other thread may use `own`, or these tiles and channels at `factors`.
    unsafe fn inputs(
        &self,
        tensors: &Tensors<'_>,
        layout: &Layout,
        block: Range<usize>,
        within: Range<usize>,
        channels: Range<usize>,
        factors: *mut f32,
        own: *mut f32,
    ) {
        // SAFETY: `c < c_blocks` and `strip.first + strip.len <= layout.tiles`, so the transformed inputs lie in planes
        // of `c_blocks * tiles * BLOCK` values. The buffer begins after the products and has `n[0]` rows; a strip has
        // at most `longest()` tiles, whose columns fit into a row.
        unsafe {
            let buffer = own.add(self.transforms.factors.numbers() * layout.products_plane);
            for c in channels {
                for strip in self.strips(block.clone(), within.clone(), self.longest()) {
                    let origin =
                        [0, 1].map(|i| (strip.at[i] * self.transforms.m[i]) as isize - self.shape.pad[i] as isize);
                    (self.transforms.input)(&Inputs {
                        src: tensors.src.pixel(strip.image, c, [0, 0]),
                        steps: tensors.src.steps,
                        size: self.shape.size,
                        origin,
                        len: strip.len,
                        m: self.transforms.m,
                        factors: factors.add((c * layout.tiles + strip.first) * BLOCK),
                        plane: layout.factors_plane,
                        buffer,
                    });
                }
            }
        }
    }

    /// Multiplies the transformed inputs of the tiles `within`, which are a part of `block`, by a group of panels, and
    /// transforms the products to outputs.
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold; the inputs of these tiles must be transformed; the memory at
    /// `factors` and `own` must have the sizes that [`Layout`] says. No other thread may use `own` or write these
    /// outputs.
    unsafe fn outputs(
        &self,
        tensors: &Tensors<'_>,
        layout: &Layout,
        block: Range<usize>,
        within: Range<usize>,
        group: usize,
        next: Option<Range<usize>>,
        factors: *const f32,
        own: *mut f32,
    ) {
        let (first, end) = (group * self.blocking.panels, ((group + 1) * self.blocking.panels).min(self.panels()));
        let mut lines = self.lines_to_fetch(tensors, block.clone(), within.clone(), group, next).into_iter();
        let mut line: (*const f32, usize) = (std::ptr::null(), 0);
        let (factors_of, offsets) = (self.transforms.factors, self.offsets(layout));
        let half = layout.part * BLOCK;
        // SAFETY: `before(factor, 3)` is the index of a plane of transformed inputs, and `before(factor, 2)` of a plane
        // of products. `row + rows <= within.len() <= layout.part`, and `panel - first < blocking.panels`, so a product
        // stays within `panels * PANEL * part` values of its plane. `a_offsets` has `c_blocks` blocks for each plane
        // that is multiplied, one or two, as many as the panel's weights have. `k < k_blocks`, and `inside` cuts the
        // outputs at the edges of the image. Prefetched addresses are not read.
        unsafe {
            for factor in 0..factors_of.count() {
                let parts = if factor < factors_of.real { &offsets[..1] } else { &offsets[1..] };
                let a = factors.add(factors_of.before(factor, 3) * layout.factors_plane + within.start * BLOCK);
                let c = own.add(factors_of.before(factor, 2) * layout.products_plane);
                for panel in first..end {
                    let next = if panel + 1 < end { (panel + 1, factor) } else { (first, factor + 1) };
                    let whole = self.panel_width(panel) == PANEL;
                    let c = c.add((panel - first) * 2 * half);
                    let groups = row_groups(within.len(), self.gemm.most_rows());
                    for ((part, a_offsets), (row, rows)) in
                        parts.iter().enumerate().flat_map(|part| groups.clone().map(move |group| (part, group)))
                    {
                        if line.1 == 0 {
                            line = lines.next().unwrap_or(line);
                        }
                        let prefetch_lines = (line.0, line.1.min(a_offsets.len()));
                        line = (line.0.wrapping_add(prefetch_lines.1 * BLOCK * LINE), line.1 - prefetch_lines.1);
                        let call = Product {
                            a: a.add(row * BLOCK),
                            a_offsets,
                            a_row_stride: BLOCK,
                            b: tensors.weights.add(self.panel_offset(panel, factor)),
                            c: c.add(part * layout.products_plane + row * BLOCK),
                            c_row_stride: BLOCK,
                            c_half_stride: half,
                            add: false,
                            prefetch: if (part, row) == (0, 0) {
                                tensors.weights.wrapping_add(self.panel_offset(next.0, next.1))
                            } else {
                                std::ptr::null()
                            },
                            prefetch_lines,
                            epilogue: None,
                        };
                        self.gemm.run(rows, whole, &call);
                    }
                }
            }
            let [oh, ow] = self.shape.out;
            let [mv, mh] = self.transforms.m;
            let buffer = own.add(self.transforms.factors.numbers() * layout.products_plane);
            for k in first * 2..(end * 2).min(self.k_blocks) {
                let epilogue = self.epilogue(tensors.epilogue, k);
                for strip in self.strips(block.clone(), within.clone(), self.longest()) {
                    let at = [strip.at[0] * mv, strip.at[1] * mh];
                    let outputs = Outputs {
                        products: own.add((k - first * 2) * half + (strip.first - within.start) * BLOCK),
                        plane: layout.products_plane,
                        len: strip.len,
                        m: self.transforms.m,
                        dst: tensors.dst.pixel(strip.image, k, at),
                        sum: tensors.sum.map_or(std::ptr::null(), |sum| sum.pixel(strip.image, k, at)),
                        steps: tensors.dst.steps,
                        inside: [(oh - at[0]).min(mv), (ow - at[1]).min(strip.len * mh)],
                        epilogue: &epilogue,
                        buffer,
                    };
                    (self.transforms.output)(&outputs);
                    self.apply_function(&outputs, k);
                }
            }
        }
    }

    /// Applies the function of the tiling, if there is one, to outputs of channel block `k` that were just written.
    ///
    /// # Safety
    /// The outputs must be those of a transform that has run, and no other thread may use them.
    unsafe fn apply_function(&self, outputs: &Outputs<'_>, k: usize) {
        let Some(apply) = self.function else { return };
        let ([rows, columns], channels) = (outputs.inside, BLOCK.min(self.shape.k - k * BLOCK));
        for row in 0..rows {
            // SAFETY: `inside` says that `rows` by `columns` outputs lie in the image, in blocks of channels, whose rows
            // are `steps[0]` values apart. The caller promises that no other thread uses them.
            unsafe { apply.apply_to(outputs.dst.cast::<f32>().add(row * outputs.steps[0]), columns, channels) }
        }
    }

    /// Offsets of the blocks of 16 channels that a product sums over, counted from the first plane of a factor (a value
    /// of a transformed tile): for a real factor, for the real part of a complex factor, and for the imaginary part.
    fn offsets(&self, layout: &Layout) -> [Vec<usize>; 3] {
        let of = |planes: &[usize]| {
            let all = planes.iter().flat_map(|plane| {
                (0..self.c_blocks).map(move |c| plane * layout.factors_plane + c * layout.tiles * BLOCK)
            });
            all.collect()
        };
        [of(&[0]), of(&[0, 1]), of(&[1, 2])]
    }

    /// The epilogue of a channel block.
    fn epilogue(&self, epilogue: &Epilogue<'_>, k: usize) -> ChannelEpilogue {
        let channels = BLOCK.min(self.shape.k - k * BLOCK);
        let (mut bias, mut lo, mut hi) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        if let Some(values) = epilogue.bias {
            bias[..channels].copy_from_slice(&values[k * BLOCK..][..channels]);
        }
        lo[..channels].fill(epilogue.lo);
        hi[..channels].fill(epilogue.hi);
        ChannelEpilogue { bias, lo, hi }
    }
}
