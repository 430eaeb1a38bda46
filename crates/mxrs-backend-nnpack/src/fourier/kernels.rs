//! Selects the two-dimensional transforms by size and instruction set.

use super::Tile;
use super::input::transform as transform_input;
use super::output::transform as transform_output;
use crate::dispatch::for_each_set;
use crate::tiles::Transforms;
use crate::tiles::strip::{Inputs, Outputs};
use mxrs_processor::Isa;

type Input = unsafe fn(&Inputs);
type Output = unsafe fn(&Outputs<'_>);

/// Returns the transforms of a tile, for a window that it supports.
pub(super) fn transforms(tile: Tile, kernel: [usize; 2], isa: Isa) -> Transforms {
    let (input, output): (Input, Output) = match tile {
        Tile::Eight => (input_of::<8>(isa), output_of::<8>(isa)),
        Tile::Sixteen => (input_of::<16>(isa), output_of::<16>(isa)),
    };
    Transforms { input, output, m: tile.outputs(kernel), n: [tile.size(); 2], factors: tile.factors() }
}

for_each_set! {
    fn input_of[const N: usize] [N]: unsafe fn(tiles: &Inputs) = transform_input
}

for_each_set! {
    fn output_of[const N: usize] [N]: unsafe fn(tiles: &Outputs<'_>) = transform_output
}
