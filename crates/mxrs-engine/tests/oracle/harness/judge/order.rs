//! Finds the order of the tasks. Checks the rules E3 (exclusion) and E4 (one order that agrees with every variable and every
//! thread) of [`mxrs_engine::var`].

use super::super::program::Line;
use super::Judge;
use std::collections::{BTreeMap, BTreeSet};

impl Judge<'_> {
    /// The acts (accepted tasks and deletions) of each variable, sorted by the time at which they began. Checks E3: a
    /// writer overlaps with no other act.
    pub(super) fn lists(&mut self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.program.n_vars];
        for act in self.acts.values() {
            for var in act.reads.union(&act.writes) {
                lists[*var].push(act.id);
            }
        }
        let mut wrong = Vec::new();
        for (var, list) in lists.iter_mut().enumerate() {
            list.sort_by_key(|id| self.acts[id].span.0);
            let (mut readers, mut writer) = ((0, 0), (0, 0));
            for id in list {
                let act = &self.acts[id];
                let writes = act.writes.contains(&var);
                let (end, other) = if writes { readers.max(writer) } else { writer };
                if act.span.0 < end {
                    wrong.push(format!("E3: t{id} and t{other} overlap on variable {var}"));
                }
                let last = if writes { &mut writer } else { &mut readers };
                *last = (*last).max((act.span.1, *id));
            }
        }
        self.wrong.extend(wrong);
        lists
    }

    /// E4: finds an order of all acts (accepted tasks and deletions) that agrees with the order of pushes of each
    /// thread and with the order of acts on every variable.
    pub(super) fn total_order(&mut self, lists: &[Vec<usize>]) -> Option<Vec<usize>> {
        let mut after: BTreeMap<usize, BTreeSet<usize>> = self.acts.keys().map(|id| (*id, BTreeSet::new())).collect();
        let mut before = |first: usize, second: usize| {
            after.get_mut(&first).map(|followers| followers.insert(second));
        };
        for (var, list) in lists.iter().enumerate() {
            let (mut writer, mut readers) = (None, Vec::new());
            for id in list {
                if let Some(writer) = writer {
                    before(writer, *id);
                }
                if self.acts[id].writes.contains(&var) {
                    readers.drain(..).for_each(|reader| before(reader, *id));
                    writer = Some(*id);
                } else {
                    readers.push(*id);
                }
            }
        }
        let acts = &self.acts;
        let mut barrier: Vec<usize> = Vec::new();
        for phase in &self.program.phases {
            let mut ends = Vec::new();
            for thread in &phase.threads {
                let mut last: Vec<usize> = barrier.clone();
                chain(thread, &mut last, &mut before, &|id| acts.contains_key(&id));
                ends.extend(last);
            }
            barrier = ends;
        }
        let mut missing: BTreeMap<usize, usize> = BTreeMap::new();
        after.values().flatten().for_each(|id| *missing.entry(*id).or_default() += 1);
        let mut ready: Vec<usize> = self.acts.keys().filter(|id| !missing.contains_key(id)).copied().collect();
        let mut order = Vec::new();
        while let Some(id) = ready.pop() {
            order.push(id);
            for next in &after[&id] {
                if let Some(count) = missing.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(*next);
                    }
                }
            }
        }
        if order.len() < self.acts.len() {
            let stuck: Vec<_> =
                missing.iter().filter(|(_, count)| **count > 0).map(|(id, _)| format!("t{id}")).collect();
            self.blame(format!(
                "E4: no order of the pushes explains what the variables saw; among {}",
                stuck.join(" ")
            ));
            return None;
        }
        Some(order)
    }
}

/// Records that a thread's pushes follow one another, and that the pushes of a body follow the push of its task.
fn chain(lines: &[Line], last: &mut Vec<usize>, before: &mut impl FnMut(usize, usize), known: &dyn Fn(usize) -> bool) {
    for line in lines {
        let id = match line {
            Line::Push(task) => task.id,
            Line::Delete { id, .. } => *id,
            Line::Wait(_) | Line::Bulk(_) => continue,
        };
        if !known(id) {
            continue;
        }
        last.drain(..).for_each(|earlier| before(earlier, id));
        last.push(id);
        if let Line::Push(task) = line {
            chain(&task.nested, &mut vec![id], before, known);
        }
    }
}
