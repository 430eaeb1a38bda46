//! The two orders in which a pool's tasks leave.

use crossbeam_deque::{Injector, Steal};
use mxrs_sync::{Rank, RankedMutex};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Granted tasks waiting for a worker.
#[expect(clippy::large_enum_variant, reason = "there is one per pool")]
pub(crate) enum Queue<T> {
    /// First in, first out; `front` before `back`.
    Fifo {
        /// Tasks pushed to the front; first in, first out among themselves.
        front: Injector<T>,
        /// All others.
        back: Injector<T>,
    },
    /// Larger priority first, and first in, first out within one priority.
    Heap(RankedMutex<Heap<T>>),
}

/// Tasks by priority, and the number of the next one.
pub(crate) struct Heap<T> {
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

impl<T> Queue<T> {
    pub(crate) fn fifo() -> Self {
        Self::Fifo { front: Injector::new(), back: Injector::new() }
    }

    pub(crate) fn heap() -> Self {
        // Above the pool's own lock: a worker about to park holds that one and asks whether the heap is empty.
        Self::Heap(RankedMutex::new(Rank::Leaf, Heap { tasks: BinaryHeap::new(), next: 0 }))
    }

    pub(crate) fn push(&self, task: T, front: bool, priority: i32) {
        match self {
            Self::Fifo { front: urgent, .. } if front => urgent.push(task),
            Self::Fifo { back, .. } => back.push(task),
            Self::Heap(heap) => {
                let mut heap = heap.lock();
                let number = heap.next;
                heap.next += 1;
                heap.tasks.push(Ranked { priority, number, task });
            }
        }
    }

    pub(crate) fn pop(&self) -> Option<T> {
        match self {
            Self::Fifo { front, back } => steal(front).or_else(|| steal(back)),
            Self::Heap(heap) => heap.lock().tasks.pop().map(|ranked| ranked.task),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Fifo { front, back } => front.is_empty() && back.is_empty(),
            Self::Heap(heap) => heap.lock().tasks.is_empty(),
        }
    }
}

fn steal<T>(injector: &Injector<T>) -> Option<T> {
    if injector.is_empty() {
        return None;
    }
    loop {
        match injector.steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn drain(queue: &Queue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn fifo_with_a_front() {
        let queue = Queue::fifo();
        for (task, front) in [(1, false), (2, false), (3, true), (4, true)] {
            queue.push(task, front, task as i32);
        }
        assert!(!queue.is_empty());
        assert_eq!(drain(&queue), [3, 4, 1, 2]);
        assert!(queue.is_empty());
    }

    #[test]
    fn heap_by_priority_then_age() {
        let queue = Queue::heap();
        for (task, priority) in [(1, 0), (2, 5), (3, -7), (4, 5), (5, 0)] {
            queue.push(task, false, priority);
        }
        assert_eq!(drain(&queue), [2, 4, 1, 5, 3]);
    }
}
