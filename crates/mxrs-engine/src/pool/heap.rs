//! Tasks by priority.

use crate::op::Task;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Granted tasks: larger priority first; first in, first out within one priority.
#[derive(Default)]
pub(crate) struct Heap<T = Task> {
    tasks: BinaryHeap<Ranked<T>>,
    next: u64,
}

struct Ranked<T> {
    priority: i32,
    number: u64,
    task: T,
}

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.cmp(&other.priority).then(other.number.cmp(&self.number))
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Ranked<T> {}

impl<T> Heap<T> {
    pub(crate) fn new() -> Self {
        Self { tasks: BinaryHeap::new(), next: 0 }
    }

    pub(crate) fn push(&mut self, task: T, priority: i32) {
        let number = self.next;
        self.next += 1;
        self.tasks.push(Ranked { priority, number, task });
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.tasks.pop().map(|ranked| ranked.task)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn by_priority_then_age() {
        let mut heap = Heap::new();
        for (task, priority) in [(1, 0), (2, 5), (3, -7), (4, 5), (5, 0)] {
            heap.push(task, priority);
        }
        assert_eq!(std::iter::from_fn(|| heap.pop()).collect::<Vec<_>>(), [2, 4, 1, 5, 3]);
        assert!(heap.is_empty());
    }
}
