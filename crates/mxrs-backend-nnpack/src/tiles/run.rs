//! Input transform, product and output transform over blocks of tiles, by a team.

use super::image::Image;
use super::strip::{BUFFER_STRIDE, Finish, Inputs, Outputs};
use super::{BLOCK, Data, Epilogue, Schedule, Tiling, check_len};
use crate::barrier::Phases;
use crate::gemm::{PANEL, Product, row_groups};
use mxrs_sync::Team;
use mxrs_types::{Error, Result};
use std::ops::Range;

/// Values in a cache line.
const LINE: usize = 16;

/// The tensors of a run. Threads write different tiles, or different channels of the same.
struct Tensors<'a> {
    src: Image,
    weights: *const f32,
    dst: Image,
    /// Added to the outputs.
    sum: Option<Image>,
    epilogue: &'a Epilogue<'a>,
    scratch: *mut f32,
}
// SAFETY: blocks of tiles, or panels of them, are taken by one thread each (`Phases`), and so are the parts of the scratch.
unsafe impl Sync for Tensors<'_> {}

/// Where things lie in the scratch, in values.
struct Layout {
    /// Tiles of a block.
    tiles: usize,
    /// Tiles of a part of a block.
    part: usize,
    /// From one product's factors to the next.
    factors_plane: usize,
    /// From one product's results to the next.
    products_plane: usize,
    /// All factors of a block.
    factors: usize,
    /// What each thread has: results and a buffer, after its factors if it has its own.
    own: usize,
}

impl Tiling {
    fn layout(&self) -> Layout {
        let (tiles, factors) = (self.blocking.tiles, self.transforms.factors);
        let part = tiles.div_ceil(self.blocking.parts(self.panels()));
        // An additional line keeps the planes from falling on the same sets of the caches.
        let factors_plane = self.c_blocks * tiles * BLOCK + LINE;
        let products_plane = self.blocking.panels * PANEL * part + LINE;
        let own = factors.numbers() * products_plane + self.transforms.n[0] * BUFFER_STRIDE;
        Layout { tiles, part, factors_plane, products_plane, factors: factors.planes() * factors_plane, own }
    }

    /// Bytes of scratch that [`run`](Self::run) needs.
    pub fn scratch_bytes(&self) -> usize {
        let layout = self.layout();
        let shared = match self.blocking.schedule {
            Schedule::Independent => self.blocking.threads,
            Schedule::Cooperative => 1,
        };
        (shared * layout.factors + self.blocking.threads * layout.own) * size_of::<f32>()
    }

    /// Convolves: `src` and `dst` are as the [`Data`] says, `weights` what [`pack_weights`](Self::pack_weights) made. Channels of
    /// `src` beyond C must be zeros; those of `dst` beyond K will be.
    ///
    /// # Errors
    /// If the scratch is too short or the bias has another length than K.
    ///
    /// # Safety
    /// The addresses must be valid for the tensors of the shape, the sum's too; nobody else may write them or use the
    /// output meanwhile. `src` and `dst` must not overlap. Scratch is best aligned to 64 bytes.
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
            dst: dst.apart(self.dst_image),
            sum: epilogue.sum.map(|sum| dst.moved(sum.cast_mut())),
            epilogue,
            scratch: scratch.as_mut_ptr(),
        };
        // SAFETY: the caller's promise.
        unsafe {
            match self.blocking.schedule {
                Schedule::Independent => self.independent(&tensors, team),
                Schedule::Cooperative => self.cooperative(&tensors, team),
            }
        }
        Ok(())
    }

    unsafe fn independent(&self, tensors: &Tensors<'_>, team: &Team) {
        let (layout, threads) = (self.layout(), self.blocking.threads);
        let phases = Phases::new(threads, [self.n_tiles().div_ceil(layout.tiles)]);
        team.run(threads, &|thread| {
            // SAFETY: each thread has its own part of the scratch, each block is one thread's.
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

    unsafe fn cooperative(&self, tensors: &Tensors<'_>, team: &Team) {
        let (layout, threads) = (self.layout(), self.blocking.threads);
        let blocks = self.n_tiles().div_ceil(layout.tiles);
        let groups = self.panels().div_ceil(self.blocking.panels);
        let parts = layout.tiles.div_ceil(layout.part);
        // Enough items for all: channel blocks, cut further where there are few.
        let pieces = (2 * threads).div_ceil(self.c_blocks).min(layout.tiles);
        let items = |phase| if phase % 2 == 0 { self.c_blocks * pieces } else { groups * parts };
        let phases = Phases::new(threads, (0..2 * blocks).map(items));
        team.run(threads, &|thread| {
            // SAFETY: factors are written in even phases, each by one thread, and read in odd ones; the rest of the scratch is each
            // thread's own, and each part of the outputs is written by one thread.
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

    /// Transforms inputs of tiles (`within` a block).
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
        // SAFETY: all indices are those of the shape and the layout.
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

    /// Multiplies the factors of tiles (`within` a block) by a group of panels and transforms the products to outputs.
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
        // SAFETY: all indices are those of the shape and the layout.
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
                            finish: None,
                        };
                        self.gemm.run(rows, whole, &call);
                    }
                }
            }
            let [oh, ow] = self.shape.out;
            let [mv, mh] = self.transforms.m;
            let buffer = own.add(self.transforms.factors.numbers() * layout.products_plane);
            for k in first * 2..(end * 2).min(self.k_blocks) {
                let finish = self.finish(tensors.epilogue, k);
                for strip in self.strips(block.clone(), within.clone(), self.longest()) {
                    let at = [strip.at[0] * mv, strip.at[1] * mh];
                    (self.transforms.output)(&Outputs {
                        products: own.add((k - first * 2) * half + (strip.first - within.start) * BLOCK),
                        plane: layout.products_plane,
                        len: strip.len,
                        m: self.transforms.m,
                        dst: tensors.dst.pixel(strip.image, k, at),
                        sum: tensors.sum.map_or(std::ptr::null(), |sum| sum.pixel(strip.image, k, at)),
                        steps: tensors.dst.steps,
                        inside: [(oh - at[0]).min(mv), (ow - at[1]).min(strip.len * mh)],
                        finish: &finish,
                        buffer,
                    });
                }
            }
        }
    }

    /// Where the blocks of 16 steps of a product lie, from its first plane on: of a real one, and of both parts of a complex one.
    fn offsets(&self, layout: &Layout) -> [Vec<usize>; 3] {
        let of = |planes: &[usize]| {
            let all = planes.iter().flat_map(|plane| {
                (0..self.c_blocks).map(move |c| plane * layout.factors_plane + c * layout.tiles * BLOCK)
            });
            all.collect()
        };
        [of(&[0]), of(&[0, 1]), of(&[1, 2])]
    }

    /// What to bring into the cache while a group of panels is multiplied: rows of the outputs that follow and of their sum,
    /// and this group's part of the next block's inputs. Address and length in 16 lines each.
    fn lines_to_fetch(
        &self,
        tensors: &Tensors<'_>,
        block: Range<usize>,
        within: Range<usize>,
        group: usize,
        next: Option<Range<usize>>,
    ) -> Vec<(*const f32, usize)> {
        let mut lines = vec![];
        if self.data != Data::Blocks {
            // Pixels of a block do not follow one another.
            return lines;
        }
        let (h, oh) = (self.shape.size[0], self.shape.out[0]);
        let (first, end) =
            (group * self.blocking.panels * 2, ((group + 1) * self.blocking.panels * 2).min(self.k_blocks));
        for strip in self.strips(block.clone(), within.clone(), usize::MAX) {
            let at = [0, 1].map(|i| strip.at[i] * self.transforms.m[i]);
            for k in first..end {
                for y in at[0]..(at[0] + self.transforms.m[0]).min(oh) {
                    let blocks = (strip.len * self.transforms.m[1]).div_ceil(BLOCK);
                    for image in [Some(tensors.dst), tensors.sum].into_iter().flatten() {
                        lines.push((image.pixel(strip.image, k, [y, at[1]]).cast_const().cast(), blocks));
                    }
                }
            }
        }
        let groups = self.panels().div_ceil(self.blocking.panels);
        let channels = self.c_blocks * group / groups..self.c_blocks * (group + 1) / groups;
        if let Some(next) = next {
            for strip in self.strips(next.clone(), 0..next.len(), usize::MAX) {
                let at = [0, 1].map(|i| (strip.at[i] * self.transforms.m[i]).saturating_sub(self.shape.pad[i]));
                for c in channels.clone() {
                    for y in at[0]..(at[0] + self.transforms.n[0]).min(h) {
                        let from = tensors.src.pixel(strip.image, c, [y, at[1]]).cast_const().cast();
                        lines.push((from, (strip.len * self.transforms.m[1] + 2).div_ceil(BLOCK)));
                    }
                }
            }
        }
        lines
    }

    /// What is done to the outputs of a channel block.
    fn finish(&self, epilogue: &Epilogue<'_>, k: usize) -> Finish {
        let channels = BLOCK.min(self.shape.k - k * BLOCK);
        let (mut bias, mut lo, mut hi) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        if let Some(values) = epilogue.bias {
            bias[..channels].copy_from_slice(&values[k * BLOCK..][..channels]);
        }
        lo[..channels].fill(epilogue.lo);
        hi[..channels].fill(epilogue.hi);
        Finish { bias, lo, hi }
    }
}
