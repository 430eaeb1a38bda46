//! Runs steps tile by tile: a few thousand elements go through all steps before the next elements do, so the result of
//! one step is still in the L1 cache when another step reads it.
//!
//! All steps of a tile run before any output that shares memory with an input is written, so an output may have the
//! memory of any input. An output that shares no memory with an input is computed directly in its own memory.

use super::Run;
use crate::split::in_numbered_ranges;
use crate::tensors::{Mode, Scratch, Sink, Source};
use mxrs_op::{KernelArgs, TensorDesc, accumulate};
use mxrs_types::{DType, Result};
use smallvec::SmallVec;
use std::ops::Range;

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An input of the call.
    Input(usize),
    /// The result of an earlier step.
    Step(usize),
}

/// A step and its operands.
pub struct ProgramStep {
    /// The function.
    pub run: Run,
    /// The operands.
    pub reads: Vec<Value>,
    /// Dtype of the result.
    pub dtype: DType,
}

/// The steps of a call or of a fused call, with the tiles and outputs for their results.
pub struct Program {
    steps: Vec<ProgramStep>,
    /// For each step, the index of its tile in scratch memory.
    slots: Vec<usize>,
    n_slots: usize,
    /// For each step, the output in whose memory the result is computed, if that is possible.
    direct: Vec<Option<usize>>,
    /// For each output, the step that computes it.
    outputs: Vec<usize>,
    output_descs: Vec<TensorDesc>,
    /// For each input that is read, the size of its elements; otherwise 0.
    input_sizes: Vec<usize>,
    n_elements: usize,
    /// Number of elements of a tile.
    tile: usize,
    slot_bytes: usize,
    /// Number of threads for which scratch memory is planned.
    n_threads: usize,
}

/// Largest number of bytes of the tiles of all steps together: half of a small L1 cache.
const TILE_BYTES: usize = 24 << 10;

impl Program {
    /// Makes a program over `n_elements` elements for at most `n_threads` threads; `outputs` are indices of steps.
    pub fn new(
        inputs: &[TensorDesc],
        steps: Vec<ProgramStep>,
        outputs: Vec<usize>,
        output_descs: Vec<TensorDesc>,
        n_elements: usize,
        n_threads: usize,
    ) -> Self {
        let (slots, n_slots) = slots_of(&steps, &outputs);
        let is_read = |i: usize| steps.iter().any(|step| step.reads.contains(&Value::Input(i)));
        let input_sizes: Vec<usize> =
            inputs.iter().enumerate().map(|(i, desc)| if is_read(i) { desc.dtype.size_of() } else { 0 }).collect();
        let widest =
            steps.iter().map(|step| step.dtype.size_of()).chain(input_sizes.iter().copied()).max().unwrap_or(1);
        let n_tiles = n_slots + outputs.len() + input_sizes.iter().filter(|size| **size > 0).count();
        let tile = (TILE_BYTES / widest / n_tiles).clamp(256, 4096) / 64 * 64;
        let mut direct = vec![None; steps.len()];
        for (output, step) in outputs.iter().enumerate() {
            direct[*step] = direct[*step].or(Some(output));
        }
        Self {
            slots,
            n_slots,
            direct,
            outputs,
            output_descs,
            input_sizes,
            n_elements,
            tile,
            slot_bytes: tile * widest,
            n_threads: n_threads.max(1),
            steps,
        }
    }

    /// Scratch memory of a run, in bytes.
    pub fn scratch_bytes(&self) -> usize {
        self.n_threads * self.n_slots * self.slot_bytes
    }

    /// Runs the program.
    ///
    /// # Errors
    /// Fails if a request is to add to an output of bools.
    pub fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let mode = |(i, desc): (usize, &TensorDesc)| Mode::of(args, i, desc.dtype);
        let modes: SmallVec<[Mode; 4]> = self.output_descs.iter().enumerate().map(mode).collect::<Result<_>>()?;
        let sources: SmallVec<[Source<'_, u8>; 8]> = (0..self.input_sizes.len()).map(|i| Source::of(args, i)).collect();
        let sinks: SmallVec<[Sink<'_, u8>; 4]> =
            modes.iter().enumerate().map(|(i, mode)| Sink::with_mode(args, i, *mode)).collect();
        let n_tiles = self.n_elements.div_ceil(self.tile);
        in_numbered_ranges(args.team, self.n_threads, n_tiles, self.n_elements, &|tiles, thread| {
            let of_thread = self.n_slots * self.slot_bytes;
            // SAFETY: `in_numbered_ranges` gives each range its own number `thread < n_threads`, so each has its own
            // `of_thread` bytes of the scratch memory.
            let scratch = unsafe { Scratch::<u8>::of(args, thread * of_thread, of_thread).slice(0..of_thread) };
            let mut places: SmallVec<[&mut [u8]; 8]> = scratch.chunks_exact_mut(self.slot_bytes).collect();
            places.resize_with(self.n_slots + sinks.len(), || &mut []);
            for tile in tiles {
                let elements = tile * self.tile..self.n_elements.min((tile + 1) * self.tile);
                self.run_tile(elements, &sources, &sinks, &mut places);
            }
        });
        Ok(())
    }

    fn place(&self, step: usize, sinks: &[Sink<'_, u8>]) -> usize {
        match self.direct[step] {
            Some(output) if sinks[output].mode() == Mode::Direct => self.n_slots + output,
            _ => self.slots[step],
        }
    }

    /// Runs all steps on the elements of one tile. `places` are the tiles in scratch memory, followed by an empty slice for
    /// each output.
    fn run_tile<'a>(
        &self,
        elements: Range<usize>,
        sources: &[Source<'a, u8>],
        sinks: &[Sink<'a, u8>],
        places: &mut [&'a mut [u8]],
    ) {
        let bytes = |size: usize| elements.start * size..elements.end * size;
        {
            let tile_of = |(source, size): (&Source<'a, u8>, &usize)| match *size {
                0 => &[][..],
                // SAFETY: these elements belong to this thread. Outputs that are computed in their own memory share no
                // memory with an input (`Mode::Direct`); all other outputs are written below, after the last use of
                // this slice.
                size => unsafe { source.slice(bytes(size)) },
            };
            let inputs: SmallVec<[&[u8]; 8]> = sources.iter().zip(&self.input_sizes).map(tile_of).collect();
            for (s, step) in self.steps.iter().enumerate() {
                let place = self.place(s, sinks);
                if let Some(output) = place.checked_sub(self.n_slots) {
                    // SAFETY: these elements of the output belong to this thread, and no other slice of them exists:
                    // `places[place]` holds a slice of an earlier tile, or an empty slice.
                    places[place] = unsafe { sinks[output].slice_mut(bytes(step.dtype.size_of())) };
                }
                let out = std::mem::take(&mut places[place]);
                let reads: SmallVec<[&[u8]; 4]> = step
                    .reads
                    .iter()
                    .map(|value| match *value {
                        Value::Input(i) => inputs[i],
                        Value::Step(from) => {
                            &places[self.place(from, sinks)][..elements.len() * self.steps[from].dtype.size_of()]
                        }
                    })
                    .collect();
                (step.run)(&reads, &mut out[..elements.len() * step.dtype.size_of()]);
                drop(reads);
                places[place] = out;
            }
        }
        for (output, (sink, step)) in sinks.iter().zip(&self.outputs).enumerate() {
            let place = self.place(*step, sinks);
            if !sink.is_wanted() || place == self.n_slots + output {
                continue;
            }
            let size = self.steps[*step].dtype.size_of();
            let from = &places[place][..elements.len() * size];
            // SAFETY: these elements belong to this thread, the slices of inputs are no longer used, and `from` is in
            // scratch memory or in another output, which does not overlap this one.
            let to = unsafe { sink.slice_mut(bytes(size)) };
            if sink.mode() != Mode::Add {
                to.copy_from_slice(from);
            } else if accumulate(&self.output_descs[output], to, from).is_err() {
                debug_assert!(false, "bools were refused before");
            }
        }
    }
}

/// Returns for each step the index of a tile that holds no value needed later, and the number of tiles.
fn slots_of(steps: &[ProgramStep], outputs: &[usize]) -> (Vec<usize>, usize) {
    let mut last_read: Vec<usize> = (0..steps.len()).collect();
    for (s, step) in steps.iter().enumerate() {
        for value in &step.reads {
            if let Value::Step(from) = *value {
                last_read[from] = s;
            }
        }
    }
    outputs.iter().for_each(|step| last_read[*step] = steps.len());
    let (mut slots, mut free, mut n_slots) = (Vec::with_capacity(steps.len()), Vec::new(), 0);
    for s in 0..steps.len() {
        // Tiles that this step is the last to read become free only now, because a step must not write to a tile that it
        // reads.
        slots.push(free.pop().unwrap_or_else(|| {
            n_slots += 1;
            n_slots - 1
        }));
        free.extend((0..=s).filter(|earlier| last_read[*earlier] == s).map(|earlier| slots[earlier]));
    }
    (slots, n_slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_overwritten_while_it_is_needed() {
        let step = |reads: &[usize]| ProgramStep {
            run: Box::new(|_, _| ()),
            reads: reads.iter().map(|s| Value::Step(*s)).collect(),
            dtype: DType::F32,
        };
        // The steps 0 to 6 of the test: step 4 combines 1 and 2, which both read 0; nothing reads 3; and 5 and 6 follow 4 as
        // a chain.
        let steps = vec![step(&[]), step(&[0]), step(&[0]), step(&[]), step(&[1, 2]), step(&[4]), step(&[5])];
        let (slots, n_slots) = slots_of(&steps, &[2, 6]);
        for (s, step) in steps.iter().enumerate() {
            for value in &step.reads {
                let Value::Step(from) = *value else { continue };
                assert!(slots[from] != slots[s], "step {s} reads and writes one tile");
                assert!((from + 1..s).all(|between| slots[between] != slots[from]), "{from} is gone before {s}");
            }
        }
        assert!((3..7).all(|s| slots[s] != slots[2]), "an output is overwritten");
        assert_eq!(n_slots, 3);
    }
}
