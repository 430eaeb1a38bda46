//! What stores of several workers guarantee about the order of pushes, pulls and sums. Each test quotes the sentence that it
//! checks. Further such tests are in `sums.rs` and `updates.rs`.

use super::changed::{Change, VALUE, changed, header_of};
use super::sums::{folded, value_of};
use super::{on_wires, on_workers, on_workers_with, pulled, store_of};
use crate::common::{bits, context, numbers, on, outs, values};
use mxrs_kvstore::dist::{DistSync, GroupOptions, Packet, Wire, local_workers};
use mxrs_kvstore::{KvStore, KvStoreOptions, Update};
use mxrs_types::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a worker waits for another one that does not wait for it.
const DEADLINE: Duration = Duration::from_secs(60);

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// "round-based BSP per key": the sum of a round is there only after every worker has pushed in this round, even if one of
/// them is slow.
#[test]
fn a_round_ends_when_every_worker_has_pushed() {
    let (n_workers, n_rounds) = (3, 6);
    for name in ["dist_sync", "p3"] {
        let n_pushed: Vec<AtomicU64> = (0..n_workers).map(|_| AtomicU64::new(0)).collect();
        on_workers(n_workers, |group| {
            let context = context();
            let store = store_of(name, &context, &KvStoreOptions::default(), &group);
            store.init(&[("w".into(), on(&context, 0, &[1], &[0.0f32]))]).unwrap();
            for round in 0..n_rounds {
                if group.rank() == 2 {
                    std::thread::sleep(millis(20));
                }
                n_pushed[group.rank()].store(round + 1, Ordering::SeqCst);
                store.push(&values("w", &[on(&context, 0, &[1], &[round as f32])]), 0).unwrap();
                assert_eq!(pulled(&context, &store, "w", &[1]).unwrap(), [3.0 * round as f32]);
                let least = n_pushed.iter().map(|n| n.load(Ordering::SeqCst)).min().unwrap();
                assert!(least > round, "{name}: worker {} has round {round}, one has begun {least}", group.rank());
            }
        });
    }
}

/// In MXNet, a round ends "when the *number of requests* equals NUM_WORKER (sender identity is not checked)". Here the second
/// push of one worker belongs to the next round.
#[test]
fn two_pushes_of_one_worker_are_two_rounds() {
    let sums = on_workers(2, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        let array = |value: f32| on(&context, 0, &[1], &[value]);
        store.init(&[("w".into(), array(0.0))]).unwrap();
        let push = |value: f32| store.push(&values("w", &[array(value)]), 0).unwrap();
        push(0.0);
        group.barrier().unwrap();
        if group.rank() == 1 {
            push(10.0);
            push(20.0);
        } else {
            std::thread::sleep(millis(100));
            push(1.0);
            assert_eq!(pulled(&context, &store, "w", &[1]).unwrap(), [11.0]);
            push(2.0);
        }
        pulled(&context, &store, "w", &[1]).unwrap()
    });
    assert_eq!(sums, [[22.0], [22.0]]);
}

/// "no order between keys": a round of one key is complete although another worker has not begun the round of a key that
/// was pushed before it.
#[test]
fn keys_do_not_wait_for_each_other() {
    let is_read = AtomicBool::new(false);
    let results = on_workers(2, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        let array = |value: f32| on(&context, 0, &[3], &[value; 3]);
        store.init(&[("a".into(), array(0.0)), ("b".into(), array(0.0))]).unwrap();
        let push = |key: &str, value: f32| store.push(&values(key, &[array(value)]), 0).unwrap();
        let pull = |key: &str| pulled(&context, &store, key, &[3]).unwrap();
        let since = Instant::now();
        if group.rank() == 0 {
            push("a", 1.0);
            push("b", 2.0);
            assert_eq!(pull("b"), [22.0; 3]);
            is_read.store(true, Ordering::SeqCst);
        } else {
            push("b", 20.0);
            while !is_read.load(Ordering::SeqCst) && since.elapsed() < DEADLINE {
                std::thread::sleep(millis(5));
            }
            push("a", 10.0);
        }
        (since.elapsed() < DEADLINE, pull("a"), pull("b"))
    });
    let expected = (true, vec![11.0; 3], vec![22.0; 3]);
    assert_eq!(results, [expected.clone(), expected]);
}

/// A barrier "does not flush outstanding pushes": it ends although a round is not complete.
#[test]
fn a_barrier_does_not_wait_for_pushes() {
    let options = |_| GroupOptions { patience: DEADLINE, ..GroupOptions::default() };
    let sums = on_workers_with(2, options, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        let array = |value: f32| on(&context, 0, &[1], &[value]);
        store.init(&[("w".into(), array(0.0))]).unwrap();
        let push = |value: f32| store.push(&values("w", &[array(value)]), 0).unwrap();
        push(0.0);
        if group.rank() == 0 {
            push(1.0);
            store.barrier().unwrap();
        } else {
            store.barrier().unwrap();
            push(2.0);
        }
        pulled(&context, &store, "w", &[1]).unwrap()
    });
    assert_eq!(sums, [[3.0], [3.0]]);
}

/// The round in which a message is sent twice.
const ROUND: u64 = 2;

/// Sends each value of the round [`ROUND`] twice.
struct Twice {
    /// Whether the second copy is sent after the round, before the next message.
    is_late: bool,
    held: Option<(usize, Arc<Packet>)>,
}

impl Change for Twice {
    fn send(&mut self, wire: &mut dyn Wire, to: usize, packet: Arc<Packet>) -> Result<()> {
        if let Some((to, packet)) = self.held.take() {
            wire.send(to, packet)?;
        }
        let (kind, _, round) = header_of(&packet);
        if kind == VALUE && round == ROUND {
            let copy = Arc::new(Packet::clone(&packet));
            match self.is_late {
                true => self.held = Some((to, copy)),
                false => wire.send(to, copy)?,
            }
        }
        wire.send(to, packet)
    }
}

/// "duplicate push in one round is an error naming rank, key, round": on every worker, whether the second message arrives
/// before the round has begun on the owner, before it is complete, or after it.
#[test]
fn a_duplicate_push_is_an_error_that_names_rank_key_and_round() {
    // Worker 0 owns the key. The numbers are the milliseconds by which each worker is late in the round.
    for (late, is_late) in [([0, 0, 200], false), ([300, 100, 0], false), ([0, 0, 0], true)] {
        let mut connects = local_workers(3);
        let connect = connects.remove(1);
        connects.insert(1, changed(connect, Twice { is_late, held: None }));
        let errors = on_wires(
            connects,
            |_| GroupOptions::default(),
            |group| {
                let context = context();
                let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
                store.init(&[("w".into(), on(&context, 0, &[2], &[0.0f32; 2]))]).unwrap();
                for round in 0..ROUND + 3 {
                    if round == ROUND {
                        std::thread::sleep(millis(late[group.rank()]));
                    }
                    let value = on(&context, 0, &[2], &[1.0f32, 2.0]);
                    let pushed = store.push(&values("w", &[value]), 0);
                    match pushed.and_then(|()| pulled(&context, &store, "w", &[2])) {
                        Ok(sum) => assert_eq!(sum, [3.0, 6.0], "round {round}"),
                        Err(error) => return (error.to_string(), group),
                    }
                }
                ("no error".to_owned(), group)
            },
        );
        // The groups live until here. Otherwise a worker could learn that another one is gone before it learns why.
        for (error, _group) in errors {
            let is_named = ["worker 1", "key `w`", "round 2"].iter().all(|word| error.contains(word));
            assert!(is_named, "{late:?}, {is_late}: {error}");
        }
    }
}

/// "as dist_sync, gradients only": a pull of `p3` returns the sum of the round of the own push, and the store refuses to
/// update weights.
#[test]
fn p3_is_as_dist_sync_for_gradients_only() {
    let (n, n_workers) = (100, 3);
    let options = KvStoreOptions { slice_elements: 7, ..KvStoreOptions::default() };
    let results = on_workers(n_workers, |group| {
        let context = context();
        let store = store_of("p3", &context, &options, &group);
        let refused = store.set_updater(Box::new(|_: &[Update]| Ok(()))).unwrap_err().to_string();
        assert!(refused.contains("only sums"), "{refused}");
        for key in ["a", "b"] {
            store.init(&[(key.into(), on(&context, 0, &[n], &vec![9.0f32; n]))]).unwrap();
        }
        let mut pulls = Vec::new();
        for round in 0..5 {
            std::thread::sleep(millis(group.rank() as u64 * (round % 3)));
            for (i, key) in ["a", "b"].into_iter().enumerate() {
                let value = on(&context, 0, &[n], &value_of(group.rank(), round + 100 * i as u64, n));
                store.push(&values(key, &[value]), -(i as i32)).unwrap();
            }
            pulls.push(["a", "b"].map(|key| pulled(&context, &store, key, &[n]).unwrap()));
        }
        pulls
    });
    for pulls in results {
        for (round, got) in (0..5).zip(&pulls) {
            for (got, add) in got.iter().zip([0, 100]) {
                let all: Vec<_> = (0..n_workers).map(|rank| value_of(rank, round + add, n)).collect();
                assert_eq!(bits(got), bits(&folded(&all)), "round {round}");
            }
        }
    }
}

/// In MXNet's `p3`, "arrays initialised in non-ascending key order can collide", because a slice is known by the number of its
/// key plus a counter. "mxrs: id = (key, slice)": the keys descend here, and each has several slices.
#[test]
fn keys_of_p3_do_not_collide_in_any_order() {
    const KEYS: [i64; 4] = [3, 2, 1, 0];
    let n = 65;
    let options = KvStoreOptions { slice_elements: 10, ..KvStoreOptions::default() };
    on_workers(2, |group| {
        let context = context();
        let store = store_of("p3", &context, &options, &group);
        for key in KEYS {
            store.init(&[(key.into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
        }
        for round in 0..3 {
            let of = |rank: usize, key: i64| value_of(rank, round + 10 * key as u64, n);
            let arrays = KEYS.map(|key| on(&context, 0, &[n], &of(group.rank(), key)));
            for (key, array) in KEYS.into_iter().zip(&arrays) {
                store.pushpull(&values(key, std::slice::from_ref(array)), &[], -(key as i32)).unwrap();
            }
            for (key, array) in KEYS.into_iter().zip(&arrays) {
                let expected = folded(&[of(0, key), of(1, key)]);
                assert_eq!(bits(&array.to_vec::<f32>().unwrap()), bits(&expected), "key {key}, round {round}");
            }
        }
    });
}

/// "every rank gets the same sum, same bits on all ranks; no store": `horovod` does "sum (not mean)", has "no optimizer in the
/// store", makes a "`broadcast` from rank 0", and a "`pushpull` in place if `out` is None". The other store with these rules,
/// `byteps`, is not built.
#[test]
fn horovod_gives_every_rank_the_same_sum() {
    let n = 1000;
    let options = KvStoreOptions { big_array_elements: 100, ..KvStoreOptions::default() };
    let results = on_workers(3, |group| {
        let context = context();
        let store = store_of("horovod", &context, &options, &group);
        assert_eq!((store.rank(), store.num_workers()), (group.rank(), 3));
        assert!(store.set_updater(Box::new(|_: &[Update]| Ok(()))).is_err(), "it has an optimizer");
        let own = on(&context, 0, &[n], &numbers(group.rank() as u64 + 50, n));
        let first = on(&context, 0, &[n], &vec![0.0f32; n]);
        store.broadcast(&[("w".into(), own)], &outs("w", std::slice::from_ref(&first)), 0).unwrap();
        let gradient = on(&context, 0, &[n], &value_of(group.rank(), 0, n));
        store.pushpull(&values("w", std::slice::from_ref(&gradient)), &[], 0).unwrap();
        [first, gradient].map(|array| array.to_vec::<f32>().unwrap())
    });
    let sum = folded(&(0..3).map(|rank| value_of(rank, 0, n)).collect::<Vec<_>>());
    for [first, gradient] in &results {
        assert_eq!(bits(first), bits(&numbers(50, n)));
        assert_eq!(bits(gradient), bits(&sum));
    }
    on_workers(1, |group| {
        let byteps = DistSync::new("byteps".parse().unwrap(), &context(), &KvStoreOptions::default(), &group);
        let error = byteps.err().expect("an error").to_string();
        assert!(error.contains("byteps") && error.contains("horovod"), "{error}");
    });
}
