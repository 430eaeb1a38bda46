//! Reduces a failing program to a small one that still fails.

use super::attempt;
use super::program::{Delay, Ending, Line, Program, Task};
use mxrs_engine::Property;
use std::time::{Duration, Instant};

/// The time limit for the whole reduction.
const BUDGET: Duration = Duration::from_secs(20);
/// Failures may depend on timing, so a candidate counts as correct only after this many runs without a failure.
const TRIES: usize = 30;
/// Small programs are fast; one that takes longer than this counts as hung.
const PATIENCE: Duration = Duration::from_secs(2);

/// The text to print on a failure: the error, the program's seed, and a small program with its own error.
pub fn report(program: &Program, error: &str) -> String {
    let until = Instant::now() + BUDGET;
    let mut small = program.clone();
    let mut small_error = error.to_owned();
    let mut shrunk = false;
    let mut adopt = |candidate: Program, small: &mut Program| -> bool {
        match fails(&candidate, until) {
            Some(error) => {
                (*small, small_error, shrunk) = (candidate, error, true);
                true
            }
            None => false,
        }
    };
    remove_lines(&mut small, until, &mut adopt);
    let simplifications: [fn(&mut Task); 6] = [
        |task| task.waits_inside = false,
        |task| task.delay = Delay::None,
        |task| task.property = Property::Normal,
        |task| (task.device, task.priority) = (0, 0),
        |task| task.ending = Ending::Good,
        |task| {
            task.reads = task.only_read().into_iter().collect();
            task.writes = task.written().into_iter().collect();
        },
    ];
    for simplify in simplifications {
        let candidate = small.with_tasks(simplify);
        adopt(candidate, &mut small);
    }
    remove_lines(&mut small, until, &mut adopt);
    let (kind, asynchronous) = (program.kind, program.is_async);
    let origin = format!("seed {}, {kind:?}, async {asynchronous}: {error}", program.seed);
    if shrunk {
        format!("{origin}\n\nsmaller: {small_error}\n{small}")
    } else {
        format!("{origin}\n\nnot seen again in {} s of trying\n{program}", BUDGET.as_secs())
    }
}

/// Tries to remove halves of the lines, then quarters and so on, down to single lines.
fn remove_lines(small: &mut Program, until: Instant, adopt: &mut impl FnMut(Program, &mut Program) -> bool) {
    let mut chunk = n_lines(small).div_ceil(2);
    while chunk > 0 && Instant::now() < until {
        let mut at = 0;
        while at < n_lines(small) && Instant::now() < until {
            let candidate = small.filtered(|line| line < at || line >= at + chunk);
            if !adopt(candidate, small) {
                at += chunk;
            }
        }
        chunk /= 2;
    }
}

fn n_lines(program: &Program) -> usize {
    let mut n = 0;
    program.visit(|_: &Line, _| n += 1);
    n
}

fn fails(program: &Program, until: Instant) -> Option<String> {
    (0..TRIES).take_while(|_| Instant::now() < until).find_map(|_| attempt(program, PATIENCE).err())
}
