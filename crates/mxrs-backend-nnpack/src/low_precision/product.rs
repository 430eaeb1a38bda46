//! A convolution or fully-connected layer that is ready to run: rows in place or in strips, times panels, on a team.

use super::block::{Block, PANEL, ROWS, SQUARE, STEP, Session, Sums, TILE};
use super::finish::{Output, Rule, Store, Stored};
use super::geometry::{Geometry, Source, Target, Tile};
use super::level::Level;
use super::loops::drain;
use super::unit::{Factors, Unit};
use crate::barrier::Phases;
use crate::convolve::part;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::DType;
use smallvec::SmallVec;

/// A prepared product.
pub struct Product {
    geometry: Geometry,
    factors: Factors,
    unit: Unit,
    store: Store,
    /// Bytes of a number of the output.
    number_bytes: usize,
    threads: usize,
}

/// The memory of one run. Pointers are aligned to 64 bytes.
pub struct Memory<'a> {
    /// Data, with channels last, or row-major if the source is planes.
    pub data: *const u8,
    /// Packed weights.
    pub weights: *const u8,
    /// The output with its epilogue.
    pub output: &'a Output,
    /// Scratch memory of [`Compute::scratch_bytes`].
    pub scratch: *mut u8,
}

// SAFETY: sharing copies addresses only. The memory behind them is accessed in `Compute::run`, whose contract excludes
// conflicting accesses.
unsafe impl Sync for Memory<'_> {}

/// A computation of sums that are stored by a rule.
pub trait Compute: Send + Sync {
    /// Scratch memory of a run in bytes.
    fn scratch_bytes(&self) -> usize;

    /// Computes the output.
    ///
    /// # Safety
    /// The memory must have the sizes and layouts of the problem. Nothing else may use the output, and nothing may write the
    /// other tensors. Only the tensor that is added may be the output.
    unsafe fn run(&self, memory: &Memory<'_>, team: &Team);
}

impl Product {
    /// Prepares a product. Returns `None` if the rule has no function for its types.
    pub fn new(geometry: Geometry, factors: Factors, rule: Rule, isa: Isa, threads: usize) -> Option<Self> {
        Self::with_unit(geometry, factors, rule, Unit::of(factors, isa), isa, threads)
    }

    /// Prepares a product on these instructions.
    pub fn with_unit(
        geometry: Geometry,
        factors: Factors,
        rule: Rule,
        unit: Unit,
        isa: Isa,
        threads: usize,
    ) -> Option<Self> {
        let store = rule.store(Level::of(isa))?;
        let number_bytes = match rule {
            Rule::Bf16 => 2,
            Rule::Bytes(_, DType::F32) | Rule::Sums => 4,
            Rule::Bytes(..) => 1,
        };
        Some(Self { geometry, factors, unit, store, number_bytes, threads: threads.max(1) })
    }

    /// The name of the instructions, for traces.
    pub fn unit_name(&self) -> &'static str {
        self.unit.name()
    }
}

impl Compute for Product {
    fn scratch_bytes(&self) -> usize {
        self.threads * self.geometry.strip_bytes()
    }

    unsafe fn run(&self, memory: &Memory<'_>, team: &Team) {
        let g = &self.geometry;
        let panels = g.problem.k.div_ceil(PANEL);
        let items = g.pieces() * g.problem.groups * g.panel_groups;
        let threads = self.threads.min(items);
        // A thread that has finished its items takes items that other threads have not started.
        let phases = Phases::new(threads, [items]);
        team.run(threads, &|thread| {
            let mut worker = Worker {
                product: self,
                memory,
                session: Session::new(self.unit),
                sums: [bytemuck::Zeroable::zeroed(); 2],
                strip: memory.scratch.wrapping_add(thread * g.strip_bytes()),
                copied: None,
                group: 0,
            };
            phases.work(0, thread, |item| {
                let (piece, panel_group) = (item / g.panel_groups, item % g.panel_groups);
                worker.group = piece % g.problem.groups;
                let piece = piece / g.problem.groups;
                // SAFETY: different items are different pixels or different channels of the output. Each thread has its own
                // strip. The caller promises the tensors.
                unsafe { worker.run(piece, part(panels, g.panel_groups, panel_group)) }
            });
        });
    }
}

/// One thread of a run.
struct Worker<'a> {
    product: &'a Product,
    memory: &'a Memory<'a>,
    session: Session,
    /// The sums of the last two blocks.
    sums: [Sums; 2],
    strip: *mut u8,
    /// The piece and the group whose strip was copied last.
    copied: Option<(usize, usize)>,
    /// The group of channels that is computed.
    group: usize,
}

impl Worker<'_> {
    /// Computes a piece for these panels.
    ///
    /// # Safety
    /// The conditions of [`Compute::run`] must hold; no other thread may use the strip or this part of the output.
    unsafe fn run(&mut self, index: usize, panels: std::ops::Range<usize>) {
        let g = &self.product.geometry;
        let piece = g.piece(index);
        // SAFETY: the caller promises the data and the strip.
        let rows = unsafe {
            if g.source == Source::InPlace {
                g.in_place(self.memory.data, &piece)
            } else {
                if self.copied != Some((index, self.group)) {
                    g.copy(self.memory.data, &piece, self.group, self.strip);
                    self.copied = Some((index, self.group));
                }
                self.strip.cast_const()
            }
        };
        let tiles = g.tiles(&piece);
        let targets: SmallVec<[SmallVec<[Target; 4]>; 32]> = tiles.iter().map(|tile| g.targets(&piece, tile)).collect();
        // The sums of a block are stored while the next block is multiplied.
        let mut waiting: Option<(usize, usize)> = None;
        let mut which = 0;
        // Either all rows are multiplied by one panel at a time, or a few rows at a time are multiplied by all panels.
        let pairs = tiles.len().div_ceil(2);
        for i in 0..pairs * panels.len() {
            let (pair, panel) =
                if g.is_by_rows { (i / panels.len(), i % panels.len()) } else { (i % pairs, i / pairs) };
            let (first, panel) = (2 * pair, panels.start + panel);
            self.fetch(&targets[first..(first + 2).min(targets.len())], panel);
            // SAFETY: `rows` is the start of the piece, and the tiles and targets are those of the piece.
            unsafe {
                self.multiply(rows, &tiles[first..(first + 2).min(tiles.len())], panel, which);
                if let Some((first, panel)) = waiting.replace((first, panel)) {
                    self.store(&targets[first..(first + 2).min(targets.len())], panel, 1 - which);
                }
            }
            which = 1 - which;
        }
        if let Some((first, panel)) = waiting {
            // SAFETY: the targets are those of the piece, whose outputs only this thread writes.
            unsafe { self.store(&targets[first..(first + 2).min(targets.len())], panel, 1 - which) }
        }
        drain(self.memory.output.past_caches);
    }

    /// Fetches the lines of the output that these tiles will be stored to.
    #[inline]
    fn fetch(&self, tiles: &[SmallVec<[Target; 4]>], panel: usize) {
        if self.memory.output.past_caches {
            return;
        }
        #[cfg(target_arch = "x86_64")]
        for target in tiles.iter().flatten() {
            use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            let (k, bytes) = (self.memory.output.channels, self.product.number_bytes);
            let row_step = self.memory.output.row_step;
            let channel = self.group * self.product.geometry.problem.k + panel * PANEL;
            let first = self.memory.output.dst.wrapping_add((target.pixel * k + channel) * bytes);
            for row in 0..target.len {
                // SAFETY: prefetching reads nothing.
                unsafe { _mm_prefetch::<_MM_HINT_ET0>(first.wrapping_add(row * row_step * bytes).cast()) }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (tiles, panel);
    }

    /// Multiplies up to two tiles by one panel.
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold, and `rows` must be the start of the piece that the tiles belong to.
    #[inline]
    unsafe fn multiply(&mut self, rows: *const u8, tiles: &[Tile], panel: usize, which: usize) {
        let Product { geometry: g, factors, .. } = self.product;
        let k = g.problem.k;
        let steps = g.offsets.len();
        let squares = (k - panel * PANEL).div_ceil(SQUARE).min(PANEL / SQUARE);
        let all = k.next_multiple_of(SQUARE) * steps * STEP;
        let second = tiles.get(1).unwrap_or(&tiles[0]);
        // SAFETY: `panel` is a panel of the weights of this group. Behind the panels of all groups, their corrections follow.
        // The tiles lie in the piece.
        unsafe {
            let weights = self.memory.weights.add(self.group * all);
            let corrections = self.memory.weights.add(g.problem.groups * all).cast::<i32>();
            let block = Block {
                rows: [rows.add(tiles[0].at), rows.add(second.at)],
                n_rows: [tiles[0].len, tiles.get(1).map_or(0, |tile| tile.len)],
                row_bytes: g.row_bytes,
                offsets: &g.offsets,
                panel: weights.add(panel * PANEL * steps * STEP),
                squares,
                corrections: corrections.wrapping_add(self.group * k.next_multiple_of(SQUARE) + panel * PANEL),
            };
            self.session.run(*factors, &block, &mut self.sums[which]);
        }
    }

    /// Stores the sums of up to two tiles.
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold, and the targets must be those of the tiles.
    #[inline]
    unsafe fn store(&self, tiles: &[SmallVec<[Target; 4]>], panel: usize, which: usize) {
        let k = self.product.geometry.problem.k;
        for (i, targets) in tiles.iter().enumerate() {
            for target in targets {
                let stored = Stored {
                    output: self.memory.output,
                    sums: self.sums[which].0[(i * TILE + target.row).min(ROWS - 1)].as_ptr(),
                    rows: target.len,
                    channel: self.group * k + panel * PANEL,
                    width: (k - panel * PANEL).min(PANEL),
                    pixel: target.pixel,
                };
                // SAFETY: the targets are pixels of the piece, whose channels of this panel only this thread writes.
                unsafe { (self.product.store)(&stored) }
            }
        }
    }
}
