//! `mxrs launch` with servers, and trainings by `dist_async` whose processes are killed, stopped and started again.

use crate::launch::{PATH, training};
use crate::mxrs::{Ran, mxrs_with};
use std::path::Path;
use std::time::{Duration, Instant};

/// Launches `n[0]` workers and `n[1]` servers, which run this shell script. `$1` is the path of `mxrs`, followed by the
/// arguments of a training; `$D` is `folder`.
fn launched(folder: &Path, n: [&str; 2], flags: &[&str], script: &str, training: &[String]) -> Ran {
    let of_workers = format!("D:{}", folder.display());
    let own = env!("CARGO_BIN_EXE_mxrs");
    let start = ["launch", "-n", n[0], "-s", n[1], "--env-worker", &of_workers, "--env-server", &of_workers];
    let program = ["--", "sh", "-c", script, "sh", own];
    let words = start.iter().chain(flags).chain(&program).map(|word| (*word).to_owned());
    mxrs_with(&[PATH], words.chain(training.iter().cloned()))
}

/// The arguments of a training with the store `dist_async`. `values` are flags that [`training`] sets, with the values to
/// use instead.
fn changed(prefix: &Path, values: &[[&str; 2]], more: &[&str]) -> Vec<String> {
    let mut args = training("dist_async", prefix, more);
    for [flag, value] in values {
        let at = args.iter().position(|word| word == flag).unwrap();
        args[at + 1] = (*value).to_owned();
    }
    args
}

/// The last validation accuracy of a worker.
fn accuracy(err: &str, rank: usize) -> f64 {
    let mark = format!("[worker {rank} ");
    let line = err.lines().rfind(|line| line.starts_with(&mark) && line.contains("Validation-accuracy="));
    line.unwrap_or_else(|| panic!("{err}")).rsplit('=').next().unwrap().parse().unwrap()
}

#[test]
fn servers_get_their_variables_and_processes_are_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo $DMLC_ROLE $DMLC_RANK of $DMLC_NUM_WORKER and $DMLC_NUM_SERVER, $A $B $MXRS_KVSTORE_SERVERS
                    [ -s "$MXRS_KVSTORE_TOKEN_FILE" ] && echo token
                    [ $DMLC_ROLE = worker ] || { [ -d "$MXRS_KVSTORE_SNAPSHOT_DIR" ] && echo folder; }
                    if [ $DMLC_ROLE$DMLC_RANK = server1 ] && ! [ -e $D/again ]; then touch $D/again; exit 3; fi"#;
    let flags = ["--env-worker", "A:x", "--env-server", "B:y", "--max-restarts", "1"];
    let ran = launched(folder.path(), ["2", "2"], &flags, script, &[]);
    let (out, err) = (ran.out.clone(), ran.err.clone());
    ran.ok();
    let lines = |mark: &str| {
        let of = out.lines().filter(|line| line.starts_with(mark));
        of.filter_map(|line| line.split_once("] ")).map(|(_, text)| text.to_owned()).collect::<Vec<_>>()
    };
    let servers = lines("[worker 0 ")[0].rsplit(' ').next().unwrap().to_owned();
    assert_eq!(servers.split(',').filter(|address| address.starts_with("127.0.0.1:")).count(), 2, "{servers}");
    assert_eq!(lines("[worker 1 "), [format!("worker 1 of 2 and 2, x {servers}"), "token".into()]);
    let of_server = [format!("server 1 of 2 and 2, y {servers}"), "token".into(), "folder".into()];
    assert_eq!(lines("[server 1 "), [&of_server[..], &of_server].concat(), "it runs twice");
    assert!(
        err.contains("server 1 failed with exit code 3") && err.contains("server 1 is started again (1 of 1)"),
        "{err}"
    );
    // The server fails three times, which is more than `--max-restarts` allows.
    let ran = launched(folder.path(), ["1", "1"], &["--max-restarts", "2"], "exit $((DMLC_RANK + 5))", &[]);
    assert!(ran.failed(5).contains("is started again (2 of 2)"));
}

/// Four workers, of which one is five times slower, and one is killed and started again; of two servers one is killed and
/// restored from its snapshot.
#[test]
fn digits_are_learned_although_processes_are_slow_and_killed() {
    let script = r#"
        own=$1; shift
        runs() { grep -qs '^State:.[^ZX]' /proc/$1/status; }
        die() { touch "$D/$1"; kill -9 $pid; wait $pid; exit 137; }
        case $DMLC_ROLE$DMLC_RANK in
        worker1)
            if ! [ -e "$D/worker-killed" ]; then
                "$own" "$@" & pid=$!
                while runs $pid && ! [ -e "$D/net-0001.states" ]; do sleep 0.05; done
                die worker-killed
            fi ;;
        server1)
            if ! [ -e "$D/server-killed" ]; then
                "$own" "$@" & pid=$!
                while runs $pid && ! [ -e "$D/net-0002.states" ]; do sleep 0.05; done
                die server-killed
            fi ;;
        worker3)
            "$own" "$@" & pid=$!
            while runs $pid; do kill -STOP $pid; sleep 0.08; kill -CONT $pid; sleep 0.02; done
            wait $pid; exit $? ;;
        esac
        exec "$own" "$@""#;
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--max-restarts", "4", "--env-server", "MXRS_KVSTORE_SNAPSHOT_INTERVAL:1"];
    // Without momentum, because the gradients of slow workers arrive late, and momentum would then make steps too large.
    let values = [["--network", "lenet"], ["--lr", "0.05"]];
    let training = changed(&folder.path().join("net"), &values, &["--mom", "0", "--num-epochs", "12"]);
    let ran = launched(folder.path(), ["4", "2"], &flags, script, &training);
    let err = ran.err.clone();
    ran.ok();
    for what in ["worker 1 is started again", "server 1 is started again", "continued from", "was started again; sent"]
    {
        assert!(err.contains(what), "{what}: {err}");
    }
    assert!(!err.contains("are lost"), "{err}");
    let all = [0, 1, 2, 3].map(|rank| accuracy(&err, rank));
    assert!(all.iter().all(|accuracy| *accuracy >= 0.98), "{all:?}\n{err}");
}

/// The checkpoint of worker 0 has the states of the servers, and a training with another number of servers resumes from it.
#[test]
fn a_training_resumes_with_other_servers() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("net");
    let script = r#"exec "$@""#;
    // With servers, each worker clips its own gradients. The learning rate is reduced at epochs 2 and 5, whatever the number
    // of workers.
    let flags = ["--mom", "0.9", "--clip-norm", "5", "--lr-factor", "0.5", "--lr-step-epochs", "2,5"];
    let args = |more: &[&str]| changed(&prefix, &[["--lr", "0.02"]], &[&flags, more].concat());
    launched(folder.path(), ["2", "2"], &[], script, &args(&["--num-epochs", "3"])).ok();
    let ran = launched(folder.path(), ["1", "1"], &[], script, &args(&["--num-epochs", "4", "--resume"]));
    let err = ran.err.clone();
    ran.ok();
    assert!(err.contains("Resumed from") && err.contains("Epoch[3]") && !err.contains("Epoch[2]"), "{err}");
    assert!(accuracy(&err, 0) > 0.8, "{err}");
    // A training without servers resumes from the checkpoint, because it has the optimizer states of all parameters.
    let ran = mxrs_with(&[PATH], training("local", &prefix, &["--mom", "0.9", "--num-epochs", "5", "--resume"]));
    assert!(ran.err.contains("Epoch[4]"), "{}", ran.err);
    ran.ok();
}

/// A worker is stopped for a while (SIGSTOP). The servers notice it after `PS_HEARTBEAT_TIMEOUT`, and the other workers end
/// their training meanwhile.
#[test]
fn a_stopped_worker_does_not_hold_up_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        own=$1; shift
        if [ $DMLC_ROLE$DMLC_RANK = worker1 ]; then
            "$own" "$@" & pid=$!
            while ! [ -e "$D/net-0001.states" ]; do sleep 0.05; done
            kill -STOP $pid
            while ! [ -e "$D/net-0006.states" ]; do sleep 0.05; done
            sleep 3; kill -CONT $pid; wait $pid; exit $?
        fi
        exec "$own" "$@""#;
    let silence = ["--env-server", "PS_HEARTBEAT_TIMEOUT:2", "--env-worker", "PS_HEARTBEAT_INTERVAL:1"];
    let training = training("dist_async", &folder.path().join("net"), &["--num-epochs", "6"]);
    let ran = launched(folder.path(), ["3", "1"], &silence, script, &training);
    let err = ran.err.clone();
    ran.ok();
    let lines: Vec<&str> = err.lines().collect();
    let find = |words: [&str; 2]| lines.iter().position(|line| words.iter().all(|word| line.contains(word)));
    let silent = find(["[server 0 ", "worker 1 is silent"]).unwrap_or_else(|| panic!("{err}"));
    let again = find(["[server 0 ", "worker 1 is heard again"]).unwrap_or_else(|| panic!("{err}"));
    let ended = find(["[server 0 ", "worker 2 has left"]).unwrap_or_else(|| panic!("{err}"));
    assert!(ended < again && silent < again, "the others ended before: {err}");
}

/// Two failures: a server is killed and not started again, and the second worker trains another network. Every worker
/// reports each failure.
#[test]
fn failures_are_one_clear_error_of_every_worker() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        own=$1; shift
        if [ $DMLC_ROLE = server ]; then
            "$own" "$@" & pid=$!
            while ! [ -e "$D/net-0001.states" ]; do sleep 0.05; done
            # The launcher does not see it, as on another machine.
            kill -9 $pid; sleep 60
        fi
        exec "$own" "$@""#;
    let since = Instant::now();
    let args = training("dist_async", &folder.path().join("net"), &["--num-epochs", "1000"]);
    let ran = launched(folder.path(), ["2", "1"], &["--timeout", "3"], script, &args);
    assert!(
        ran.code.is_some_and(|code| code != 0) && since.elapsed() < Duration::from_secs(100),
        "{:?}",
        since.elapsed()
    );
    for rank in 0..2 {
        let mark = format!("[worker {rank} ");
        let said = ran.err.lines().filter(|line| line.starts_with(&mark) && line.contains("not answered for 3 s"));
        assert!(said.count() >= 1, "worker {rank}: {}", ran.err);
    }
    // A training can resume from the last checkpoint before the failure.
    let prefix = folder.path().join("net");
    let newest = (1..1000).rev().find(|epoch| folder.path().join(format!("net-{epoch:04}.states")).exists()).unwrap();
    let epochs = (newest + 1).to_string();
    mxrs_with(&[PATH], training("local", &prefix, &["--num-epochs", &epochs, "--resume"])).ok();

    let other = tempfile::tempdir().unwrap();
    let script = r#"own=$1; shift; n=64; [ $DMLC_ROLE$DMLC_RANK = worker1 ] && n=lenet; [ $n = 64 ] && n=mlp
                    exec "$own" "$@" --network $n"#;
    let mut args = training("dist_async", &other.path().join("net"), &["--num-epochs", "200"]);
    let network = args.iter().position(|word| word == "--network").unwrap();
    args.drain(network..network + 2);
    let ran = launched(other.path(), ["2", "1"], &["--timeout", "5"], script, &args);
    assert!(ran.code.is_some_and(|code| code != 0));
    assert!(ran.err.contains("all workers must train the same network"), "{}", ran.err);
}
