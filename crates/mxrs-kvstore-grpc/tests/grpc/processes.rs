//! Servers and workers that are processes of their own, and are killed by SIGKILL.
//!
//! Each process runs this test program again. It executes one of the ignored tests below, in a folder with the options of
//! the process.

use crate::common::*;
use mxrs_kvstore::{KvStore, KvStoreOptions};
use mxrs_kvstore_grpc::{Server, ServerOptions, WorkerOptions};
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The options of a process: its number, then the addresses of the servers.
const OPTIONS: &str = "options.txt";
/// The file to which a worker writes a line for each push that was acknowledged.
const PUSHED: &str = "pushed.txt";
const N_PUSHES: usize = 300;

/// A process that is killed when it is dropped.
struct Process(Child);

impl Process {
    fn start(test: &str, folder: &Path) -> Self {
        let arguments = ["--exact", test, "--ignored", "--test-threads", "1"];
        let mut command = Command::new(std::env::current_exe().unwrap());
        Self(command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already, so an error is ignored.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a server has written a snapshot.
fn next_snapshot(folder: &Path) {
    let written = || {
        let files = std::fs::read_dir(folder).unwrap().flatten();
        let snapshot =
            files.map(|file| file.path()).find(|path| path.extension().is_some_and(|end| end == "snapshot"))?;
        std::fs::metadata(snapshot).ok()?.modified().ok()
    };
    let before = written();
    until("a snapshot", || written().is_some_and(|written| Some(written) != before));
}

fn options() -> Option<(usize, Vec<String>)> {
    let text = std::fs::read_to_string(OPTIONS).ok()?;
    let mut words = text.split_whitespace().map(str::to_owned);
    Some((words.next()?.parse().ok()?, words.collect()))
}

#[test]
#[ignore = "a process that another test starts"]
fn server_process() {
    let Some((server, addresses)) = options() else { return };
    let options = ServerOptions {
        server,
        listen: addresses[server].clone(),
        snapshots: Some(".".into()),
        patience: Duration::from_secs(60),
        ..server_options(3, addresses.len())
    };
    Server::start(options, &context(), make_updater()).unwrap().wait().unwrap();
}

fn worker(rank: usize, addresses: &[String]) -> Worker {
    let options = WorkerOptions { patience: Duration::from_secs(60), ..worker_options(rank, 3, addresses) };
    let worker = Worker::with(options, &KvStoreOptions::default()).unwrap();
    // Key number 0 (`a`) is on server 0, and key number 1 (`b`) is on server 1.
    worker.begin("a", &[0.0]).unwrap();
    worker.store.init(&[("b".into(), worker.array(&[0.0]))]).unwrap();
    worker
}

#[test]
#[ignore = "a process that another test starts"]
fn worker_process() {
    let Some((rank, addresses)) = options() else { return };
    let worker = worker(rank, &addresses);
    let mut file = std::fs::File::options().append(true).create(true).open(PUSHED).unwrap();
    for _ in 0..N_PUSHES {
        worker.pushpull("a", &[1.0]).unwrap();
        worker.pushpull("b", &[1.0]).unwrap();
        file.write_all(b"x\n").unwrap();
    }
}

/// "No update is lost." "No update is applied twice in any case. A push of a worker that is killed is applied once or not at
/// all."
#[test]
fn counters_are_exact_although_processes_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let taken: Vec<TcpListener> = (0..2).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> = taken.iter().map(|port| port.local_addr().unwrap().to_string()).collect();
    drop(taken);
    let start = |name: &str, number: usize, test: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join(OPTIONS), format!("{number} {}", addresses.join(" "))).unwrap();
        Process::start(test, &path)
    };
    let mut servers = [0, 1].map(|server| start(&format!("server-{server}"), server, "processes::server_process"));
    let mut killed = start("worker", 2, "processes::worker_process");
    let pushed = || {
        let text = std::fs::read_to_string(folder.path().join("worker").join(PUSHED)).unwrap_or_default();
        text.lines().count()
    };
    let workers = [0, 1].map(|rank| worker(rank, &addresses));
    let n_kills = 2;
    std::thread::scope(|scope| {
        let threads = workers.each_ref().map(|worker| {
            scope.spawn(|| {
                for _ in 0..N_PUSHES {
                    worker.push("a", &[1.0]).unwrap();
                    worker.pushpull("b", &[1.0]).unwrap();
                    std::thread::sleep(Duration::from_millis(2));
                }
            })
        });
        for round in 1..=n_kills {
            until("the worker pushes", || pushed() >= round * 20);
            killed.kill();
            let server = round % 2;
            // No other process can send the pushes of the killed worker again. So the test waits until they are in a
            // snapshot that was begun after the kill. The first snapshot that ends may have been begun before it, so the
            // test waits for two.
            (0..2).for_each(|_| next_snapshot(&folder.path().join(format!("server-{server}"))));
            servers[server].kill();
            servers[server] = start(&format!("server-{server}"), server, "processes::server_process");
            killed = start("worker", 2, "processes::worker_process");
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    // The restarted worker makes all its pushes, in addition to those before the kills.
    until("the worker ends", || pushed() > N_PUSHES);
    let status = killed.0.wait().unwrap();
    assert!(status.success(), "{status}");
    for (key, first) in [("a", true), ("b", false)] {
        let value = workers[0].pull(key, 1).unwrap()[0] as usize - 2 * N_PUSHES;
        // A line is written after the pushes to both keys. A kill may come before the line, when one or both pushes are
        // already applied.
        let least = pushed();
        assert!((least..=least + n_kills).contains(&value), "{key}, {first}: {value}, acknowledged {least}");
    }
    drop(workers);
    for mut server in servers {
        assert!(server.0.wait().unwrap().success(), "servers end with the workers");
    }
}
