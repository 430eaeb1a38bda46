//! Products of all sequences at one step with a weight that is packed once: those of the states, and on the way back those
//! of the gradients of the gates.

use super::problem::Problem;
use crate::gemm::{Gemm, PANEL, Product, row_groups};
use crate::layouts::BLOCK;
use crate::matrix::{Operand, Order};
use mxrs_processor::Isa;

/// Largest number of blocks of steps of a piece of a panel. A piece takes 32 KB, which a first-level cache holds.
const PIECE: usize = 16;

/// The products of one direction.
pub struct Steps {
    gemm: Gemm,
    /// Where each block of 16 terms begins in a row of the left operand.
    offsets: Vec<usize>,
}

/// Rows of values.
#[derive(Clone, Copy)]
pub struct Rows<T> {
    /// The first row.
    pub at: T,
    /// Distance between rows.
    pub line: usize,
}

impl Steps {
    /// Products of states with the weights of all gates.
    pub fn of_states(p: &Problem, isa: Isa) -> Self {
        Self { gemm: Gemm::new(isa), offsets: (0..p.padded()).step_by(BLOCK).collect() }
    }

    /// Products of the gradients of all gates with the weights of the state.
    pub fn of_gates(p: &Problem, isa: Isa) -> Self {
        let of_gate = |gate: usize| (0..p.padded()).step_by(BLOCK).map(move |at| (gate, at));
        let offsets = (0..p.gates()).flat_map(of_gate).map(|(gate, at)| p.state_part(gate) * p.padded() + at).collect();
        Self { gemm: Gemm::new(isa), offsets }
    }

    /// Adds the products of `n` rows with a panel of `width` columns, 32 or 16, to the values at `to`.
    ///
    /// # Safety
    /// The rows at `left` must be readable in all blocks, the panel must have `width` values for each term, and the rows at
    /// `to` must have `width` values, which no other thread uses.
    pub unsafe fn add_to(&self, left: Rows<*const f32>, panel: *const f32, to: Rows<*mut f32>, n: usize, width: usize) {
        for (piece, offsets) in self.offsets.chunks(PIECE).enumerate() {
            for (row, n) in row_groups(n, self.gemm.most_rows()) {
                // SAFETY: the caller promises the rows and the panel, in which a piece has `PIECE` blocks of `width` columns.
                unsafe {
                    let product = Product {
                        a: left.at.add(row * left.line),
                        a_offsets: offsets,
                        a_row_stride: left.line,
                        b: panel.add(piece * PIECE * BLOCK * width),
                        c: to.at.add(row * to.line),
                        c_row_stride: to.line,
                        c_half_stride: BLOCK,
                        add: true,
                        prefetch: std::ptr::null(),
                        prefetch_lines: (std::ptr::null(), 0),
                        epilogue: None,
                    };
                    self.gemm.run(n, width == PANEL, &product);
                }
            }
        }
    }
}

/// Where the packed weights of a unit begin, of the gate `gate`.
pub fn packed_at(p: &Problem, unit: usize, gate: usize) -> usize {
    let (first, width, _) = p.unit(unit);
    (first * p.gates() + gate * width) * p.padded()
}

/// Packs the weight of the state, `[gates * hidden][hidden]`, for the products of states: a panel per gate of a unit. Its
/// columns are the hidden units of the unit, and its terms are those of the state.
///
/// # Safety
/// `weight` must be the weight of the state, and `to` the memory of the packed weight, of which no other thread uses this
/// unit.
pub unsafe fn pack_for_states(p: &Problem, weight: *const f32, to: *mut f32, unit: usize) {
    let (first, width, n) = p.unit(unit);
    for gate in 0..p.gates() {
        // SAFETY: rows `first..first + n` and `hidden` steps of the gate's weight exist. The panel of this gate has
        // `padded * width` values.
        unsafe {
            let at = weight.add(gate * p.hidden * p.hidden);
            let rows = Operand { at, order: Order::StepsInside, stride: p.hidden };
            let to = to.add(packed_at(p, unit, gate));
            rows.copy_panel(first..first + n, 0..p.hidden, to, [p.padded(), width]);
        }
    }
}

/// Packs the weight of the state for the products of the gradients of gates: one panel per unit. Its columns are elements of
/// the state, and its terms are the hidden units of all gates.
///
/// # Safety
/// As for [`pack_for_states`].
pub unsafe fn pack_for_gates(p: &Problem, weight: *const f32, to: *mut f32, unit: usize) {
    let (first, width, n) = p.unit(unit);
    for gate in 0..p.gates() {
        // SAFETY: `hidden` rows and columns `first..first + n` of the gate's weight exist. The part of the panel with the
        // terms of this gate has `padded * width` values.
        unsafe {
            let at = weight.add(gate * p.hidden * p.hidden);
            let rows = Operand { at, order: Order::StepsOutside, stride: p.hidden };
            let to = to.add(packed_at(p, unit, gate));
            rows.copy_panel(first..first + n, 0..p.hidden, to, [p.padded(), width]);
        }
    }
}
