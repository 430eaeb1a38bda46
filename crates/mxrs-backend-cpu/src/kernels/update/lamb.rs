//! Steps of LAMB on several weights: `_multi_lamb_update` and `_multi_mp_lamb_update`.
//!
//! The length of a step depends on the norms of the whole weight and of the whole direction. So the weights are read twice:
//! for the directions, which are kept in scratch memory, with the sums of squares, and for the steps. The sums of squares
//! are added up over units of fixed size, so that their bits do not depend on the number of threads.

use super::PIECE;
use super::groups::Group;
use super::io::{Io, Types};
use super::rule::{Kind, Rate, Rule};
use super::step::Step;
use crate::kernels::rows::{LANES, Lanes, Sum, SumOfSquares, fold_into, join_lanes};
use crate::level::Level;
use crate::plan::{Planned, row_major};
use crate::split::Tensors;
use crate::tensors::Scratch;
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::optim::lamb::trust;
use mxrs_ops::optim::multi_lamb::MultiLambParams;
use mxrs_types::Result;
use std::ops::Range;

/// Number of elements of a unit, a multiple of [`PIECE`].
const UNIT: usize = 8 * PIECE;
/// Number of states of a weight.
const N_STATES: usize = 2;

/// Sum of squares of a unit of the weight, and of the direction.
type Squares = [f64; 2];

/// Plans the call.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    let types = Types::of(call)?;
    let params = call.params.get::<MultiLambParams>();
    let n = params.learning_rates.0.len();
    let groups = Group::all(n, (call.inputs.len(), call.outputs.len()), N_STATES)?;
    let sizes: Vec<usize> = call.outputs[..n].iter().map(|desc| desc.shape.n_elements()).collect();
    let weights = Tensors::new(sizes, UNIT);
    let rules = (0..n).map(|which| Rule::lamb(&params.phase1(which))).collect();
    let limits = [params.lower_bound, params.upper_bound];
    let lrs = params.learning_rates.0.to_vec();
    let lamb = MultiLamb { rules, lrs, limits, groups, types, weights, level };
    Ok(row_major(call, lamb.scratch_bytes(), move |args| lamb.run(args)))
}

struct MultiLamb {
    rules: Vec<(Rule, Rate)>,
    lrs: Vec<f32>,
    limits: [f32; 2],
    groups: Vec<Group>,
    types: Types,
    weights: Tensors,
    level: Level,
}

impl MultiLamb {
    fn squares_bytes(&self) -> usize {
        (self.weights.n_units() * size_of::<Squares>()).next_multiple_of(64)
    }

    fn scratch_bytes(&self) -> usize {
        self.squares_bytes() + self.weights.n_units() * UNIT * size_of::<f32>()
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let io = self.types.io(args, self.level)?;
        let n_units = self.weights.n_units();
        let squares = Scratch::<Squares>::of(args, 0, n_units);
        let directions = Scratch::<f32>::of(args, self.squares_bytes(), n_units * UNIT);
        self.weights.in_units(args.team, &|which, unit, at| {
            // SAFETY: each unit belongs to one thread, and has its own part of the scratch memory and of the tensors.
            unsafe {
                let direction = directions.slice(unit * UNIT..unit * UNIT + at.len());
                squares.slice(unit..unit + 1)[0] = self.direct(&io, which, at, direction);
            }
        });
        let steps: Vec<Rate> = (0..self.weights.len()).map(|which| self.step(which, squares)).collect();
        let along = Rule { kind: Kind::Along, rescale_grad: 1.0, bound: f32::INFINITY };
        self.weights.in_units(args.team, &|which, unit, at| {
            // SAFETY: the directions have been written. The unit of the weight belongs to this thread.
            unsafe {
                let direction = directions.written().slice(unit * UNIT..unit * UNIT + at.len());
                self.groups[which].step_along(&io, at, direction, (along, steps[which]), self.level);
            }
        });
        Ok(())
    }

    /// Computes a unit of the direction, updates the states, and returns the sums of squares.
    ///
    /// # Safety
    /// No other thread may use these elements of the tensors of the weight.
    unsafe fn direct(&self, io: &Io<'_>, which: usize, at: Range<usize>, direction: &mut [f32]) -> Squares {
        let (group, (rule, rate)) = (&self.groups[which], self.rules[which]);
        let mut buffers = [[0.0f32; PIECE]; 4];
        let mut lanes: [Lanes<f64>; 2] = [[0.0; LANES]; 2];
        for (start, direction) in at.clone().step_by(PIECE).zip(direction.chunks_mut(PIECE)) {
            let piece = start..at.end.min(start + PIECE);
            let [grad, states @ ..] = &mut buffers;
            // SAFETY: the caller gives this thread these elements; `direction` is not a tensor.
            let (grad, mut states) = unsafe {
                io.load(group.value, piece.clone(), direction);
                let grad = io.read(group.grad, piece.clone(), grad);
                (grad, group.open_states(io, N_STATES, piece.clone(), states))
            };
            fold_into::<f32, SumOfSquares>(self.level, &mut lanes[0], direction);
            let opened = states.each_mut().map(|state| &mut **state);
            self.level.run(Step { rule, rate, weight: &mut *direction, grad, states: opened });
            fold_into::<f32, SumOfSquares>(self.level, &mut lanes[1], direction);
            // SAFETY: the caller gives this thread these elements of the states.
            unsafe { group.store_states(io, piece, states.each_ref().map(|state| &**state), N_STATES) };
        }
        lanes.map(join_lanes::<f32, Sum>)
    }

    /// The learning rate of a weight times the ratio of its norms.
    fn step(&self, which: usize, squares: Scratch<'_, Squares>) -> Rate {
        // SAFETY: the sums of squares have been written.
        let squares = unsafe { squares.written().slice(self.weights.units(which)) };
        let norm = |of: usize| squares.iter().map(|unit| unit[of]).sum::<f64>().sqrt();
        let ratio = trust(self.limits, norm(0), norm(1));
        Rate::new((f64::from(self.lrs[which]) * ratio) as f32, 0.0)
    }
}
