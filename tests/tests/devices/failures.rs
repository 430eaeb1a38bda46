//! Failures of the device. The error names the operator and the device, and no memory leaks. Afterwards the next step gives
//! correct results, and the host still works.

use super::{CPU, DEFAULT, ENGINES, GPU, World, assert_same, feed, push, results};
use mxrs::exec::{BindOptions, Executor, StepReport};

fn step(executor: &Executor) -> mxrs::Result<Vec<(String, Vec<u32>)>> {
    feed(executor)?;
    push(executor)?;
    for array in executor.outputs().iter().chain(executor.gradients().iter().map(|g| &g.array)) {
        array.wait_to_read()?;
    }
    results(executor)
}

fn want(world: &World, name: &str) -> Vec<(String, Vec<u32>)> {
    step(&world.training(name, CPU, |_| {}).unwrap()).unwrap()
}

#[test]
fn a_failing_launch_at_every_launch() {
    for engine in [DEFAULT, ENGINES[1], ENGINES[4]] {
        let world = World::new(engine);
        let want = want(&world, "lenet");
        let executor = world.training("lenet", GPU, |_| {}).unwrap();
        let launches = || world.gpu.gpu().counters().launches;
        // Waits, because filling the new arrays with zeros launches kernels too, and these must not be counted.
        world.runtime.engine().wait_for_all().unwrap();
        let before = launches();
        assert_same(&step(&executor).unwrap(), &want, "before failures");
        let n_launches = launches() - before;
        assert!(n_launches > 20, "{n_launches} launches");
        let (mut n_failed, mut named) = (0, Vec::new());
        for nth in 1..=n_launches {
            world.gpu.gpu().fail_launch(launches() + nth);
            if let Err(error) = step(&executor) {
                let error = error.to_string();
                assert!(error.contains("gpu(0)") && error.contains('`'), "launch {nth}: {error}");
                named.push(error);
                n_failed += 1;
            }
            let _ = world.runtime.engine().wait_for_all();
            assert_same(&step(&executor).unwrap(), &want, &format!("after failure {nth} on {engine:?}"));
        }
        assert!(n_failed * 2 > n_launches, "{n_failed} of {n_launches} failures were reported");
        for op in ["Convolution", "FullyConnected", "Pooling"] {
            assert!(named.iter().any(|error| error.contains(op)), "no error names {op}: {named:?}");
        }
        drop(executor);
        world.assert_empty();
        assert_same(&self::want(&world, "lenet"), &want, "the host");
    }
}

/// Eight requests in a row fail: after a failure the storage tries again, with a smaller size or after it has returned
/// cached blocks.
#[test]
fn out_of_memory_at_every_allocation() {
    let want = want(&World::new(DEFAULT), "lenet");
    let mut n_errors = 0;
    for nth in 1.. {
        let world = World::new(DEFAULT);
        let memory = world.gpu.memory();
        (nth..nth + 8).for_each(|nth| memory.fail_on_request(nth));
        let run = || step(&world.training("lenet", GPU, |_| {})?);
        match run() {
            Ok(got) => assert_same(&got, &want, "with a retry"),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("gpu(0)"), "allocation {nth}: {error}");
                n_errors += 1;
            }
        }
        world.assert_empty();
        assert_same(&self::want(&world, "lenet"), &want, "the host");
        if memory.counters().refusals == 0 {
            break;
        }
    }
    assert!(n_errors > 5, "{n_errors} allocations could fail");
}

/// Whether an error names the device, and the task that failed or whose work on the device failed. A task is named by the
/// first operator of its segment, or as a copy.
fn names_work(error: &str) -> bool {
    error.contains("gpu(0)") && (error.contains("running `") || error.contains("waiting for the work of `"))
}

/// The task that an error names as the one in or before which the work on the device failed.
fn origin(error: &str) -> &str {
    let rest = error.split_once("it failed in or before `").unwrap_or_else(|| panic!("no task is named: {error}")).1;
    rest.split_once("` on gpu(0)").unwrap_or_else(|| panic!("no device is named: {error}")).0
}

/// The first and the last step of a task, and the number of its steps.
fn first_and_last(task: &str) -> (&str, &str, usize) {
    let several = || {
        let (names, n) = task.strip_suffix(" steps)")?.rsplit_once(" (")?;
        let (first, last) = names.split_once(" to ")?;
        Some((first, last, n.parse().ok()?))
    };
    several().unwrap_or((task, task, 1))
}

/// If a launch fails, the error names the first and the last step of the task with this launch. It does so even if the host
/// waits for a later task.
#[test]
fn a_late_failure_names_the_task_in_which_it_began() {
    for engine in [DEFAULT, ENGINES[0], ENGINES[1]] {
        for size in [1, 3] {
            let world = World::new(engine);
            let bulks = |options: &mut BindOptions| {
                (options.bulk_train_forward, options.bulk_train_backward) = (size, size);
            };
            let executor = world.training("lenet", GPU, bulks).unwrap();
            step(&executor).unwrap();
            let steps = executor.training_report().unwrap().steps;
            let launches = || world.gpu.gpu().counters().launches;
            let before = launches();
            step(&executor).unwrap();
            let n_launches = launches() - before;
            let mut n_found = 0;
            for nth in 1..=n_launches {
                world.gpu.gpu().fail_launch(launches() + nth);
                let failed = step(&executor);
                let _ = world.runtime.engine().wait_for_all();
                let Err(error) = failed else { continue };
                let error = error.to_string();
                // The error text contains the name of the launch, made of operator and kernel, as in: launch 7, `Pooling
                // (max)`, failed on stream 0 ...
                let launch = error.split_once(", `").unwrap().1.split_once("`, failed").unwrap().0;
                if launch.starts_with("copy") || launch.starts_with("zeros") {
                    continue;
                }
                let task = origin(&error);
                let (first, last, n) = first_and_last(task);
                let is_task = |found: &&[StepReport]| found[0].name == first && found[n - 1].name == last;
                // More than one task can match, because the reorders for the inputs of one call have the same name.
                let tasks: Vec<&[StepReport]> = steps.windows(n).filter(is_task).collect();
                assert!(!tasks.is_empty(), "unknown steps: {error}");
                let is_one = |step: &StepReport| format!("{} ({})", step.op, step.kernel) == launch;
                let is_in = |task: &&[StepReport]| task.iter().any(is_one);
                assert!(tasks.iter().any(is_in), "`{launch}` is in none of these steps: {error}");
                n_found += 1;
            }
            assert!(n_found > 10, "{n_found} of {n_launches} failures were reported");
        }
    }
}

/// A training executor of resnet8 on the device. `start` holds the values of all its arrays before a step, and `want` the
/// expected results of a step from there.
struct Resnet8 {
    world: World,
    executor: Executor,
    start: Vec<Vec<f32>>,
    want: Vec<(String, Vec<u32>)>,
}

impl Resnet8 {
    fn new() -> Self {
        let world = World::new(DEFAULT);
        let executor = world.training("resnet8", GPU, |_| {}).unwrap();
        let start = executor.arrays().iter().map(|(_, array)| array.to_vec().unwrap()).collect();
        let want = want(&world, "resnet8");
        Self { world, executor, start, want }
    }

    /// Runs a step from the start values. All arrays are written first, because a failed step may have changed some means
    /// and variances. A failure of an earlier step was reported by a wait already, so it is not reported again.
    fn step(&self) -> mxrs::Result<Vec<(String, Vec<u32>)>> {
        for ((_, array), values) in self.executor.arrays().iter().zip(&self.start) {
            array.copy_from(values)?;
        }
        step(&self.executor)
    }

    /// Runs one step for each operation of the device that can fail. `count` returns the number of these operations so far,
    /// and `fail(n)` makes the `n`-th one fail. Each failure must be reported with the device and the name of the work.
    /// Afterwards no memory may leak, and the next step must give the same bits as before.
    fn fail_each(self, count: impl Fn(&World) -> u64, fail: impl Fn(&World, u64)) {
        let Self { world, want, .. } = &self;
        assert_same(&self.step().unwrap(), want, "before failures");
        world.runtime.engine().wait_for_all().unwrap();
        let before = count(world);
        assert_same(&self.step().unwrap(), want, "before failures");
        let n = count(world) - before;
        let live = world.runtime.storage().stats(GPU);
        for nth in 1..=n {
            fail(world, count(world) + nth);
            let error = self.step().expect_err("an error").to_string();
            assert!(names_work(&error), "failure {nth} of {n}: {error}");
            let _ = world.runtime.engine().wait_for_all();
            assert_same(&self.step().unwrap(), want, &format!("after failure {nth} of {n}"));
            let now = world.runtime.storage().stats(GPU);
            assert_eq!((now.live_blocks, now.live_requested), (live.live_blocks, live.live_requested), "failure {nth}");
        }
        assert!(n > 20, "{n} failures");
        let Self { world, executor, want, .. } = self;
        drop(executor);
        world.assert_empty();
        assert_same(&self::want(&world, "resnet8"), &want, "the host");
    }
}

#[test]
fn resnet8_survives_a_failing_launch_at_every_launch() {
    Resnet8::new()
        .fail_each(|world| world.gpu.gpu().counters().launches, |world, nth| world.gpu.gpu().fail_launch(nth));
}

#[test]
fn resnet8_survives_a_failing_copy_at_every_copy() {
    Resnet8::new().fail_each(|world| world.gpu.n_copies(), |world, nth| world.gpu.fail_copy(nth));
}

/// Creating an event is refused. Without the event, the engine cannot find out when the work of a task ends, so the task
/// fails.
#[test]
fn resnet8_survives_a_refused_event_at_every_event() {
    let requests = |world: &World| {
        let counters = world.gpu.gpu().counters();
        counters.records + counters.refused_records
    };
    Resnet8::new().fail_each(requests, |world, nth| world.gpu.gpu().fail_record(nth));
}

/// A single refused allocation does not cause an error: the storage returns its cached blocks and tries again.
#[test]
fn resnet8_survives_a_refusal_at_every_allocation() {
    let want = want(&World::new(DEFAULT), "resnet8");
    let run = |world: &World| step(&world.training("resnet8", GPU, |_| {})?);
    let whole = World::new(DEFAULT);
    assert_same(&run(&whole).unwrap(), &want, "without refusals");
    let n = whole.gpu.memory().n_requests();
    for nth in 1..=n {
        let world = World::new(DEFAULT);
        let memory = world.gpu.memory();
        memory.fail_on_request(nth);
        assert_same(&run(&world).unwrap(), &want, &format!("refusal {nth} of {n}"));
        assert_eq!(memory.counters().refusals, 1, "refusal {nth} of {n}");
        world.assert_empty();
    }
}

/// All allocations from some point on are refused, at each allocation of a step in turn.
#[test]
fn resnet8_reports_the_end_of_memory_at_every_allocation() {
    let want = want(&World::new(DEFAULT), "resnet8");
    let run = |world: &World| step(&world.training("resnet8", GPU, |_| {})?);
    let whole = World::new(DEFAULT);
    assert_same(&run(&whole).unwrap(), &want, "with enough memory");
    let n = whole.gpu.memory().n_requests();
    for nth in 1..=n {
        let world = World::new(DEFAULT);
        let memory = world.gpu.memory();
        memory.fail_from(nth);
        let error = run(&world).expect_err("an error").to_string();
        assert!(error.contains("gpu(0)") && error.contains("memory"), "allocation {nth} of {n}: {error}");
        world.assert_empty();
        assert_same(&self::want(&world, "resnet8"), &want, "the host");
        memory.fail_from(0);
        assert_same(&run(&world).unwrap(), &want, &format!("with memory again, after allocation {nth} of {n}"));
    }
}

/// The device is lost at each launch of a step, copies included.
#[test]
fn resnet8_reports_a_lost_device_at_every_launch() {
    let on_host = |world: &World| want(world, "resnet8");
    let bind = || {
        let world = World::new(DEFAULT);
        let executor = world.training("resnet8", GPU, |_| {}).unwrap();
        world.runtime.engine().wait_for_all().unwrap();
        (world, executor)
    };
    let launches = |world: &World| world.gpu.gpu().counters().launches;
    let (whole, executor) = bind();
    let want = on_host(&whole);
    let before = launches(&whole);
    assert_same(&step(&executor).unwrap(), &want, "without a loss");
    let n = launches(&whole) - before;
    drop(executor);
    for nth in 1..=n {
        let (world, executor) = bind();
        world.gpu.lose_at_launch(launches(&world) + nth);
        let error = step(&executor).expect_err("an error").to_string();
        assert!(names_work(&error), "launch {nth} of {n}: {error}");
        let again = step(&executor).expect_err("an error").to_string();
        assert!(names_work(&again), "after launch {nth} of {n}: {again}");
        drop(executor);
        world.assert_empty();
        assert_same(&on_host(&world), &want, &format!("the host, after launch {nth} of {n}"));
    }
}
