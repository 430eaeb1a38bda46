//! Updates of weights in one pass, for the optimizers in [`rule`], also for several weights and with master weights. A piece of weight, gradient and states is read into the L1 cache, updated there in `f32`, and
//! written.
//!
//! If there are several weights, each is split over the team as in a call for one weight. So the results have the same bits
//! as separate calls for each weight.

mod rule;

use crate::level::Level;
use crate::number::Element;
use crate::plan::{Planned, row_major};
use crate::pointwise::HalfFloat;
use crate::split::in_element_ranges;
use crate::tensors::{Mode, PIECE, Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_types::{DType, Result};
use rule::{Rates, Rule, Step};
use std::ops::Range;

/// Largest number of states of a weight.
const MOST_STATES: usize = 3;

/// One piece of the weight, of the gradient and of each state.
type Buffers = [[f32; PIECE]; 2 + MOST_STATES];

/// Plans an update of weights, in `f32` or with 16-bit floats.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let (rule, rates) = Rule::of(call)?;
    if let Some(desc) = call.inputs.iter().find(|d| !matches!(d.dtype, DType::F32 | DType::F16 | DType::BF16)) {
        return Some(Err(format!("{} on {}", call.op.name, desc.dtype)));
    }
    let (n, n_shared) = (rates.n_weights(), rates.n_inputs());
    let n_grouped = call.inputs.len() - n_shared.min(call.inputs.len());
    if n == 0 || !n_grouped.is_multiple_of(n) || call.outputs.len() < n {
        return Some(Err(format!("{} with {} inputs", call.op.name, call.inputs.len())));
    }
    let stride = n_grouped / n;
    let is_mixed = stride == 3 + rule.n_states();
    let types = |descs: &[mxrs_op::TensorDesc]| descs.iter().map(|desc| desc.dtype).collect::<Vec<_>>();
    let (inputs, outputs) = (types(call.inputs), types(call.outputs));
    let sizes: Vec<usize> = call.outputs[..n].iter().map(|desc| desc.shape.n_elements()).collect();
    let update = Update { rule, rates, stride, is_mixed, inputs, outputs, sizes, level };
    Some(Ok(row_major(call, 0, move |args| update.run(args))))
}

struct Update {
    rule: Rule,
    rates: Rates,
    /// Number of inputs per weight: the weight, its gradient and its states.
    stride: usize,
    /// Whether the last of a weight's inputs is its master weight.
    is_mixed: bool,
    inputs: Vec<DType>,
    outputs: Vec<DType>,
    /// Elements of each weight.
    sizes: Vec<usize>,
    level: Level,
}

impl Update {
    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let n = self.sizes.len();
        let modes: Vec<Mode> = (0..self.outputs.len())
            .map(|output| Mode::of(args, output, self.outputs[output]))
            .collect::<Result<_>>()?;
        let shared = |input: usize, which: usize| {
            let source = Source::<f32>::of(args, n * self.stride + input);
            // SAFETY: inputs that belong to no weight are not among the rewritten inputs, so nothing writes them during
            // the call.
            unsafe { source.at(which) }
        };
        for (which, size) in self.sizes.iter().enumerate() {
            let mut rule = self.rule;
            let (lr, wd) = match &self.rates {
                Rates::Known(all) => all[which],
                Rates::WithScale(rates) => {
                    rule.rescale_grad = shared(0, 0);
                    *rates
                }
                Rates::Inputs(_) => (shared(0, which), shared(1, which)),
            };
            // Without a usable scale, the old values are written.
            let rule = (rule.rescale_grad.is_finite() && rule.rescale_grad != 0.0
                || !matches!(self.rates, Rates::WithScale(_)))
            .then_some(rule);
            in_element_ranges(args.team, *size, &|range| {
                let mut buffers = [[0.0f32; PIECE]; 2 + MOST_STATES];
                let mut start = range.start;
                while start < range.end {
                    let end = range.end.min(start + PIECE);
                    // SAFETY: the ranges of threads are disjoint, `end <= size`, and `piece` accesses the tensors of
                    // this weight (value, gradient, states) only at `start..end`.
                    unsafe { self.piece(args, &modes, which, start..end, (rule, lr, wd), &mut buffers) };
                    start = end;
                }
            });
        }
        Ok(())
    }

    /// Updates the elements `at` of weight `which` and of its states.
    ///
    /// # Safety
    /// During the call no other thread may read or write these elements of the weight, its gradient or its states.
    unsafe fn piece(
        &self,
        args: &KernelArgs<'_>,
        modes: &[Mode],
        which: usize,
        at: Range<usize>,
        (rule, lr, wd): (Option<Rule>, f32, f32),
        buffers: &mut Buffers,
    ) {
        let (n, first) = (self.sizes.len(), which * self.stride);
        let n_states = self.rule.n_states();
        let [weight, grad, states @ ..] = &mut *buffers;
        let from = if self.is_mixed { first + self.stride - 1 } else { first };
        // SAFETY: the caller promises that no other thread uses these elements. `load` copies them, so no slice exists
        // when `store` writes.
        unsafe {
            self.load(args, from, at.clone(), weight);
            self.load(args, first + 1, at.clone(), grad);
            for (s, state) in states[..n_states].iter_mut().enumerate() {
                self.load(args, first + 2 + s, at.clone(), state);
            }
        }
        let len = at.len();
        if let Some(rule) = rule {
            let (weight, grad, states) = (&mut weight[..len], &grad[..len], states.each_mut().map(|s| &mut s[..len]));
            self.level.run(Step { rule, lr, wd, weight, grad, states });
        }
        // SAFETY: the caller promises that no other thread uses these elements, and all inputs have been copied to the
        // buffers.
        unsafe {
            self.store(args, which, modes[which], at.clone(), &buffers[0]);
            let per_group = self.stride - 2;
            for s in 0..per_group {
                let output = n + which * per_group + s;
                let buffer = if s < n_states { &buffers[2 + s] } else { &buffers[0] };
                self.store(args, output, modes[output], at.clone(), buffer);
            }
        }
    }

    /// Copies a piece of an input to a buffer.
    ///
    /// # Safety
    /// No thread may write these elements during the call.
    unsafe fn load(&self, args: &KernelArgs<'_>, index: usize, at: Range<usize>, to: &mut [f32; PIECE]) {
        let to = &mut to[..at.len()];
        // SAFETY: the caller's contract is that of `slice`; `self.inputs` are the dtypes of the planned call.
        unsafe {
            match self.inputs[index] {
                DType::F16 => f16::widen(Source::of(args, index).slice(at), to),
                DType::BF16 => bf16::widen(Source::of(args, index).slice(at), to),
                _ => to.copy_from_slice(Source::<f32>::of(args, index).slice(at)),
            }
        }
    }

    /// Writes a piece of an output.
    ///
    /// # Safety
    /// No other thread may use these elements during the call.
    unsafe fn store(&self, args: &KernelArgs<'_>, index: usize, mode: Mode, at: Range<usize>, from: &[f32; PIECE]) {
        let from = &from[..at.len()];
        // SAFETY: the caller's contract is that of `put`; `self.outputs` are the dtypes of the planned call.
        unsafe {
            match self.outputs[index] {
                DType::F16 => put::<f16>(args, index, mode, at, |to| f16::narrow(from, to)),
                DType::BF16 => put::<bf16>(args, index, mode, at, |to| bf16::narrow(from, to)),
                _ => put::<f32>(args, index, mode, at, |to| to.copy_from_slice(from)),
            }
        }
    }
}

/// Lets `fill` compute a piece, and writes it to the output or adds it to the old values.
///
/// # Safety
/// No other thread may use these elements during the call.
unsafe fn put<T: Element>(
    args: &KernelArgs<'_>,
    index: usize,
    mode: Mode,
    at: Range<usize>,
    fill: impl FnOnce(&mut [T]),
) {
    if mode == Mode::Skip {
        return;
    }
    let sink = Sink::<T>::with_mode(args, index, mode);
    // SAFETY: the caller's contract is that of `slice_mut`.
    let to = unsafe { sink.slice_mut(at) };
    if mode == Mode::Add {
        let mut made = [T::ZERO; PIECE];
        let made = &mut made[..to.len()];
        fill(made);
        to.iter_mut().zip(made).for_each(|(to, x)| *to = to.plus(*x));
    } else {
        fill(to);
    }
}
