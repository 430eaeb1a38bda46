//! Colors of steps: branches that should be able to run at the same time get different colors.

use super::PlanStep;

/// Returns the color of every step. Each of the first `n_colors - 1` colors goes to the longest dependency path of steps
/// without a color. All remaining steps get the last color.
pub(super) fn paint(steps: &[PlanStep], n_entries: usize, n_colors: u32) -> Vec<u32> {
    let last = n_colors.max(1) - 1;
    let mut colors: Vec<Option<u32>> = vec![None; steps.len()];
    if last > 0 {
        let before = predecessors(steps, n_entries);
        // Once every step has a color, further colors change nothing.
        for color in 0..last {
            let path = longest_unpainted(&before, &colors);
            if path.is_empty() {
                break;
            }
            path.into_iter().for_each(|step| colors[step] = Some(color));
        }
    }
    colors.into_iter().map(|c| c.unwrap_or(last)).collect()
}

/// For each step, the steps that produce its inputs.
fn predecessors(steps: &[PlanStep], n_entries: usize) -> Vec<Vec<usize>> {
    let mut maker: Vec<Option<usize>> = vec![None; n_entries];
    let mut before = Vec::with_capacity(steps.len());
    for (s, step) in steps.iter().enumerate() {
        before.push(step.inputs.iter().filter_map(|e| maker[e.index()]).collect());
        step.outputs.iter().for_each(|e| maker[e.index()] = Some(s));
    }
    before
}

/// The longest path of uncolored steps; the first if there are several.
fn longest_unpainted(before: &[Vec<usize>], colors: &[Option<u32>]) -> Vec<usize> {
    let mut length = vec![0usize; before.len()];
    let mut from: Vec<Option<usize>> = vec![None; before.len()];
    let mut end: Option<usize> = None;
    for s in 0..before.len() {
        if colors[s].is_some() {
            continue;
        }
        length[s] = 1;
        for &p in &before[s] {
            if colors[p].is_none() && length[p] + 1 > length[s] {
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
