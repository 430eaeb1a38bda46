//! Runs random copies, views, writes, reads and deletions on several devices, and compares the arrays with plain vectors on
//! which the same operations were done.

use crate::*;
use mxrs_storage::{PoolConfig, PoolKind};
use mxrs_types::DType;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const N_ROWS: usize = 8;
const N_COLUMNS: usize = 3;

/// An array and what it must hold.
struct Pair {
    array: NdArray,
    values: Vec<f32>,
}

impl Pair {
    fn random(world: &World, rng: &mut ChaCha8Rng) -> Self {
        let device = PLACES[rng.random_range(0..PLACES.len())];
        let shape = [N_ROWS, N_COLUMNS];
        if rng.random_bool(0.3) {
            let array = NdArray::zeros_on(&world.context, shape, DType::F32, device).unwrap();
            return Self { array, values: vec![0.0; N_ROWS * N_COLUMNS] };
        }
        let values = values(rng, N_ROWS);
        Self { array: NdArray::from_slice_on(&world.context, shape, &values, device).unwrap(), values }
    }

    fn rows(&self, begin: usize, n: usize) -> NdArray {
        self.array.slice(begin, begin + n).unwrap()
    }
}

fn values(rng: &mut ChaCha8Rng, n_rows: usize) -> Vec<f32> {
    (0..n_rows * N_COLUMNS).map(|_| rng.random_range(0..1000) as f32).collect()
}

#[test]
fn random_programs_agree_with_vectors() {
    let n_programs = if cfg!(miri) { 2 } else { 30 };
    for engine in ENGINES {
        for seed in 0..n_programs {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let world = World::new(engine);
            world.gpus[0].set_peers(seed % 2 == 0);
            run(&world, &mut rng, &format!("{engine:?}, seed {seed}"));
            world.gpus[0].checker().assert_clean();
            world.assert_empty();
        }
    }
}

/// Runs random programs with each kind of pool, because pools reuse and return memory in different ways.
#[test]
fn random_programs_agree_with_every_pool() {
    for kind in [PoolKind::Naive, PoolKind::Round, PoolKind::Unpooled, PoolKind::BestFit] {
        for seed in 100..if cfg!(miri) { 101 } else { 110 } {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let world = World::with_storage(ENGINES[3], StorageConfig::uniform(PoolConfig::of_kind(kind)));
            run(&world, &mut rng, &format!("{kind}, seed {seed}"));
            world.gpus[0].checker().assert_clean();
            world.assert_empty();
        }
    }
}

fn run(world: &World, rng: &mut ChaCha8Rng, what: &str) {
    let mut pairs: Vec<Pair> = (0..4).map(|_| Pair::random(world, rng)).collect();
    for step in 0..60 {
        let (i, j) = (rng.random_range(0..pairs.len()), rng.random_range(0..pairs.len()));
        let n = rng.random_range(0..=N_ROWS);
        let (from, to) = (rng.random_range(0..=N_ROWS - n), rng.random_range(0..=N_ROWS - n));
        let (at, len) = (to * N_COLUMNS, n * N_COLUMNS);
        match rng.random_range(0..10) {
            0..4 => {
                pairs[j].rows(to, n).copy_from_array(&pairs[i].rows(from, n)).unwrap();
                let copied = pairs[i].values[from * N_COLUMNS..][..len].to_vec();
                pairs[j].values[at..at + len].copy_from_slice(&copied);
            }
            4 => {
                let new = values(rng, n);
                pairs[j].rows(to, n).reshape([len]).unwrap().copy_from(&new).unwrap();
                pairs[j].values[at..at + len].copy_from_slice(&new);
            }
            5 if n > 0 => {
                let write = |bytes: &mut [u8]| {
                    bytes[..4].copy_from_slice(&(-1.0f32).to_ne_bytes());
                    Ok(())
                };
                pairs[j].rows(to, n).write_later(write).unwrap();
                pairs[j].values[at] = -1.0;
            }
            6 => {
                let device = PLACES[rng.random_range(0..PLACES.len())];
                pairs[j].array = pairs[j].array.as_in_context(&world.context, device).unwrap();
            }
            7 => pairs[j] = Pair::random(world, rng),
            8 => {
                let read = pairs[i].rows(from, n).to_vec::<f32>().unwrap();
                assert_eq!(read, pairs[i].values[from * N_COLUMNS..][..len], "{what}, step {step}");
            }
            _ => {
                let views = pairs.iter().map(|pair| &pair.array).collect::<Vec<_>>();
                let whole = NdArray::read_later(&views, |bytes| bytes.concat()).unwrap().wait().unwrap();
                let expected: Vec<u8> =
                    pairs.iter().flat_map(|pair| &pair.values).flat_map(|value| value.to_ne_bytes()).collect();
                assert_eq!(whole, expected, "{what}, step {step}");
            }
        }
    }
    for pair in &pairs {
        assert_eq!(pair.array.to_vec::<f32>().unwrap(), pair.values, "{what}, end");
    }
}
