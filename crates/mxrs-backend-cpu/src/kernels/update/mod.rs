//! Updates of weights in one pass, for the optimizers in [`rule`], also for several weights and with master weights.
//!
//! Tensors of `f32` that are updated in place are read and written where they are. All others are copied, piece by piece,
//! into the L1 cache, updated there in `f32`, and written. The elements of all weights of a call are shared evenly among the
//! threads of the team, so that many small weights cost one parallel loop.

mod groups;
mod io;
mod lamb;
mod lars;
mod noise;
mod norms;
mod rows;
mod rule;
mod step;
mod two_bit;

use crate::level::Level;
use crate::plan::{Planned, row_major};
use crate::split::Tensors;
use groups::Group;
use io::{Io, Types};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::optim::lamb::trust;
use mxrs_types::Result;
use rule::{Rate, Rates, Rule};

/// Largest number of states of a weight.
const MOST_STATES: usize = 3;
/// Number of elements that are copied at a time.
const PIECE: usize = 512;
/// A thread's part of a weight begins at a multiple of this many elements, so that threads do not share cache lines.
const LINE: usize = 64;

/// Plans an update of weights, in `f32` or with 16-bit floats.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    match call.op.name {
        "_multi_lamb_update" | "_multi_mp_lamb_update" => return Some(lamb::plan(call, level)),
        "multi_lars" => return Some(lars::plan(call)),
        "multi_sum_sq" | "all_finite" | "multi_all_finite" => return Some(norms::plan(call, level)),
        "_sgld_update" => return Some(noise::plan(call, level)),
        "_contrib_group_adagrad_update" => return Some(rows::plan(call, level)),
        "_two_bit_compression" => return Some(two_bit::plan(call, level)),
        _ => {}
    }
    let (rule, rates) = Rule::of(call)?;
    Some(plan_rule(call, level, rule, rates))
}

fn plan_rule(call: &OpCall<'_>, level: Level, rule: Rule, rates: Rates) -> Planned {
    let types = Types::of(call)?;
    let (n, n_inputs, n_outputs) = (rates.n_weights(), call.inputs.len(), call.outputs.len());
    let groups = match (&rates, n_inputs) {
        // The master weight comes after the norms.
        (Rates::Trusted(..), 5) => {
            vec![Group { value: 4, grad: 1, states: 0, new_weight: 0, new_states: 0, new_master: Some(1) }]
        }
        _ => Group::all(n, (n_inputs.saturating_sub(rates.n_inputs()), n_outputs), rule.n_states())?,
    };
    let sizes = call.outputs[..n].iter().map(|desc| desc.shape.n_elements()).collect();
    let update = Update { rule, rates, groups, types, weights: Tensors::new(sizes, LINE), level };
    Ok(row_major(call, 0, move |args| update.run(args)))
}

struct Update {
    rule: Rule,
    rates: Rates,
    groups: Vec<Group>,
    types: Types,
    weights: Tensors,
    level: Level,
}

impl Update {
    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let io = self.types.io(args, self.level)?;
        let (rule, rates) = self.rule_and_rates(&io);
        let n_states = self.rule.n_states();
        self.weights.in_ranges(args.team, &|which, at| {
            // SAFETY: `in_ranges` gives these elements of this weight, its gradient and its states to this thread alone.
            unsafe { self.groups[which].update(&io, at, (rule, n_states, rates[which]), self.level) };
        });
        Ok(())
    }

    /// The rule of this run, or none if all values stay as they are, and the rates of each weight.
    fn rule_and_rates(&self, io: &Io<'_>) -> (Option<Rule>, Vec<Rate>) {
        let n_inputs = io.args.inputs.len();
        // SAFETY: inputs that belong to no weight are not among the rewritten inputs, so nothing writes them during the
        // call.
        let shared = |input: usize, index: usize| unsafe { io.one(input, index) };
        match &self.rates {
            Rates::Known(all) => (Some(self.rule), all.clone()),
            Rates::WithScale(all) => {
                let rescale_grad = shared(n_inputs - 1, 0);
                let is_usable = rescale_grad.is_finite() && rescale_grad != 0.0;
                (is_usable.then_some(Rule { rescale_grad, ..self.rule }), all.clone())
            }
            Rates::Inputs(n) => {
                let rate = |which| Rate::new(shared(n_inputs - 2, which), shared(n_inputs - 1, which));
                (Some(self.rule), (0..*n).map(rate).collect())
            }
            Rates::Trusted(rate, limits) => {
                let ratio = trust(*limits, f64::from(shared(2, 0)), f64::from(shared(3, 0)));
                (Some(self.rule), vec![Rate { lr: (f64::from(rate.lr) * ratio) as f32, ..*rate }])
            }
        }
    }
}
