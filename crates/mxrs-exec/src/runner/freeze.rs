//! Freezing: makes all constants once and releases the arrays that they were made from.

use super::{ReadArray, Runner};
use crate::options::BindOptions;
use crate::program::Origin;
use crate::ready::ReadyProgram;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;
use std::sync::Arc;

impl Runner {
    /// Bound arrays that are not needed once all constants are made, because only prepare steps read them.
    pub fn used_up(&self) -> Vec<usize> {
        let program = &self.planned.program;
        let is_read = |index: usize| {
            let mut of_run = program.steps.iter().flat_map(|step| step.inputs.iter().chain(&step.outputs));
            of_run.any(|value| program.values[*value].origin == Origin::Bound(index))
        };
        let sources = self.ready.memory().homes().flat_map(|home| home.packed.sources());
        sources.copied().filter(|index| !is_read(*index)).collect()
    }

    /// Makes all constants, several prepare steps at a time, and releases the bound arrays that are [not
    /// needed](Self::used_up) afterwards. The constants are never made again. The caller should keep no other handles
    /// to the bound arrays `bound`, and no run may be in progress. `read` gets an array and its index, and pushes a
    /// write of the content of the array before a step reads it. `release` is called whenever many bytes have been
    /// released.
    ///
    /// # Errors
    /// Returns the error of a kernel or of `read`. The runner cannot be used after an error.
    pub fn freeze(
        &mut self,
        (bound, outputs): (Vec<NdArray>, Vec<NdArray>),
        nothing: &NdArray,
        options: &BindOptions,
        (read, release): (&mut ReadArray<'_>, &dyn Fn()),
    ) -> Result<()> {
        const MUCH: usize = 8 << 20;
        let used_up = self.used_up();
        let is_kept = |(index, _): &(usize, &NdArray)| !used_up.contains(index);
        bound.iter().enumerate().filter(is_kept).try_for_each(|(index, array)| read(index, array))?;
        let mut is_read: Vec<bool> = (0..bound.len()).map(|index| !used_up.contains(&index)).collect();
        let memory = self.ready.memory().clone();
        let n_steps = self.planned.program.steps.len();
        let mut left = bound.clone();
        used_up.iter().for_each(|index| left[*index] = nothing.clone());
        let ready = |bound, range| {
            let (memory, team) = (memory.clone(), options.team.clone());
            Arc::new(ReadyProgram::over(&self.planned, memory, bound, outputs.clone(), range, team))
        };
        let mut packing = ready(bound, 0..0);
        memory.homes().for_each(|home| home.packed.freeze());
        self.ready = ready(left, 0..n_steps);
        let n_prepare = self.planned.program.prepare.len();
        let mut is_needed = vec![false; n_prepare];
        for home in memory.homes() {
            let of_device = home.packed.needed(packing.bound());
            is_needed.iter_mut().zip(of_device).for_each(|(is_needed, here)| *is_needed |= here);
        }
        let sources_of = |step: usize| memory.main.packed.sources_of(step);
        // For each prepare step, the arrays that it reads and that no later prepare step reads.
        let mut last: Vec<Vec<usize>> = vec![Vec::new(); n_prepare];
        for index in &used_up {
            let reader = (0..n_prepare).rfind(|step| sources_of(*step).contains(index));
            reader.into_iter().for_each(|step| last[step].push(*index));
        }
        let mut first = 0;
        while first < n_prepare {
            // Adds steps to one task until the arrays that can be released after the task have more than `MUCH` bytes.
            let (mut end, mut n_bytes) = (first, 0);
            while end < n_prepare && n_bytes <= MUCH {
                n_bytes += last[end].iter().map(|index| packing.bound()[*index].size_bytes()).sum::<usize>();
                end += 1;
            }
            let needed: Vec<usize> = (first..end).filter(|step| is_needed[*step]).collect();
            let mut sources: Vec<usize> = needed.iter().flat_map(|step| sources_of(*step)).copied().collect();
            sources.sort_unstable();
            sources.dedup();
            for index in &sources {
                if !std::mem::replace(&mut is_read[*index], true) {
                    read(*index, &packing.bound()[*index])?;
                }
            }
            for home in memory.homes() {
                let is_here = |step: &usize| self.planned.program.prepare[*step].device == home.device;
                let here: Vec<usize> = needed.iter().copied().filter(is_here).collect();
                if here.is_empty() {
                    continue;
                }
                let packing = packing.clone();
                let task = self.engine.task("freeze").device(home.device).write(self.var(home.device));
                task.reads(sources.iter().map(|i| &self.bound[*i])).push(move |task| {
                    let made = here.into_iter().try_for_each(|step| packing.prepare_step(step, task));
                    drop(packing);
                    made
                })?;
                self.engine.wait_to_write(self.var(home.device))?;
            }
            // The task has run. If its handle to `packing` has not been dropped yet, the arrays are released in a later
            // round.
            if let Some(packing) = Arc::get_mut(&mut packing) {
                last[..end].iter_mut().flat_map(std::mem::take).for_each(|index| packing.let_go(index, nothing));
                if n_bytes > MUCH {
                    release();
                }
            }
            first = end;
        }
        memory.homes().for_each(|home| home.packed.fix());
        // The constants are never made again, and the variables of arrays that were released may be gone.
        self.held.clear();
        self.forward.iter_mut().chain(&mut self.backward).for_each(|segment| segment.hold([]));
        Ok(())
    }
}
