//! `_bn_relu_recompute`: computes the output again from saved statistics, for recomputation.

use super::super::pass::{Memory, Pass, PassKernel};
use super::Problem;
use super::factors::given_factors;
use std::ops::Range;

/// Returns the kernel, which has the name `name` in traces.
pub fn kernel(name: String, problem: Problem) -> PassKernel {
    PassKernel { name, pass: Box::new(Recompute { problem }), threads: problem.threads }
}

struct Recompute {
    problem: Problem,
}

impl Pass for Recompute {
    /// One piece is a plane: one block of channels of one image.
    fn pieces(&self) -> usize {
        self.problem.n * self.problem.blocks()
    }

    fn numbers(&self) -> usize {
        2 * self.problem.plane()
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        for piece in pieces {
            let block = piece % self.problem.blocks();
            // SAFETY: `piece < self.pieces()`, the number of planes of data and output, and only this piece writes
            // plane `piece`. Gamma, beta, mean and inverse standard deviation have a value for every channel.
            unsafe {
                let [gamma, beta, mean, inverse] = [1, 2, 3, 4].map(|input: usize| memory.inputs[input]);
                let (factors, _) = given_factors(&self.problem, block, [gamma, beta, mean, inverse]);
                let at = piece * self.problem.plane();
                self.problem.normalize(memory.inputs[0].add(at), memory.dst.add(at), &factors);
            }
        }
    }
}
