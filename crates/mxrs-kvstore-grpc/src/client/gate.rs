//! Limits the number of requests that are on their way to one server. If it is reached, further requests wait, and the most
//! urgent one goes first.

use mxrs_sync::Mutex;
use std::collections::BinaryHeap;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A semaphore whose places go to the waiting request with the highest priority.
#[derive(Debug)]
pub struct Gate(Mutex<Places>);

#[derive(Debug)]
struct Places {
    n_free: usize,
    n_asked: u64,
    waiting: BinaryHeap<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    priority: i32,
    order: u64,
    call: oneshot::Sender<Pass>,
}

/// A place in a `Gate`. Dropping it lets the next request in.
#[derive(Debug)]
pub struct Pass(Option<Arc<Gate>>);

impl Gate {
    /// A gate with `n_places` places, of which there is at least one.
    pub fn new(n_places: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Places { n_free: n_places.max(1), n_asked: 0, waiting: BinaryHeap::new() })))
    }

    /// Waits for a place. Of equally urgent requests, the one that came first gets it.
    pub async fn enter(self: &Arc<Self>, priority: i32) -> Pass {
        let (call, called) = oneshot::channel();
        {
            let mut places = self.0.lock();
            if places.n_free > 0 {
                places.n_free -= 1;
                return Pass(Some(Arc::clone(self)));
            }
            places.n_asked += 1;
            let order = places.n_asked;
            places.waiting.push(Waiting { priority, order, call });
        }
        match called.await {
            Ok(pass) => pass,
            // Cannot happen: the sender is dropped only with the gate, and `self` keeps the gate. An additional place would
            // do no harm.
            Err(_) => Pass(Some(Arc::clone(self))),
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Some(gate) = self.0.take() else { return };
        loop {
            let next = {
                let mut places = gate.0.lock();
                let next = places.waiting.pop();
                if next.is_none() {
                    places.n_free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            match next.call.send(Pass(Some(Arc::clone(&gate)))) {
                Ok(()) => return,
                // The request does not wait for this place any more, so it goes to the next request.
                Err(mut pass) => drop(pass.0.take()),
            }
        }
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.priority.cmp(&other.priority).then(other.order.cmp(&self.order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_goes_first_and_no_place_is_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let gate = Gate::new(1);
            let first = gate.enter(0).await;
            let order = Arc::new(Mutex::new(Vec::new()));
            let tasks: Vec<_> = [(1, 'a'), (5, 'b'), (1, 'c'), (7, 'd'), (9, 'x')]
                .map(|(priority, name)| {
                    let (gate, order) = (Arc::clone(&gate), Arc::clone(&order));
                    tokio::spawn(async move {
                        let _pass = gate.enter(priority).await;
                        order.lock().push(name);
                    })
                })
                .into();
            tokio::task::yield_now().await;
            // A request that is aborted does not keep its place.
            tasks[4].abort();
            tokio::task::yield_now().await;
            drop(first);
            for task in tasks {
                drop(task.await);
            }
            assert_eq!(*order.lock(), ['d', 'b', 'a', 'c']);
            assert_eq!(gate.0.lock().n_free, 1);
        });
    }
}
