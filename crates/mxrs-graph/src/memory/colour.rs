//! Colours of steps: branches that should be able to run at once get different ones.

use super::PlanStep;

/// Colour of every step: `n_colours - 1` times, the longest dependency path of unpainted steps gets the next colour; the
/// rest get the last.
pub(super) fn paint(steps: &[PlanStep], n_entries: usize, n_colours: u32) -> Vec<u32> {
    let last = n_colours.max(1) - 1;
    let mut colours: Vec<Option<u32>> = vec![None; steps.len()];
    if last > 0 {
        let before = predecessors(steps, n_entries);
        // Once nothing is unpainted, further colours change nothing.
        for colour in 0..last {
            let path = longest_unpainted(&before, &colours);
            if path.is_empty() {
                break;
            }
            path.into_iter().for_each(|step| colours[step] = Some(colour));
        }
    }
    colours.into_iter().map(|c| c.unwrap_or(last)).collect()
}

/// Steps that make the inputs of each step.
fn predecessors(steps: &[PlanStep], n_entries: usize) -> Vec<Vec<usize>> {
    let mut maker: Vec<Option<usize>> = vec![None; n_entries];
    let mut before = Vec::with_capacity(steps.len());
    for (s, step) in steps.iter().enumerate() {
        before.push(step.inputs.iter().filter_map(|e| maker[e.index()]).collect());
        step.outputs.iter().for_each(|e| maker[e.index()] = Some(s));
    }
    before
}

/// The longest path of unpainted steps, the first of several.
fn longest_unpainted(before: &[Vec<usize>], colours: &[Option<u32>]) -> Vec<usize> {
    let mut length = vec![0usize; before.len()];
    let mut from: Vec<Option<usize>> = vec![None; before.len()];
    let mut end: Option<usize> = None;
    for s in 0..before.len() {
        if colours[s].is_some() {
            continue;
        }
        length[s] = 1;
        for &p in &before[s] {
            if colours[p].is_none() && length[p] + 1 > length[s] {
                length[s] = length[p] + 1;
                from[s] = Some(p);
            }
        }
        if end.is_none_or(|e| length[s] > length[e]) {
            end = Some(s);
        }
    }
    std::iter::successors(end, |s| from[*s]).collect()
}
