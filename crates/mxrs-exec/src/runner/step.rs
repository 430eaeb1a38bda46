//! Runs steps one by one, and shows their tensors to a monitor.

use super::Runner;
use crate::options::BindOptions;
use crate::run_random::RunRandom;
use crate::segment::segments;
use crate::tap::{Tap, taps};
use mxrs_engine::Var;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::Result;

impl Runner {
    /// Pushes one step alone. If `watch` is given, returns copies of the outputs of the step, with their names and
    /// operator. If the flag in `watch` is true, returns copies of the inputs too.
    ///
    /// # Errors
    /// Returns the errors of [`Self::forward`], or an error if memory runs out or no backend copies from some layout.
    pub fn step(
        &self,
        step: usize,
        random: &RunRandom,
        context: &ArrayContext,
        watch: Option<(bool, &BindOptions)>,
    ) -> Result<Vec<(Tap, NdArray)>> {
        let mut copies = Vec::new();
        if let Some((with_inputs, options)) = watch {
            for tap in &self.taps(options)?[step] {
                if (tap.is_input && !with_inputs) || !self.ready.has_memory(step, tap) {
                    continue;
                }
                let copy = NdArray::empty(context, tap.shape.clone(), tap.dtype, tap.device, "monitor")?;
                copies.push((tap.clone(), copy));
            }
        }
        for mut segment in segments(&self.planned.program, step..step + 1, 1) {
            if segment.crosses {
                self.watch_cross(step, &copies)?;
                continue;
            }
            let random = random.on(segment.device);
            segment.hold(self.held_on(segment.device));
            let (ready, copies, prepares) = (self.ready.clone(), copies.clone(), !self.held.is_empty());
            let vars: Vec<Var> = copies.iter().map(|(_, copy)| copy.var().clone()).collect();
            self.push(&segment, &vars, move |task| {
                let copy = |is_input: bool| {
                    let wanted = copies.iter().filter(|(tap, _)| tap.is_input == is_input);
                    wanted.cloned().try_for_each(|(tap, to)| ready.copy_out(step, &tap, &to, task))
                };
                if prepares {
                    ready.prepare(task)?;
                }
                copy(true)?;
                ready.run(step..step + 1, random, task)?;
                copy(false)
            })?;
        }
        Ok(copies)
    }

    /// Pushes the copy between devices that is step `step`, and copies its input and its output for a monitor.
    fn watch_cross(&self, step: usize, copies: &[(Tap, NdArray)]) -> Result<()> {
        let cross = self.cross(step)?;
        for (tap, to) in copies.iter().cloned() {
            let (from, ready) = (if tap.is_input { &cross.from } else { &cross.to }, self.ready.clone());
            let var = to.var().clone();
            let task = self.engine.task("monitor").device(tap.device).read(from.var()).write(&var);
            task.write(self.var(tap.device)).push(move |task| ready.copy_out(step, &tap, &to, task))?;
        }
        Ok(())
    }

    fn taps(&self, options: &BindOptions) -> Result<&[Vec<Tap>]> {
        if let Some(taps) = self.taps.get() {
            return Ok(taps);
        }
        let taps = taps(&self.graph, &self.planned.program, options)?;
        Ok(self.taps.get_or_init(|| taps))
    }
}
