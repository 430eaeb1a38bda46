//! Tests of binding at the same time from several threads.

use super::*;
use mxrs_engine::{Engine, EngineConfig};
use mxrs_storage::{Storage, StorageConfig};
use std::sync::Barrier;

fn pool() -> MemoryPool {
    let engine = Engine::new(EngineConfig::default()).unwrap();
    MemoryPool::new(&ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap()))
}

/// Calls `get(0)` and `get(1)` at the same time on two threads, and returns both results.
fn race<T: Send>(get: impl Fn(usize) -> T + Sync) -> [T; 2] {
    let barrier = Barrier::new(2);
    let call = |i| {
        barrier.wait();
        get(i)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| call(1));
        [call(0), other.join().unwrap()]
    })
}

const ROUNDS: usize = 2000;

#[test]
fn two_threads_that_bind_at_once_get_the_same_parameter() {
    let pool = pool();
    for round in 0..ROUNDS {
        let name = format!("w{round}");
        let [one, two] = race(|_| pool.fixed(&name, &Shape::from([4]), DType::F32, Device::cpu(0)).unwrap());
        assert!(one.shares_storage(&two), "round {round}");
    }
}

#[test]
fn of_two_threads_that_want_different_shapes_one_gets_an_error() {
    let pool = pool();
    for round in 0..ROUNDS {
        let name = format!("w{round}");
        let results = race(|i| pool.fixed(&name, &Shape::from([4 + i]), DType::F32, Device::cpu(0)));
        assert_eq!(results.iter().filter(|result| result.is_err()).count(), 1, "round {round}");
    }
}

#[test]
fn two_threads_that_bind_at_once_get_views_of_one_buffer() {
    let pool = pool();
    for round in 0..ROUNDS {
        let name = format!("x{round}");
        let shape = Shape::from([4]);
        let [one, two] = race(|_| pool.view(&name, &shape, DType::F32, Device::cpu(0)).unwrap());
        assert!(one.shares_storage(&two), "round {round}");
    }
}

#[test]
fn a_small_buffer_does_not_replace_a_larger_one() {
    let pool = pool();
    for round in 0..ROUNDS {
        let name = format!("x{round}");
        let sizes = [4, 1000].map(|n| Shape::from([n]));
        let [_, large] = race(|i| pool.view(&name, &sizes[i], DType::F32, Device::cpu(0)).unwrap());
        let next = pool.view(&name, &sizes[0], DType::F32, Device::cpu(0)).unwrap();
        assert!(next.shares_storage(&large), "round {round}");
    }
}
