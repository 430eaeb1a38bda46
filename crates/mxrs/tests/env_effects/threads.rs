//! Rows D8, D9, D78, B26 and O1 of `docs/env.md`: the thread team, observed by an operator that shares its loop among
//! the threads, and how many threads of the team convolutions use.

use crate::door::Door;
use crate::graphs::{Calls, bind, chain};
use crate::log_lines::log_lines;
use crate::probe::Probe;
use crate::{Vars, builder};
use mxrs::graph::Symbol;
use mxrs::{Model, Runtime};
use mxrs_sync::{affinity, physical_cores};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The threads that share the loop of an operator on 10^6 items, each with the processors on which it may run.
fn loop_threads(vars: Vars<'_>) -> Vec<(ThreadId, Option<Vec<usize>>)> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let probe = Probe::new(move |args| {
        args.team.run(args.team.size(), &|_| {
            list.lock().unwrap().push((thread::current().id(), affinity::current()));
        });
        Ok(())
    });
    let runtime = builder(vars).backend(probe).only_backend("probe").build().expect("the runtime starts");
    let executor = bind(&runtime, &chain(&runtime, 1), [1_000_000]);
    executor.forward().unwrap();
    runtime.engine().wait_for_all().unwrap();
    let seen = seen.lock().unwrap();
    seen.clone()
}

fn n_distinct(vars: Vars<'_>) -> usize {
    let threads = loop_threads(vars);
    threads.iter().map(|(id, _)| id).collect::<HashSet<_>>().len()
}

#[test]
fn d8_so_many_threads_share_a_loop() {
    for (text, n_threads) in [("1", 1), ("2", 2), ("5", 5), ("3,2", 3), (" 4 ", 4)] {
        assert_eq!(n_distinct(&[("OMP_NUM_THREADS", text)]), n_threads, "{text:?}");
    }
    assert_eq!(n_distinct(&[]), physical_cores());
}

/// Results do not depend on the size of the team, with every backend of this build.
#[test]
fn d8_results_are_those_of_one_thread() {
    let sums = |threads: &str| {
        let runtime = builder(&[("OMP_NUM_THREADS", threads)]).build().unwrap();
        let executor = bind(&runtime, &chain(&runtime, 3), [1_000_000]);
        let x: Vec<f32> = (0..1_000_000_u32).map(|i| (i % 1000) as f32).collect();
        executor.argument("x").unwrap().copy_from(&x).unwrap();
        executor.forward().unwrap();
        (x, executor.outputs()[0].to_vec::<f32>().unwrap())
    };
    let (x, one) = sums("1");
    assert!(x.iter().zip(&one).all(|(x, y)| x + 3.0 == *y));
    assert_eq!(one, sums("3").1);
}

#[test]
fn b26_limits_the_size_that_mxrs_picks() {
    assert_eq!(n_distinct(&[("MXNET_OMP_MAX_THREADS", "1")]), 1);
    assert_eq!(n_distinct(&[("MXNET_OMP_MAX_THREADS", "1000")]), physical_cores());
    let vars = [("MXNET_OMP_MAX_THREADS", "1"), ("OMP_NUM_THREADS", "3")];
    assert_eq!(n_distinct(&vars), 3, "OMP_NUM_THREADS is used as it is");
}

/// Whether the runtime reports at debug level that it does not pin threads. Other programs use this variable too, so it is
/// not a warning.
fn is_said_to_have_no_effect(value: &str) -> bool {
    let (_, lines) = log_lines(|| crate::runtime(&[("KMP_AFFINITY", value)]));
    lines.iter().any(|line| line.contains(&format!("KMP_AFFINITY={value} has no effect")))
}

/// Each thread is pinned to one logical processor, and no two to the same.
#[test]
#[cfg(target_os = "linux")]
fn d9_pins_each_thread_to_a_cpu_of_its_own() {
    let allowed = affinity::current().expect("Linux reports it");
    let n_cpus = allowed.len().to_string();
    let value = "granularity=fine,compact,1,0";
    if mxrs_sync::Topology::read().is_none() {
        // On a system without sysfs, the value is checked, and a log line says that it has no effect.
        assert!(is_said_to_have_no_effect(value));
        return;
    }
    let masks = |value: &str| -> Vec<Vec<usize>> {
        let threads = loop_threads(&[("OMP_NUM_THREADS", &n_cpus), ("KMP_AFFINITY", value)]);
        threads.into_iter().map(|(_, mask)| mask.expect("Linux reports it")).collect()
    };
    for value in [value, "granularity=fine,scatter", "granularity=thread,compact,0,1"] {
        let mut pinned = masks(value);
        pinned.sort();
        let each_alone: Vec<Vec<usize>> = allowed.iter().map(|&cpu| vec![cpu]).collect();
        assert_eq!(pinned, each_alone, "{value}");
    }
    // With the granularity `core`, a thread may run on all logical processors of its core.
    let topology = mxrs_sync::Topology::read().expect("it was there");
    for value in ["compact", "granularity=core,scatter"] {
        let mut pinned = masks(value);
        pinned.sort();
        let mut cores: Vec<_> = allowed.iter().map(|&cpu| affinity::core_of(cpu, &topology)).collect();
        cores.sort();
        assert_eq!(pinned, cores, "{value}");
    }
    let both: String = allowed.iter().take(2).map(usize::to_string).collect::<Vec<_>>().join(",");
    let place = masks(&format!("proclist=[{{{both}}}],explicit"));
    assert!(place.iter().all(|mask| *mask == allowed[..allowed.len().min(2)]), "a place of several: {place:?}");
    for value in ["none", "disabled"] {
        assert!(masks(value).iter().all(|mask| *mask == allowed), "{value}");
    }
    let last = allowed[allowed.len() - 1];
    let explicit = masks(&format!("proclist=[{last}],explicit"));
    assert!(explicit.iter().all(|mask| *mask == [last]), "{explicit:?}");
    assert_eq!(affinity::current(), Some(allowed), "the thread that builds the runtime is left alone");
}

/// With `norespect`, a process that was restricted to one processor uses the other processors too.
#[test]
#[cfg(target_os = "linux")]
fn d9_norespect_takes_processors_that_the_process_was_kept_from() {
    let allowed = affinity::current().expect("Linux shows it");
    if mxrs_sync::Topology::read().is_none() || allowed.len() < 2 {
        eprintln!("skipped: it takes two processors that can be seen");
        return;
    }
    // A runtime uses the affinity mask of the thread that builds it. So only a new thread is restricted, which does not affect
    // other tests.
    let masks = |value: &'static str, first: usize| {
        let kept = thread::spawn(move || {
            affinity::pin_current(&[first]).expect("it may run there");
            loop_threads(&[("OMP_NUM_THREADS", "64"), ("KMP_AFFINITY", value)])
        });
        let masks: HashSet<Vec<usize>> =
            kept.join().expect("no panic").into_iter().filter_map(|(_, mask)| mask).collect();
        masks
    };
    assert_eq!(masks("granularity=fine,compact", allowed[0]), HashSet::from([vec![allowed[0]]]));
    let all = masks("norespect,granularity=fine,compact", allowed[0]);
    assert!(allowed.iter().all(|&cpu| all.contains(&vec![cpu])), "{all:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn d9_warns_of_processors_that_cannot_be_used() {
    if mxrs_sync::Topology::read().is_none() {
        return;
    }
    let warned = |value: &str| {
        let (_, lines) = log_lines(|| crate::runtime(&[("KMP_AFFINITY", value)]));
        lines.iter().any(|line| line.starts_with("WARN KMP_AFFINITY: this process may not use the processors [9999]"))
    };
    assert!(warned("proclist=[9999],explicit") && warned("warnings,proclist=[9999],explicit"));
    assert!(!warned("nowarnings,proclist=[9999],explicit"));
}

#[test]
#[cfg(target_os = "linux")]
fn d9_verbose_says_where_threads_go() {
    let said = |value: &str| {
        let (_, lines) = log_lines(|| crate::runtime(&[("KMP_AFFINITY", value)]));
        lines.iter().any(|line| line.starts_with("INFO KMP_AFFINITY: team threads are"))
    };
    assert!(said("verbose,none") && !said("none"));
    assert!(!is_said_to_have_no_effect("none"));
}

#[test]
#[cfg(not(target_os = "linux"))]
fn d9_warns_where_threads_are_not_pinned() {
    assert!(is_said_to_have_no_effect("compact"));
    assert_eq!(n_distinct(&[("KMP_AFFINITY", "compact"), ("OMP_NUM_THREADS", "2")]), 2);
}

/// Two executors of one model run at the same time, each on one thread: a worker of its own, without help from the team.
#[test]
fn d4_d8_two_requests_have_a_core_each() {
    let (door, seen) = (Door::default(), Arc::new(Mutex::new(Vec::new())));
    let (visit, list) = (door.visit(), Arc::clone(&seen));
    let probe = Probe::new(move |args| {
        args.team.run(4, &|_| list.lock().unwrap().push(thread::current().id()));
        visit();
        Ok(())
    });
    let vars = [("OMP_NUM_THREADS", "1"), ("MXNET_CPU_WORKER_NTHREADS", "2")];
    let runtime = builder(&vars).backend(probe).only_backend("probe").build().unwrap();
    let model = Model::from_parts(&runtime, chain(&runtime, 1), []).unwrap();
    let requests = [(); 2].map(|()| model.bind(&[("x", [4].into())]).unwrap());
    for request in &requests {
        request.forward(&[("x", &[0.0; 4])]).unwrap();
    }
    assert_eq!(door.wait_for(2), 2, "both are under way");
    door.open();
    runtime.engine().wait_for_all().unwrap();
    let seen = seen.lock().unwrap();
    let of = |id: &ThreadId| seen.iter().filter(|other| *other == id).count();
    assert!(seen.len() == 8 && seen.iter().all(|id| of(id) == 4), "{seen:?}");
}

/// Processor time of each of these threads in nanoseconds, once all of them sleep. `None` if the system does not report it,
/// or if a thread does not sleep within ten seconds.
fn settled(tasks: &[PathBuf]) -> Option<Vec<u64>> {
    let used = |task: &PathBuf| -> Option<u64> {
        let text = std::fs::read_to_string(Path::new("/proc").join(task).join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let all = || tasks.iter().map(used).collect::<Option<Vec<u64>>>();
    let mut last = all()?;
    for _ in 0..200 {
        thread::sleep(Duration::from_millis(50));
        let now = all()?;
        if now == last {
            return Some(now);
        }
        last = now;
    }
    None
}

/// Number of threads that work on `work`: its caller, and the other threads of the team that use processor time meanwhile.
fn threads_of(runtime: &Runtime, work: &dyn Fn()) -> Option<usize> {
    let size = runtime.team().size();
    let tasks = Mutex::new(Vec::new());
    runtime.team().run(size, &|i| {
        if i > 0 {
            tasks.lock().unwrap().extend(std::fs::read_link("/proc/thread-self").ok());
        }
    });
    let tasks = tasks.into_inner().unwrap();
    let before = settled(&tasks).filter(|before| before.len() == size - 1);
    work();
    before.zip(settled(&tasks)).map(|(before, after)| {
        let is_used = |(before, after): &(&u64, &u64)| before < after;
        1 + before.iter().zip(&after).filter(is_used).count()
    })
}

#[test]
fn d78_keeps_smaller_loops_on_one_thread() {
    const SIZE: &str = "MXNET_CPU_PARALLEL_SIZE";
    const N: usize = 4_000_000;
    let counted = |vars: Vars<'_>| {
        let vars = [vars, &[("OMP_NUM_THREADS", "3")]].concat();
        let runtime = builder(&vars).only_backend("cpu").build().unwrap();
        let graph = Calls::new(&runtime).call("exp", &[], &[&Symbol::variable("x")]).graph().unwrap();
        let executor = bind(&runtime, &graph, [N]);
        let forward = || {
            executor.forward().unwrap();
            runtime.engine().wait_for_all().unwrap();
        };
        forward();
        threads_of(&runtime, &forward)
    };
    // On a busy machine, the caller may finish before the other threads wake up, so the test tries several times.
    let shares = |vars: Vars<'_>| (0..20).any(|_| counted(vars).is_none_or(|n| n > 1));
    for above in [N + 1, 1 << 40] {
        assert!(counted(&[(SIZE, &above.to_string())]).is_none_or(|n| n == 1), "{above}");
    }
    assert!(shares(&[]) && shares(&[(SIZE, &N.to_string())]) && shares(&[(SIZE, "0")]));
}

/// The threads that take part in a convolution of mxrs on a team of six. Returns the number at the end of the kernel's name,
/// and the counted number: the caller, and the other threads that use processor time.
fn convolution_threads(vars: Vars<'_>) -> (String, Option<usize>) {
    let vars = [vars, &[("OMP_NUM_THREADS", "6")]].concat();
    let runtime = builder(&vars).only_backend("nnpack").build().unwrap();
    let attrs = [("kernel", "(3, 3)"), ("num_filter", "16")];
    let graph = Calls::new(&runtime).call("Convolution", &attrs, &[&Symbol::variable("x")]).graph().unwrap();
    // There is one block of channels, so that reorders are not shared among threads.
    let executor = bind(&runtime, &graph, [1, 16, 64, 64]);
    let forward = || {
        executor.forward().unwrap();
        runtime.engine().wait_for_all().unwrap();
    };
    // The first run packs the weights with all threads.
    forward();
    let counted = threads_of(&runtime, &forward);
    let steps = executor.report().unwrap().steps;
    let kernel = &steps.iter().find(|step| step.op == "Convolution").expect("a convolution").kernel;
    (kernel.rsplit(':').next().unwrap_or_default().to_owned(), counted)
}

#[test]
fn o1_limits_the_threads_of_a_convolution() {
    const THREADS: &str = "MXNET_CPU_NNPACK_NTHREADS";
    for (text, n_threads) in [(Some("1"), 1), (Some("3"), 3), (Some("64"), 6), (None, 6)] {
        let vars: Vec<(&str, &str)> = text.map(|text| (THREADS, text)).into_iter().collect();
        let (said, counted) = convolution_threads(&vars);
        assert_eq!(said, n_threads.to_string(), "{text:?}");
        match counted {
            Some(counted) => assert_eq!(counted, n_threads, "{text:?}"),
            None => eprintln!("skipped: the system does not tell which threads ran with {text:?}"),
        }
    }
}
