//! The product: threads share the result, and each takes its steps in pieces.

use super::pack::Operand;
use super::transpose::transpose;
use super::{COLUMNS_AT_ONCE, FEW_COLUMNS, MatrixProblem, Order};
use crate::convolve::{Convolve, Operands};
use crate::gemm::{Gemm, MAX_ROWS, PANEL, Product, ProductEpilogue};
use crate::gradients::shares::Shares;
use crate::layouts::BLOCK;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of steps of a piece. A panel with this many steps takes 32 KB, which a first-level cache holds.
const STEPS: usize = 256;
/// Number of groups of rows of the left operand that are packed at a time. A group has the rows of one product, at most
/// [`MAX_ROWS`]. With the steps of a piece they take at most 170 KB, which a second-level cache holds.
const GROUPS_OF_ROWS: usize = 12;
/// Rows of the left operand whose distance in bytes is a multiple of this are packed even for few columns, because their cache
/// lines would compete for the same sets of the first-level cache.
const COMPETING: usize = 2048;
/// Largest number of sums that a thread keeps outside the result: a megabyte.
const KEPT: usize = 1 << 18;
/// Multiply-adds per thread below which waking another thread costs more than it saves.
const SMALL: f64 = 32768.0;

/// A prepared product. The operand `src` is the left one and `weights` the right one; the bias has a value per column
/// of the problem that the product was made of.
pub struct MatrixProduct {
    p: MatrixProblem,
    /// Whether the operands are swapped, so that the result is stored by columns: `[columns][rows]`.
    is_swapped: bool,
    gemm: Gemm,
    shares: Shares,
    /// Number of panels that are packed at a time.
    group: usize,
    /// Number of steps of a piece, a multiple of a block.
    piece: usize,
    strides: Strides,
}

/// Distances in values between neighboring rows, or between neighboring steps of an operand in the order
/// [`Order::StepsOutside`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// Of the left operand.
    pub left: usize,
    /// Of the right operand.
    pub right: usize,
    /// Of the result.
    pub result: usize,
}

impl Strides {
    /// The distances in matrices without gaps.
    pub fn dense(p: &MatrixProblem) -> Self {
        let of = |order, rows| if order == Order::StepsInside { p.steps } else { rows };
        Self { left: of(p.left, p.rows), right: of(p.right, p.columns), result: p.columns }
    }
}

/// One thread's memory.
#[derive(Clone, Copy)]
struct Workspace {
    /// Packed panels of the right operand.
    panels: *mut f32,
    /// Packed rows of the left operand.
    rows: *mut f32,
    /// Sums that are not computed in the result's memory.
    kept: *mut f32,
}

/// The result and what is added to it.
#[derive(Clone, Copy)]
struct Target {
    result: *mut f32,
    bias: *const f32,
}

impl MatrixProduct {
    /// Prepares the product of matrices without gaps for at most `threads` threads.
    pub fn new(problem: MatrixProblem, isa: Isa, threads: usize) -> Self {
        Self::with_strides(problem, Strides::dense(&problem), isa, threads)
    }

    /// Prepares the product of matrices whose rows or steps have these distances.
    pub fn with_strides(problem: MatrixProblem, strides: Strides, isa: Isa, threads: usize) -> Self {
        let (p, is_swapped) = problem.fastest();
        let gemm = Gemm::new(isa);
        let sizes = [p.rows.div_ceil(gemm.most_rows()), p.columns.div_ceil(PANEL)];
        let threads = ((p.multiply_adds() / SMALL) as usize).clamp(1, threads.max(1));
        let shares = Shares::new(sizes, threads);
        let pieces = p.steps.div_ceil(STEPS).max(1);
        let piece = p.steps.div_ceil(pieces).next_multiple_of(BLOCK).max(BLOCK);
        let Strides { left, right, result } = strides;
        let strides = if is_swapped { Strides { left: right, right: left, result } } else { strides };
        let mut product = Self { p, is_swapped, gemm, shares, group: COLUMNS_AT_ONCE / PANEL, piece, strides };
        if is_swapped {
            product.group = (KEPT / (product.most_rows_of_a_share() * PANEL)).clamp(1, product.group);
        }
        product
    }

    fn most_rows_of_a_share(&self) -> usize {
        (0..self.shares.threads()).map(|i| self.rows(self.shares.share(i)[0].clone()).len()).max().unwrap_or(0)
    }

    /// The rows of these groups of rows.
    fn rows(&self, groups: Range<usize>) -> Range<usize> {
        let each = self.gemm.most_rows();
        (groups.start * each).min(self.p.rows)..(groups.end * each).min(self.p.rows)
    }

    /// First column and width of a panel, and how many of its columns exist.
    fn panel(&self, i: usize) -> (usize, usize, usize) {
        let first = i * PANEL;
        let n = (self.p.columns - first).min(PANEL);
        (first, if n > BLOCK { PANEL } else { BLOCK }, n)
    }

    /// Whether the sums of a panel are computed in the result's memory.
    fn is_direct(&self, panel: usize) -> bool {
        let (_, width, n) = self.panel(panel);
        !self.is_swapped && n == width
    }

    /// Number of values of the three parts of a thread's memory.
    fn workspace(&self) -> [usize; 3] {
        let kept_panels = if self.is_swapped { self.group } else { 1 };
        [
            self.group * self.piece * PANEL,
            GROUPS_OF_ROWS * MAX_ROWS * self.piece,
            (self.most_rows_of_a_share() * kept_panels * PANEL).next_multiple_of(BLOCK),
        ]
    }

    /// Computes a share of the result.
    ///
    /// # Safety
    /// The operands must be those of the problem, `work` the memory of this thread, and no other thread may use these
    /// rows of these panels of the result.
    unsafe fn share(&self, [left, right]: [Operand; 2], to: Target, work: Workspace, share: [Range<usize>; 2]) {
        let rows = self.rows(share[0].clone());
        for first in share[1].clone().step_by(self.group) {
            let panels = first..(first + self.group).min(share[1].end);
            for start in (0..self.p.steps).step_by(self.piece) {
                let steps = start..(start + self.piece).min(self.p.steps);
                let padded = steps.len().next_multiple_of(BLOCK);
                for (at, panel) in panels.clone().enumerate() {
                    let (first, width, n) = self.panel(panel);
                    // SAFETY: the panel and the steps exist; the memory has room for `group` panels of `piece` steps.
                    unsafe {
                        let to = work.panels.add(at * self.piece * PANEL);
                        right.copy_panel(first..first + n, steps.clone(), to, [padded, width]);
                    }
                }
                // SAFETY: the panels are packed, and the other conditions are those of this function.
                unsafe { self.piece(left, to, work, (rows.clone(), panels.clone(), steps)) }
            }
            for (at, panel) in panels.clone().enumerate().filter(|(_, panel)| !self.is_direct(*panel)) {
                // SAFETY: the sums of the panel are complete. The rows and the panel are of this share.
                unsafe { self.write(work.kept.add(at * self.kept_stride(rows.len())), to, rows.clone(), panel) }
            }
        }
    }

    /// Distance between the kept sums of two panels: 0 if only the last panel is kept.
    fn kept_stride(&self, n_rows: usize) -> usize {
        if self.is_swapped { n_rows * PANEL } else { 0 }
    }

    /// Adds the products of some steps to the sums of some rows and panels.
    ///
    /// # Safety
    /// The conditions of [`Self::share`] must hold, and the panels must be packed for these steps.
    unsafe fn piece(
        &self,
        left: Operand,
        to: Target,
        work: Workspace,
        (rows, panels, steps): (Range<usize>, Range<usize>, Range<usize>),
    ) {
        let padded = steps.len().next_multiple_of(BLOCK);
        let (is_first, is_last) = (steps.start == 0, steps.end == self.p.steps);
        let each = self.gemm.most_rows();
        let competes = (left.stride * size_of::<f32>()).is_multiple_of(COMPETING);
        let in_place = left.order == Order::StepsInside
            && padded == steps.len()
            && panels.len() * PANEL <= FEW_COLUMNS
            && !competes;
        let block_stride = if in_place { BLOCK } else { each * BLOCK };
        let offsets: Vec<usize> = (0..padded / BLOCK).map(|block| block * block_stride).collect();
        for first_row in rows.clone().step_by(each * GROUPS_OF_ROWS) {
            let groups = (first_row..(first_row + each * GROUPS_OF_ROWS).min(rows.end)).step_by(each).enumerate();
            let n_rows = |row: usize| each.min(rows.end - row);
            if !in_place {
                for (group, row) in groups.clone() {
                    // SAFETY: the rows and steps exist; the memory has room for this many groups of `piece` steps.
                    unsafe {
                        let to = work.rows.add(group * each * self.piece);
                        left.copy_rows(row..row + n_rows(row), steps.clone(), to, block_stride);
                    }
                }
            }
            let a = |group: usize, row: usize| match in_place {
                true => (left.at.wrapping_add(row * left.stride + steps.start), left.stride),
                false => (work.rows.wrapping_add(group * each * self.piece).cast_const(), BLOCK),
            };
            let pairs = panels.clone().enumerate().flat_map(|panel| groups.clone().map(move |group| (panel, group)));
            for ((at, panel), (group, row)) in pairs {
                let (a, a_row_stride) = a(group, row);
                let (first, width, _) = self.panel(panel);
                let is_direct = self.is_direct(panel);
                // SAFETY: the panel is packed at `at`. A direct panel is whole, so its columns lie in the result and in
                // the bias; other sums lie in the kept ones, which have room for the rows of this share.
                unsafe {
                    let (c, c_row_stride) = if is_direct {
                        (to.result.add(row * self.strides.result + first), self.strides.result)
                    } else {
                        (work.kept.add(at * self.kept_stride(rows.len()) + (row - rows.start) * PANEL), PANEL)
                    };
                    let adds_bias = is_direct && is_last && !to.bias.is_null();
                    let bias = to.bias.wrapping_add(first);
                    let sum = std::ptr::null();
                    let epilogue = ProductEpilogue { bias, sum, lo: f32::NEG_INFINITY, hi: f32::INFINITY };
                    self.gemm.run(
                        n_rows(row),
                        width == PANEL,
                        &Product {
                            a,
                            a_offsets: &offsets,
                            a_row_stride,
                            b: work.panels.add(at * self.piece * PANEL),
                            c,
                            c_row_stride,
                            c_half_stride: BLOCK,
                            add: !is_first,
                            prefetch: std::ptr::null(),
                            prefetch_lines: (std::ptr::null(), 0),
                            epilogue: adds_bias.then_some(&epilogue),
                        },
                    );
                }
            }
        }
    }

    /// Writes the kept sums of a panel to the result, with the bias.
    ///
    /// # Safety
    /// The conditions of [`Self::share`] must hold, and `from` must be the sums of these rows and this panel.
    unsafe fn write(&self, from: *const f32, to: Target, rows: Range<usize>, panel: usize) {
        let (first, _, n) = self.panel(panel);
        let bias = |given: usize| to.bias.wrapping_add(given);
        // SAFETY: rows and columns lie in the result, and the bias has a value for each column of the problem as it was
        // given, if there is a bias. If the operands are swapped, these columns are rows of `self.p`. The sums have a line
        // of `PANEL` values for each row.
        unsafe {
            if self.is_swapped {
                let target = to.result.add(first * self.strides.result + rows.start);
                transpose(from, PANEL, target, self.strides.result, [rows.len(), n]);
                for line in (0..n).filter(|_| !to.bias.is_null()).map(|i| target.add(i * self.strides.result)) {
                    (0..rows.len()).for_each(|i| *line.add(i) += *bias(rows.start + i));
                }
                return;
            }
            for (i, row) in rows.enumerate() {
                let (from, target) = (from.add(i * PANEL), to.result.add(row * self.strides.result + first));
                for column in 0..n {
                    let bias = if to.bias.is_null() { 0.0 } else { *bias(first + column) };
                    *target.add(column) = *from.add(column) + bias;
                }
            }
        }
    }
}

impl Convolve for MatrixProduct {
    fn scratch_bytes(&self) -> usize {
        self.shares.threads() * self.workspace().iter().sum::<usize>() * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        // SAFETY: the contract of this function includes that of `run_on`.
        unsafe { self.run_on(o, team) };
        Ok(())
    }
}

impl MatrixProduct {
    /// Computes the product on a team.
    ///
    /// # Safety
    /// The contract of [`Convolve::run`], but operands and result need not be aligned.
    pub unsafe fn run_on(&self, o: &Operands, team: &Team) {
        // SAFETY: `Shares` gives each thread other rows or other panels; the caller promises the operands.
        team.run(self.shares.threads(), &|i| unsafe { self.part(o, i) });
    }

    /// Computes the product on this thread.
    ///
    /// # Safety
    /// As for [`Self::run_on`].
    pub unsafe fn run_alone(&self, o: &Operands) {
        // SAFETY: the contract of this function is that of `run_on`, and this thread computes one share after the other.
        (0..self.shares.threads()).for_each(|i| unsafe { self.part(o, i) });
    }

    /// Computes the share of thread `i`.
    ///
    /// # Safety
    /// The operands are those of [`Self::run_on`], and no other code computes this share.
    unsafe fn part(&self, o: &Operands, i: usize) {
        let p = &self.p;
        let (left, right) = if self.is_swapped { (o.weights, o.src) } else { (o.src, o.weights) };
        let left = Operand { at: left, order: p.left, stride: self.strides.left };
        let right = Operand { at: right, order: p.right, stride: self.strides.right };
        let [panels, rows, _] = self.workspace();
        let each: usize = self.workspace().iter().sum();
        // SAFETY: the scratch memory has `each` values for every thread. The caller promises the operands.
        unsafe {
            let memory = o.scratch.add(i * each);
            let work = Workspace { panels: memory, rows: memory.add(panels), kept: memory.add(panels + rows) };
            let to = Target { result: o.dst, bias: o.bias };
            self.share([left, right], to, work, self.shares.share(i));
        }
    }
}
