//! The order in which an owner sends sums back.

use super::changed::{Change, OUTCOME, VALUE, changed, header_of};
use super::{on_wires, store_of};
use crate::common::{context, on, values};
use mxrs_kvstore::dist::{GroupOptions, Packet, Wire, local_workers};
use mxrs_kvstore::{KvStore, KvStoreOptions};
use mxrs_types::Result;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The priorities of the keys that worker 0 owns.
const PRIORITIES: [i32; 5] = [-3, 7, 0, -4, 2];
/// For each try, the milliseconds in which messages that were received are handled. Only a thread that the system holds up for
/// longer makes a try fail, and then there is another one.
const PAUSES: [u64; 7] = [20, 50, 100, 300, 1000, 3000, 9000];

/// Holds back what worker 0 sends while it is closed, and notes the keys of the sums that it sends.
#[derive(Default)]
struct Gate {
    is_closed: AtomicBool,
    /// The number of gradients that worker 0 has received.
    n_values: AtomicUsize,
    sent: Mutex<Vec<u32>>,
}

impl Change for Arc<Gate> {
    fn send(&mut self, wire: &mut dyn Wire, to: usize, packet: Arc<Packet>) -> Result<()> {
        let (kind, key, _) = header_of(&packet);
        if kind == OUTCOME {
            self.sent.lock().unwrap().push(key);
        }
        wire.send(to, packet)
    }

    fn n_unsent(&mut self, wire: &mut dyn Wire, to: usize) -> usize {
        if self.is_closed.load(Ordering::SeqCst) { usize::MAX } else { wire.n_unsent(to) }
    }

    fn received(&mut self, packet: &Packet) {
        if header_of(packet).0 == VALUE {
            self.n_values.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// A gate that is closed until this value is dropped, so that a test that fails does not leave it closed.
struct Closed<'a>(&'a Gate);

impl<'a> Closed<'a> {
    fn new(gate: &'a Gate) -> Self {
        gate.is_closed.store(true, Ordering::SeqCst);
        Self(gate)
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.is_closed.store(false, Ordering::SeqCst);
    }
}

fn wait_until(what: &str, is: impl Fn() -> bool) {
    let since = Instant::now();
    while !is() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// "priority in both directions": MXNet's servers answer with priority 0. Here an owner whose messages wait sends the sums by the
/// priorities of its pushes, although the gradients have arrived in another order.
#[test]
fn owners_send_sums_by_priority() {
    // In `p3`, the workers own the slices in turn, and each of these keys is one slice. So worker 0 owns the keys 0, 2, 4, …
    let n_keys = 2 * PRIORITIES.len();
    let gate = Arc::new(Gate::default());
    let mut connects = local_workers(2);
    let connect = connects.remove(0);
    connects.insert(0, changed(connect, Arc::clone(&gate)));
    let mut expected: Vec<u32> = (0..n_keys as u32).step_by(2).collect();
    expected.sort_by_key(|key| -PRIORITIES[*key as usize / 2]);
    assert_eq!(expected, [2, 8, 4, 0, 6]);
    let (n_ready, n_begun, is_found) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let orders = on_wires(
        connects,
        |_| GroupOptions::default(),
        |group| {
            let context = context();
            let store = store_of("p3", &context, &KvStoreOptions::default(), &group);
            let array = || on(&context, 0, &[4], &[1.0f32; 4]);
            for key in 0..n_keys as i64 {
                store.init(&[(key.into(), array())]).unwrap();
            }
            let mut orders = Vec::new();
            for round in 0..=PAUSES.len() as u64 {
                // In round 0 the gate stays open: the first push exchanges the plan.
                let pause = round.checked_sub(1).map(|i| Duration::from_millis(PAUSES[i as usize]));
                let arrays: Vec<_> = (0..n_keys).map(|_| array()).collect();
                let push = |key: usize, priority: i32| {
                    store.pushpull(&values(key as i64, &arrays[key..key + 1]), &[], priority).unwrap();
                };
                if group.rank() == 0 {
                    wait_until("worker 1 has the last round", || n_ready.load(Ordering::SeqCst) > round);
                    gate.sent.lock().unwrap().clear();
                    let before = gate.n_values.load(Ordering::SeqCst);
                    let closed = pause.map(|_| Closed::new(&gate));
                    (0..n_keys).for_each(|key| push(key, PRIORITIES[key / 2]));
                    n_begun.store(round + 1, Ordering::SeqCst);
                    if let Some(pause) = pause {
                        wait_until("the gradients of worker 1", || {
                            gate.n_values.load(Ordering::SeqCst) - before == PRIORITIES.len()
                        });
                        std::thread::sleep(pause);
                    }
                    drop(closed);
                } else {
                    n_ready.store(round + 1, Ordering::SeqCst);
                    wait_until("the pushes of worker 0", || {
                        round == 0 || n_begun.load(Ordering::SeqCst) > round || is_found.load(Ordering::SeqCst)
                    });
                    if is_found.load(Ordering::SeqCst) {
                        break;
                    }
                    (0..n_keys).for_each(|key| push(key, 0));
                }
                for array in &arrays {
                    assert_eq!(array.to_vec::<f32>().unwrap(), [2.0; 4]);
                }
                if group.rank() == 0 && round > 0 {
                    orders.push(gate.sent.lock().unwrap().clone());
                    if orders.last() == Some(&expected) {
                        is_found.store(true, Ordering::SeqCst);
                        break;
                    }
                }
            }
            orders
        },
    );
    assert_eq!(orders[0].last(), Some(&expected), "{:?}", orders[0]);
}
