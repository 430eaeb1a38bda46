//! A static graph executor in the manner of taskflow, measured only for orientation.
//!
//! Dependencies are computed once: each operator has a list of successors and a count of predecessors. Running the graph only
//! decrements the counts. It examines no variable and pushes nothing. An operator cannot be added, cannot fail, and cannot be
//! waited for individually. A dependency engine offers all of that for every operator.

use super::{Assignment, Operator, Peer};
use anyhow::{Result, ensure};
use crossbeam_deque::{Steal, Stealer, Worker};
use crossbeam_utils::Backoff;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The dependencies between operators.
#[derive(Debug)]
pub struct Graph {
    successors: Vec<Vec<u32>>,
    n_predecessors: Vec<u32>,
    roots: Vec<u32>,
}

impl Graph {
    /// Computes the order that the reads and writes of `operators` require: a reader of a variable follows its last
    /// writer; a writer follows the last writer and all readers since then.
    pub fn of(operators: &[Operator]) -> Self {
        let mut successors = vec![Vec::new(); operators.len()];
        let mut n_predecessors = vec![0; operators.len()];
        let mut last_writer: HashMap<u32, usize> = HashMap::new();
        let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, op) in operators.iter().enumerate() {
            let mut before: Vec<usize> =
                op.reads.iter().chain(&op.writes).filter_map(|v| last_writer.get(v)).copied().collect();
            before.extend(op.writes.iter().flat_map(|var| readers.remove(var).unwrap_or_default()));
            before.sort_unstable();
            before.dedup();
            n_predecessors[at] = before.len() as u32;
            before.into_iter().for_each(|other| successors[other].push(at as u32));
            op.reads.iter().for_each(|var| readers.entry(*var).or_default().push(at));
            op.writes.iter().for_each(|var| {
                last_writer.insert(*var, at);
            });
        }
        let roots = (0..operators.len()).filter(|at| n_predecessors[*at] == 0).map(|at| at as u32).collect();
        Self { successors, n_predecessors, roots }
    }

    /// Runs every operator `n_times`, each time only after its predecessors, on `n_threads` threads; the repetitions do
    /// not overlap.
    pub fn run(&self, n_times: usize, n_threads: usize, body: &(dyn Fn(usize) + Sync)) {
        if n_times == 0 || self.successors.is_empty() {
            return;
        }
        let remaining: Vec<AtomicU32> = self.n_predecessors.iter().map(|n| AtomicU32::new(*n)).collect();
        let queues: Vec<Worker<u32>> = (0..n_threads.max(1)).map(|_| Worker::new_lifo()).collect();
        let stealers: Vec<Stealer<u32>> = queues.iter().map(Worker::stealer).collect();
        self.roots.iter().for_each(|root| queues[0].push(*root));
        let run = Run {
            graph: self,
            remaining: &remaining,
            stealers: &stealers,
            unfinished: AtomicUsize::new(self.successors.len()),
            repetitions: AtomicUsize::new(n_times),
            body,
        };
        std::thread::scope(|scope| {
            let mut queues = queues.into_iter();
            let own = queues.next();
            for queue in queues {
                let run = &run;
                scope.spawn(move || run.work(&queue));
            }
            if let Some(own) = own {
                run.work(&own);
            }
        });
    }
}

struct Run<'a> {
    graph: &'a Graph,
    remaining: &'a [AtomicU32],
    stealers: &'a [Stealer<u32>],
    unfinished: AtomicUsize,
    repetitions: AtomicUsize,
    body: &'a (dyn Fn(usize) + Sync),
}

impl Run<'_> {
    fn work(&self, queue: &Worker<u32>) {
        let backoff = Backoff::new();
        loop {
            match queue.pop().or_else(|| self.steal()) {
                Some(at) => {
                    backoff.reset();
                    self.execute(at as usize, queue);
                }
                None if self.repetitions.load(Ordering::Acquire) == 0 => return,
                None => backoff.snooze(),
            }
        }
    }

    fn steal(&self) -> Option<u32> {
        self.stealers.iter().find_map(|stealer| match stealer.steal() {
            Steal::Success(at) => Some(at),
            Steal::Empty | Steal::Retry => None,
        })
    }

    fn execute(&self, at: usize, queue: &Worker<u32>) {
        (self.body)(at);
        // Resets the count for the next repetition, before any operator of that repetition can start.
        self.remaining[at].store(self.graph.n_predecessors[at], Ordering::Relaxed);
        for next in &self.graph.successors[at] {
            if self.remaining[*next as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                queue.push(*next);
            }
        }
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.unfinished.store(self.graph.successors.len(), Ordering::Relaxed);
            if self.repetitions.fetch_sub(1, Ordering::AcqRel) > 1 {
                self.graph.roots.iter().for_each(|root| queue.push(*root));
            }
        }
    }
}

/// The executor as a contestant. Pushing `n` operators runs the whole graph of `size` operators `n / size` times; `n` must
/// be a multiple of `size`.
pub struct StaticGraph {
    n_threads: usize,
    graph: Option<Graph>,
}

impl StaticGraph {
    /// An executor with `n_threads` threads.
    pub fn new(n_threads: usize) -> Self {
        Self { n_threads, graph: None }
    }
}

impl Peer for StaticGraph {
    fn name(&self) -> &str {
        "static graph"
    }

    fn prepare(&mut self, assignment: &Assignment<'_>) -> Result<()> {
        self.graph = Some(Graph::of(assignment.load.operators()));
        Ok(())
    }

    fn push(&self, _: usize, n: usize) -> Result<()> {
        let Some(graph) = &self.graph else { return Ok(()) };
        let size = graph.successors.len();
        ensure!(size > 0 && n.is_multiple_of(size), "{n} operators are not a whole number of graphs of {size}");
        graph.run(n / size, self.n_threads, &|at| {
            std::hint::black_box(at);
        });
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Load;
    use std::sync::Mutex;

    #[test]
    fn edges_follow_reads_and_writes() {
        let op = |reads: &[u32], writes: &[u32]| Operator { reads: reads.to_vec(), writes: writes.to_vec() };
        // Operator 0 writes variable 0; 1 and 2 read it; 3 writes it again, so it follows both; 4 uses an unrelated
        // variable.
        let graph = Graph::of(&[op(&[], &[0]), op(&[0], &[1]), op(&[0], &[2]), op(&[], &[0]), op(&[], &[9])]);
        assert_eq!(graph.roots, [0, 4]);
        assert_eq!(graph.successors[0], [1, 2, 3]);
        assert_eq!(graph.n_predecessors, [0, 1, 1, 3, 0]);
    }

    #[test]
    fn every_operator_runs_after_its_predecessors_each_time() {
        for load in [Load::fan(16), Load::four_reads_one_write(20, 3), Load::network("resnet-50").unwrap()] {
            let graph = Graph::of(load.operators());
            let order = Mutex::new(Vec::new());
            graph.run(5, 2, &|at| order.lock().unwrap().push(at));
            let order = order.into_inner().unwrap();
            let size = load.operators().len();
            assert_eq!(order.len(), 5 * size, "{}", load.name());
            for repetition in order.chunks(size) {
                let mut place = vec![usize::MAX; size];
                repetition.iter().enumerate().for_each(|(i, at)| place[*at] = i);
                for (at, successors) in graph.successors.iter().enumerate() {
                    assert!(successors.iter().all(|next| place[at] < place[*next as usize]), "{}", load.name());
                }
            }
        }
    }
}
