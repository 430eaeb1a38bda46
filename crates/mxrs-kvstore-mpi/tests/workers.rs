//! Stores over the MPI libraries of this machine. `mpirun` starts this test program again, with the test `one_worker`.
//!
//! A library that is not installed is skipped, and the test says so. The launcher and the library of other installations are
//! tried by hand: `MXRS_MPI_LIB=LIB mpiexec -n 3 TEST_PROGRAM --ignored --exact one_worker`.

#![cfg(target_os = "linux")]

mod cable;

use cable::Cable;
use mxrs_engine::{Engine, EngineConfig};
use mxrs_env::{OsSource, PlacedBy, Settings};
use mxrs_kvstore::dist::{DistSync, Group, GroupOptions};
use mxrs_kvstore::{Key, KvStore, KvStoreOptions, Value};
use mxrs_kvstore_mpi::{Abi, MpiOptions, mpi_worker};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_testkit::skipped;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Launchers with the flags that they need, and the library that belongs to them.
const FOUND: [(&str, &[&str], &str); 2] = [
    (
        "mpirun.openmpi",
        &["--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
        "libmpi.so.40",
    ),
    ("mpirun.mpich", &[], "libmpich.so.12"),
];

/// How long one run may take.
const DEADLINE: Duration = Duration::from_secs(120);

/// Runs a test of this program as `n` workers. Returns whether it succeeded and what it printed; `None` if the launcher is not
/// installed.
fn run(launcher: &str, flags: &[&str], library: &str, n: usize, test: &str) -> Option<(bool, String)> {
    let mut command = Command::new(launcher);
    command.args(["-n", &n.to_string()]).args(flags).arg(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", test, "--nocapture"]).env("MXRS_MPI_LIB", library);
    end_of(&mut command, &format!("{launcher} -n {n} {test}"))
}

/// Runs a command. Returns whether it succeeded and what it printed; `None` if it is not installed.
fn end_of(command: &mut Command, what: &str) -> Option<(bool, String)> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            skipped(what, &format!("it is not installed ({error})"));
            return None;
        }
    };
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > DEADLINE {
            let _ = child.kill();
            panic!("{what} did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join("\n");
    Some((output.status.success(), text))
}

#[test]
fn every_installed_library_carries_a_store() {
    for (launcher, flags, library) in FOUND {
        for n in [1, 2, 4] {
            let Some((is_ok, text)) = run(launcher, flags, library, n, "one_worker") else { break };
            assert!(is_ok, "{launcher} -n {n}: {text}");
            assert_eq!(text.matches(&format!("of {n} is done")).count(), n, "{launcher} -n {n}: {text}");
        }
    }
}

#[test]
fn a_worker_that_crashes_ends_all() {
    for (launcher, flags, library) in FOUND {
        let since = Instant::now();
        let Some((is_ok, text)) = run(launcher, flags, library, 3, "one_worker_of_which_one_crashes") else { continue };
        assert!(!is_ok && !text.contains("is done"), "{launcher}: {text}");
        assert!(since.elapsed() < Duration::from_secs(60), "{launcher}: {:?}", since.elapsed());
    }
}

#[test]
fn a_launcher_of_another_library_is_named() {
    let [(openmpi, flags, _), (_, _, mpich)] = FOUND;
    let Some((is_ok, text)) = run(openmpi, flags, mpich, 2, "one_worker") else { return };
    if text.contains("cannot be loaded") {
        return skipped("a launcher of another library", &format!("{mpich} is not installed"));
    }
    assert!(!is_ok && text.contains("number of workers in MPI: got 1, expected 2"), "{text}");
}

/// Open MPI takes two network namespaces for two machines, and sends messages by TCP.
#[test]
fn two_network_namespaces_are_two_machines() {
    let Some(cable) = Cable::lay() else { return };
    let mut command = cable.command(&["--ignored", "--exact", "one_worker", "--nocapture"]);
    let (is_ok, text) = end_of(&mut command, "ip netns exec").unwrap();
    assert!(is_ok && text.matches("of 2 is done").count() == 2, "{text}");
}

#[test]
fn a_cut_link_is_noticed() {
    let Some(cable) = Cable::lay() else { return };
    let mut command = cable.command(&["--ignored", "--exact", "one_worker_whose_link_is_cut", "--nocapture"]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("output");
    let file = std::fs::File::create(&path).unwrap();
    command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
    let mut child = command.spawn().unwrap();
    let until = |words: &str| {
        let since = Instant::now();
        loop {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            if text.contains(words) || since.elapsed() > Duration::from_secs(40) {
                return text;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let begun = until("rank 0 exchanges");
    cable.cut();
    let text = until("is silent for");
    // `mpirun` and its helper process are killed, because without the cable they would wait for minutes.
    cable.kill_all();
    let _ = child.kill();
    let _ = child.wait();
    assert!(begun.contains("rank 0 exchanges") && text.contains("worker 1 is silent for"), "{text}");
}

#[test]
fn a_library_that_does_not_exist_is_named() {
    let options = MpiOptions { library: Some("/no/such/libmpi.so".into()), ..MpiOptions::default() };
    let error = Group::start(mpi_worker(options), GroupOptions::default()).unwrap_err().to_string();
    assert!(error.contains("/no/such/libmpi.so") && error.contains("MXRS_MPI_LIB"), "{error}");
    // A library that exists but is not an MPI library.
    let options = MpiOptions { library: Some("libm.so.6".into()), ..MpiOptions::default() };
    let error = Group::start(mpi_worker(options), GroupOptions::default()).unwrap_err().to_string();
    assert!(error.contains("MPI_Init_thread"), "{error}");
}

fn group() -> std::sync::Arc<Group> {
    group_with(GroupOptions::default())
}

fn group_with(how: GroupOptions) -> std::sync::Arc<Group> {
    let (settings, _) = Settings::from_source(&OsSource).unwrap();
    let place = settings.place().filter(|place| place.by != PlacedBy::Torchrun);
    let options = MpiOptions {
        library: settings.distributed.mpi_library.clone(),
        first: place.map(|place| if place.by == PlacedBy::Pmi { Abi::Mpich } else { Abi::OpenMpi }),
        n_workers: place.and_then(|place| place.size),
        rank: place.map(|place| place.rank),
    };
    Group::start(mpi_worker(options), how).unwrap_or_else(|error| panic!("{error}"))
}

/// Element `i` of the value of a worker in a round. The magnitudes differ, so the order of additions shows.
fn element(rank: usize, round: usize, i: usize) -> f32 {
    let hash = (i * 31 + rank * 1009 + round * 9176 + 1).wrapping_mul(2_654_435_761) as u32;
    (hash as f32 / 4e9 - 0.5) * 2f32.powi((hash % 17) as i32 - 8)
}

#[test]
#[ignore = "mpirun starts it"]
fn one_worker() {
    let group = group();
    let (rank, size) = (group.rank(), group.size());
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
    let options = KvStoreOptions { big_array_elements: 100_000, ..KvStoreOptions::default() };
    for name in ["dist_sync", "p3"] {
        let store = DistSync::new(name.parse().unwrap(), &context, &options, &group).unwrap();
        // The sizes of the keys: one message for one owner, several messages, and further keys so that each worker owns one.
        let sizes = [7usize, 1_000_003, 5000, 600];
        for (key, n) in sizes.iter().enumerate() {
            let first: Vec<f32> = (0..*n).map(|i| element(rank, 99, i)).collect();
            let array = NdArray::from_slice(&context, [*n], &first).unwrap();
            store
                .broadcast(&[(Key::Int(key as i64), array.clone())], &[(Key::Int(key as i64), array.clone())], 0)
                .unwrap();
            let first = array.to_vec::<f32>().unwrap();
            assert!(
                first.iter().enumerate().all(|(i, value)| *value == element(0, 99, i)),
                "the first value of worker 0"
            );
        }
        for round in 0..3 {
            let arrays: Vec<NdArray> = sizes
                .iter()
                .map(|n| {
                    let own: Vec<f32> = (0..*n).map(|i| element(rank, round, i)).collect();
                    NdArray::from_slice(&context, [*n], &own).unwrap()
                })
                .collect();
            for (key, array) in arrays.iter().enumerate() {
                store.pushpull(&[(Key::Int(key as i64), Value::from(array))], &[], -(key as i32)).unwrap();
            }
            for array in &arrays {
                for (i, got) in array.to_vec::<f32>().unwrap().iter().enumerate() {
                    let expected = (1..size).fold(element(0, round, i), |sum, rank| sum + element(rank, round, i));
                    assert_eq!(got.to_bits(), expected.to_bits(), "{name}, round {round}, element {i}");
                }
            }
        }
        let own = vec![rank as u8; 2_500_000];
        let all = store.all_gather(&own).unwrap();
        assert!(all.iter().enumerate().all(|(rank, bytes)| bytes.len() == own.len() && bytes[7] == rank as u8));
        assert_eq!(store.gather(&own).unwrap().is_some(), rank == 0);
    }
    let description = group.description().to_owned();
    drop(group);
    println!("worker {rank} of {size} is done, {description}");
}

#[test]
#[ignore = "mpirun starts it"]
fn one_worker_of_which_one_crashes() {
    let group = group();
    group.barrier().unwrap();
    if group.rank() == 1 {
        std::process::abort();
    }
    let error = group.barrier().expect_err("worker 1 has crashed");
    panic!("{error}");
}

#[test]
#[ignore = "mpirun starts it"]
fn one_worker_whose_link_is_cut() {
    let options = GroupOptions {
        heartbeat: Some(Duration::from_millis(200)),
        silence: Some(Duration::from_secs(3)),
        ..GroupOptions::default()
    };
    let group = group_with(options);
    group.barrier().unwrap();
    println!("rank {} exchanges", group.rank());
    loop {
        group.barrier().unwrap_or_else(|error| panic!("{error}"));
        std::thread::sleep(Duration::from_millis(20));
    }
}
