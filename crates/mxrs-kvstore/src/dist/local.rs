//! Workers that are threads of one process, for tests: messages are copied from queue to queue.

use super::packet::Packet;
use super::wire::{Connect, Received, Waker, Wire};
use mxrs_sync::{Mutex, OnceLock};
use mxrs_types::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// What one worker has received, and how its thread is woken.
#[derive(Default)]
struct Mailbox {
    queue: Mutex<VecDeque<Received>>,
    waker: OnceLock<Waker>,
}

impl Mailbox {
    fn put(&self, received: Received) {
        self.queue.lock().push_back(received);
        if let Some(waker) = self.waker.get() {
            waker.wake();
        }
    }
}

/// The connections of this number of workers that are threads of this process. Each is for one
/// [`Group`](super::Group).
pub fn local_workers(n_workers: usize) -> Vec<Connect> {
    let boxes: Arc<[Mailbox]> = (0..n_workers).map(|_| Mailbox::default()).collect();
    let connect = |rank: usize| {
        let boxes = Arc::clone(&boxes);
        Box::new(move |waker: Waker| {
            if boxes[rank].waker.set(waker).is_err() {
                return Err(Error::invalid("rank of a worker", rank, "one that is not connected"));
            }
            Ok(Box::new(Local { rank, boxes }) as Box<dyn Wire>)
        }) as Connect
    };
    (0..n_workers).map(connect).collect()
}

/// One worker.
struct Local {
    rank: usize,
    boxes: Arc<[Mailbox]>,
}

impl Wire for Local {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.boxes.len()
    }

    fn description(&self) -> String {
        "queues of one process".to_owned()
    }

    fn is_polled(&self) -> bool {
        false
    }

    fn send(&mut self, to: usize, packet: Arc<Packet>) -> Result<()> {
        let packet = Packet::clone(&packet);
        self.boxes[to].put(Received::Message { from: self.rank, packet });
        Ok(())
    }

    fn n_unsent(&mut self, _: usize) -> usize {
        0
    }

    fn receive(&mut self, _: &mut dyn FnMut(usize, &mut Packet)) -> Result<Option<Received>> {
        Ok(self.boxes[self.rank].queue.lock().pop_front())
    }

    fn close(&mut self, _: Duration) -> Result<()> {
        Ok(())
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        for (to, mailbox) in self.boxes.iter().enumerate() {
            if to != self.rank {
                mailbox.put(Received::Lost { from: self.rank, reason: "its thread has ended".to_owned() });
            }
        }
    }
}
