//! Tests executors that share memory: pools, buckets, reshaped executors.

mod common;

use common::{Net, context, live_bytes, numbers, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{
    BindOptions, Bucket, BucketingExecutor, Executor, GradReq, GradRequests, Imperative, MemoryPool, ReshapeOptions,
};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{Device, Result, Shape};
use proptest::prelude::*;

/// A recurrent network: one layer applied `steps` times with the same weights, then batch normalization and dropout.
fn unrolled(steps: usize) -> Graph {
    let mut net = Net::new();
    let mut call = |op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]| net.call_with(op, attrs, inputs);
    let (mut state, weight, bias) = (Symbol::variable("data"), Symbol::variable("weight"), Symbol::variable("bias"));
    for _ in 0..steps {
        state = call("FullyConnected", &[("num_hidden", "6")], &[&state, &weight, &bias]);
        state = call("tanh", &[], &[&state]);
    }
    let [gamma, beta, mean, var] = ["gamma", "beta", "mean", "var"].map(Symbol::variable);
    state = call("BatchNorm", &[("fix_gamma", "False")], &[&state, &gamma, &beta, &mean, &var]);
    call("Dropout", &[("p", "0.5")], &[&state]).graph().expect("a well-formed graph")
}

type Key = (usize, usize);

/// The graph of `steps` layers, and the input shape for a batch of `batch` examples.
fn bucket((steps, batch): &Key) -> Result<Bucket> {
    Ok(Bucket { graph: unrolled(*steps), inputs: vec![("data".into(), Shape::from([*batch, 6]))] })
}

fn training() -> BindOptions {
    let gradients = Some(GradRequests::all(GradReq::Write).with("weight", GradReq::Add));
    BindOptions { gradients, ..options() }
}

/// Fills an array with numbers for which `tanh` is not saturated. Variances are positive.
fn fill(array: &NdArray, seed: u64) {
    let values = numbers(array.shape().n_elements(), seed);
    let values: Vec<f32> = values.iter().map(|v| (if seed == VARIANCE { v.abs() } else { v * 0.5 }) as f32).collect();
    array.copy_from(&values).expect("the shape of the array");
}

const VARIANCE: u64 = 1000;

/// Fills the parameters and the gradient of the weight with fixed numbers, the same in every executor.
fn fill_parameters(executor: &Executor) {
    for (seed, (name, array)) in executor.arrays().iter().enumerate() {
        if name != "data" {
            fill(array, if name == "var" { VARIANCE } else { seed as u64 + 1 });
        }
    }
    fill(executor.gradient("weight").unwrap(), 77);
}

fn bits(array: &NdArray) -> Vec<u32> {
    array.to_vec::<f32>().expect("a computed array").into_iter().map(f32::to_bits).collect()
}

/// Runs one training step and one inference run on data of `seed`, and returns the bits of outputs, gradients and
/// statistics.
fn step(executor: &Executor, context: &ArrayContext, seed: u64) -> Vec<Vec<u32>> {
    context.random().seed(seed);
    fill(executor.argument("data").unwrap(), seed);
    executor.forward_train().unwrap();
    let mut seen: Vec<_> = executor.outputs().iter().map(bits).collect();
    executor.backward(executor.outputs()).unwrap();
    seen.extend(executor.gradients().iter().map(|g| bits(&g.array)));
    seen.extend(["mean", "var"].map(|name| bits(executor.argument(name).unwrap())));
    executor.forward().unwrap();
    seen.extend(executor.outputs().iter().map(bits));
    seen
}

fn bind(key: &Key, context: &ArrayContext, options: &BindOptions) -> Executor {
    let Bucket { graph, inputs } = bucket(key).unwrap();
    let inputs: Vec<_> = inputs.iter().map(|(n, s)| (n.as_str(), s.clone())).collect();
    Executor::simple_bind(&graph, context, &inputs, options).unwrap()
}

fn key() -> impl Strategy<Value = Key> {
    (1usize..5, 1usize..6)
}

/// Rule B1: inference on the same data twice gives the same bits.
#[test]
fn b1_inference_twice_is_equal() {
    for pool in [false, true] {
        let context = context(EngineKind::ThreadedPerDevice, 2);
        let pool = pool.then(|| MemoryPool::new(&context));
        let executor = bind(&(3, 4), &context, &BindOptions { pool, ..training() });
        fill_parameters(&executor);
        fill(executor.argument("data").unwrap(), 5);
        executor.forward().unwrap();
        let first = bits(&executor.outputs()[0]);
        executor.forward().unwrap();
        assert_eq!(bits(&executor.outputs()[0]), first);
        // A training step in the same memory changes only the statistics.
        let statistics = ["mean", "var"].map(|n| executor.argument(n).unwrap().to_vec::<f32>().unwrap());
        executor.forward_train().unwrap();
        executor.backward(executor.outputs()).unwrap();
        for (name, values) in ["mean", "var"].iter().zip(&statistics) {
            executor.argument(name).unwrap().copy_from(values).unwrap();
        }
        executor.forward().unwrap();
        assert_eq!(bits(&executor.outputs()[0]), first);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Rule B2: for a random sequence of shapes, buckets compute the same results as new executors that share only
    /// parameters.
    #[test]
    fn b2_buckets_equal_fresh_executors(keys in prop::collection::vec(key(), 1..7), largest in key()) {
        let context = context(EngineKind::ThreadedPerDevice, 2);
        let mut buckets = BucketingExecutor::new(&context, &training(), largest, bucket).unwrap();
        fill_parameters(buckets.get(&largest).unwrap());
        // A new executor starts from the arrays of the previous one.
        let mut before: Option<Executor> = None;
        for (i, key) in keys.iter().enumerate() {
            let fresh = bind(key, &context, &training());
            match &before {
                None => fill_parameters(&fresh),
                Some(before) => {
                    for (name, array) in fresh.arrays().iter().filter(|(name, _)| name != "data") {
                        array.copy_from_array(before.argument(name).unwrap()).unwrap();
                    }
                    let weight = fresh.gradient("weight").unwrap();
                    weight.copy_from_array(before.gradient("weight").unwrap()).unwrap();
                }
            }
            let expected = step(&fresh, &context, i as u64);
            let got = step(buckets.get(key).unwrap(), &context, i as u64);
            prop_assert_eq!(got, expected, "bucket {} of {:?}", i, &keys);
            before = Some(fresh);
        }
    }

    /// Rule B3: all buckets together need no more memory than the largest bucket and the parameters, for inference and
    /// training together.
    #[test]
    fn b3_memory_is_that_of_the_largest(keys in prop::collection::vec(key(), 1..6)) {
        let largest = (4, 5);
        let peak = |keys: &[Key]| {
            let context = context(EngineKind::Naive, 1);
            let mut buckets = BucketingExecutor::new(&context, &training(), largest, bucket).unwrap();
            for key in [largest].iter().chain(keys) {
                step(buckets.get(key).unwrap(), &context, 1);
            }
            let parameters: usize =
                buckets.get(&largest).unwrap().arrays().iter().filter(|(n, _)| n != "data").map(|(_, a)| a.size_bytes()).sum();
            (context.storage().stats(Device::cpu(0)).peak_live_requested, parameters as u64)
        };
        let ((all, parameters), (one, _)) = (peak(&keys), peak(&[]));
        prop_assert!(all <= one + parameters, "{} with all, {} with the largest, {} of parameters", all, one, parameters);
    }
}

/// Once every bucket has run, changing from one to another allocates and binds nothing.
#[test]
fn warm_steps_of_buckets_allocate_nothing() {
    let context = context(EngineKind::Naive, 1);
    let mut buckets = BucketingExecutor::new(&context, &training(), (4, 5), bucket).unwrap();
    let keys = [(4, 5), (2, 3), (1, 5), (3, 1)];
    let mut round = || {
        for key in &keys {
            let executor = buckets.get(key).unwrap();
            executor.forward_train().unwrap();
            executor.backward(executor.outputs()).unwrap();
            executor.forward().unwrap();
        }
    };
    round();
    let allocations = || context.storage().stats(Device::cpu(0)).allocations;
    let before = allocations();
    (0..5).for_each(|_| round());
    assert_eq!(allocations(), before);
    assert_eq!(buckets.keys().count(), 4);
}

/// Temporaries of all buckets are in one block, which inference and training share.
#[test]
fn temporaries_are_in_one_block() {
    let context = context(EngineKind::Naive, 1);
    let mut buckets = BucketingExecutor::new(&context, &training(), (4, 5), bucket).unwrap();
    let bytes = buckets.get(&(4, 5)).unwrap().training_report().unwrap().arena_bytes;
    for key in [(4, 5), (1, 1), (2, 4)] {
        let executor = buckets.get(&key).unwrap();
        executor.forward().unwrap();
        assert!(executor.report().unwrap().arena_bytes <= bytes);
        assert_eq!(executor.pool().arena_bytes(), bytes, "{key:?}");
    }
    // A larger bucket gets a larger block, and the other buckets keep theirs.
    buckets.get(&(6, 9)).unwrap();
    assert!(buckets.pool().arena_bytes() > bytes);
}

/// The memory of a pool is freed with its last executor, even if runs are pending.
#[test]
fn a_pool_frees_its_memory() {
    let nd = Imperative::new(&context(EngineKind::ThreadedPerDevice, 2), &options()).unwrap();
    let before = live_bytes(&nd);
    {
        let mut buckets = BucketingExecutor::new(nd.context(), &training(), (4, 5), bucket).unwrap();
        for key in [(4, 5), (2, 2)] {
            buckets.get(&key).unwrap().forward_train().unwrap();
        }
    }
    assert_eq!(live_bytes(&nd), before);
}

/// Parameters are the same arrays in all executors of a pool. If their shapes differ, the error names the parameter and
/// both shapes.
#[test]
fn parameters_of_a_pool_have_one_shape() {
    let context = context(EngineKind::Naive, 1);
    let first = bind(&(2, 3), &context, &training());
    let options = BindOptions { pool: Some(first.pool().clone()), ..training() };
    let second = bind(&(1, 2), &context, &options);
    for (name, array) in second.arrays() {
        assert_eq!(array.shares_storage(first.argument(name).unwrap()), name != "data", "{name}");
    }
    assert!(second.gradient("weight").unwrap().shares_storage(first.gradient("weight").unwrap()));
    assert!(!second.gradient("data").unwrap().shares_storage(first.gradient("data").unwrap()));

    let (data, weight, bias) = (Symbol::variable("data"), Symbol::variable("weight"), Symbol::variable("bias"));
    let layer = Net::new().call_with("FullyConnected", &[("num_hidden", "6")], &[&data, &weight, &bias]);
    let graph = layer.graph().unwrap();
    let error =
        Executor::simple_bind(&graph, &context, &[("data", [2, 4].into())], &options).err().unwrap().to_string();
    assert!(["`weight`", "(6, 4)", "(6, 6)", "pool"].iter().all(|part| error.contains(part)), "{error}");
}

/// A gradient is refused if another executor of the pool has overwritten the temporaries of its run.
#[test]
fn interleaved_executors_of_a_pool_are_noticed() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let first = bind(&(2, 3), &context, &training());
    let second = bind(&(1, 2), &context, &BindOptions { pool: Some(first.pool().clone()), ..training() });
    for run in [Executor::forward as fn(&Executor) -> Result<()>, Executor::forward_train] {
        first.forward_train().unwrap();
        run(&second).unwrap();
        let error = first.backward(first.outputs()).unwrap_err().to_string();
        assert!(error.contains("interleaved") && error.contains("pool"), "{error}");
    }
    // Executors of a pool may run whole training steps in turn. Runs of executors outside the pool have no effect on them.
    let stranger = bind(&(1, 2), &context, &training());
    for executor in [&first, &second, &first] {
        executor.forward_train().unwrap();
        stranger.forward().unwrap();
        executor.backward(executor.outputs()).unwrap();
    }
}

/// Runs of executors of one pool on different threads do not mix.
#[test]
fn runs_of_a_pool_do_not_mix() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let options = BindOptions { bulk_inference: false, ..options() };
    let first = bind(&(20, 3), &context, &options);
    for (seed, (name, array)) in first.arrays().iter().enumerate() {
        fill(array, if name == "var" { VARIANCE } else { seed as u64 + 1 });
    }
    let second = bind(&(20, 3), &context, &BindOptions { pool: Some(first.pool().clone()), ..options });
    fill(second.argument("data").unwrap(), 99);
    let [a, b] = [&first, &second].map(|executor| {
        executor.forward().unwrap();
        bits(&executor.outputs()[0])
    });
    assert_ne!(a, b);
    std::thread::scope(|scope| {
        for (executor, expected) in [(&first, &a), (&second, &b)] {
            scope.spawn(move || {
                for round in 0..200 {
                    executor.forward().unwrap();
                    assert_eq!(bits(&executor.outputs()[0]), *expected, "round {round}");
                }
            });
        }
    });
}

/// Rule B2: a reshaped executor computes the same results as a new executor, in the arrays of the old executor.
#[test]
fn b2_reshaped_executors_equal_fresh_ones() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let big = bind(&(2, 5), &context, &training());
    fill_parameters(&big);
    let blocks = context.storage().stats(Device::cpu(0)).allocations;
    let small = big.reshape(&[("data", [3, 6].into())], ReshapeOptions::default()).unwrap();
    // Only the output and the gradient of the output are new arrays.
    assert_eq!(context.storage().stats(Device::cpu(0)).allocations, blocks + 2);
    assert!(small.argument("data").unwrap().shares_storage(big.argument("data").unwrap()));
    assert!(small.gradient("data").unwrap().shares_storage(big.gradient("data").unwrap()));
    assert!(small.argument("weight").unwrap().shares_storage(big.argument("weight").unwrap()));
    let fresh = bind(&(2, 3), &context, &training());
    fill_parameters(&fresh);
    assert_eq!(step(&small, &context, 4), step(&fresh, &context, 4));
    // Reshaping to the shape that the executor already has is allowed, because no array grows.
    let back = small.reshape(&[("data", [3, 6].into())], ReshapeOptions::default()).unwrap();
    assert_eq!(back.outputs()[0].shape(), &Shape::from([3, 6]));
}

#[test]
fn reshape_refuses_what_was_not_allowed() {
    let context = context(EngineKind::Naive, 1);
    let executor = bind(&(2, 3), &context, &training());
    let grow = [("data", Shape::from([4, 6]))];
    let error = executor.reshape(&grow, ReshapeOptions::default()).err().unwrap().to_string();
    assert!(["`data`", "(3, 6)", "(4, 6)", "allow_up_sizing"].iter().all(|p| error.contains(p)), "{error}");
    let up = ReshapeOptions { allow_up_sizing: true, ..ReshapeOptions::default() };
    let larger = executor.reshape(&grow, up).unwrap();
    assert!(!larger.argument("data").unwrap().shares_storage(executor.argument("data").unwrap()));
    assert!(larger.argument("weight").unwrap().shares_storage(executor.argument("weight").unwrap()));

    let narrow = [("data", Shape::from([3, 6]))];
    executor.reshape(&narrow, ReshapeOptions::default()).unwrap();
    let one = bind(&(1, 3), &context, &training());
    // With narrower data, the weight would have to change its shape too.
    let narrow = [("data", Shape::from([3, 4]))];
    let error = one.reshape(&narrow, ReshapeOptions::default()).err().unwrap().to_string();
    assert!(["`weight`", "(6, 4)", "(6, 6)", "partial_shaping"].iter().all(|p| error.contains(p)), "{error}");
    let partial = ReshapeOptions { partial_shaping: true, ..ReshapeOptions::default() };
    assert_eq!(one.reshape(&narrow, partial).unwrap().argument("weight").unwrap().shape(), &Shape::from([6, 4]));
    assert!(executor.reshape(&[("date", [3, 6].into())], up).is_err());
}
