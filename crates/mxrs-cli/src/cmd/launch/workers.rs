//! Starts the processes of a job, and watches them.

use super::Args;
use super::job::{CHECKPOINT, Job, Process, Record};
use super::ranks::MASTER_PORT;
use super::running::{Name, Running};
use super::servers;
use crate::exit::{Failure, Outcome};
use crate::interrupt;
use rustix::process::Signal;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// The pause between two looks at the processes.
const PAUSE: Duration = Duration::from_millis(20);
/// After a worker has failed, how long the other workers may take to notice it and to print their errors.
const NOTICE: Duration = Duration::from_secs(5);
/// How long processes may take to end after they were asked to.
const GRACE: Duration = Duration::from_secs(5);
/// How long processes that workers have left behind may still write to the output after the workers have ended.
const REST: Duration = Duration::from_secs(5);

/// Starts the workers and servers on this machine, and waits for them.
///
/// # Errors
/// Fails if a process cannot be started, with the exit code of the first worker that failed, or if a signal has arrived.
pub fn run(args: &Args) -> Outcome {
    let job = Job::create()?;
    let (mut commands, of_servers) = servers::commands(args, &job)?;
    for rank in 0..args.num_workers {
        let mut command = program(&args.command)?;
        let folder = job.folder().display().to_string();
        let (own, n) = (rank.to_string(), args.num_workers.to_string());
        let mut variables = args.variables("local");
        for (name, value) in [
            ("DMLC_LOCAL", "1"),
            ("DMLC_PS_ROOT_URI", &folder),
            ("DMLC_TASK_ID", &own),
            ("DMLC_RANK", &own),
            ("RANK", &own),
            ("WORLD_SIZE", &n),
            ("LOCAL_RANK", &own),
            ("LOCAL_WORLD_SIZE", &n),
            ("MASTER_ADDR", "127.0.0.1"),
            ("MASTER_PORT", MASTER_PORT),
        ] {
            if !args.is_given(name) {
                variables.push((name.to_owned(), value.to_owned()));
            }
        }
        variables.extend(of_servers.iter().cloned());
        if args.dry_run {
            println!("{} {}", assignments(&variables), shown(&args.command));
            continue;
        }
        command.envs(variables);
        commands.push((Name::Worker(rank), command));
    }
    if args.dry_run { Ok(()) } else { watch(&job, commands, args) }
}

/// Runs a program that starts all workers, and waits for it.
///
/// # Errors
/// As [`run`].
pub fn run_program(args: &Args, command: &[OsString]) -> Outcome {
    if args.dry_run {
        println!("{}", shown(command));
        return Ok(());
    }
    let job = Job::create()?;
    watch(&job, vec![(Name::Program, program(command)?)], args)
}

pub fn program(command: &[OsString]) -> Outcome<Command> {
    let Some((name, arguments)) = command.split_first() else {
        return Err(Failure::Usage("COMMAND: the command of a worker is needed".into()));
    };
    // If the workers' command is `mxrs`, they run this executable, whether or not it is in PATH.
    let own = std::env::current_exe().ok().filter(|_| name == "mxrs");
    let mut command = Command::new(own.map_or_else(|| name.clone(), OsString::from));
    command.args(arguments);
    Ok(command)
}

/// Variables as a shell writes them.
pub fn assignments(variables: &[(String, String)]) -> String {
    let one = |(name, value): &(String, String)| format!("{name}={}", quoted(value));
    variables.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// A command as a shell writes it.
pub fn shown(command: &[OsString]) -> String {
    command.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as a shell writes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn watch(job: &Job, commands: Vec<(Name, Command)>, args: &Args) -> Outcome {
    // Without this call, a second Ctrl-C would end this program and leave the workers running, because they are in process
    // groups of their own.
    interrupt::hold();
    let mut all = Vec::new();
    for (name, command) in commands {
        match Running::start(name, command) {
            Ok(running) => all.push(running),
            Err(error) => {
                end(&mut all, Signal::KILL, GRACE);
                forward_rest(&mut all);
                return Err(Failure::Run(error));
            }
        }
    }
    let result = record(job, &all, args).and_then(|()| {
        tracing::info!("job {}: `mxrs kill {}` ends it", job.name(), job.name());
        wait(job, &mut all, args)
    });
    // If this program has failed, workers may still run. They are killed, because no program would wait for them.
    end(&mut all, Signal::KILL, GRACE);
    forward_rest(&mut all);
    result
}

/// Waits until the output ends. Processes that workers have started and left behind may keep it open, so they are killed
/// after [`REST`].
fn forward_rest(all: &mut [Running]) {
    let is_open = |all: &[Running]| all.iter().flat_map(|running| &running.output).any(|output| !output.is_finished());
    for last in [false, true] {
        let since = Instant::now();
        while is_open(all) && since.elapsed() < REST && interrupt::n_signals() < 2 {
            std::thread::sleep(PAUSE);
        }
        if last {
            break;
        }
        all.iter().for_each(|running| running.signal(Signal::KILL));
    }
    if is_open(all) {
        tracing::warn!("a process that a worker has started and that has left its process group goes on");
    }
    all.iter_mut().for_each(Running::reap);
}

/// Writes the record of the job.
fn record(job: &Job, all: &[Running], args: &Args) -> Outcome {
    let process = |pid| Process::find(pid).unwrap_or(Process { pid, started: 0 });
    let workers = all.iter().map(|running| process(running.child.id())).collect();
    job.write(&Record { launcher: process(std::process::id()), workers, command: shown(&args.command) })
}

/// Waits until all processes have ended. Ends all processes if one fails and is not started again, or if a signal arrives.
fn wait(job: &Job, all: &mut [Running], args: &Args) -> Outcome {
    let mut failed: Option<(String, Instant)> = None;
    let mut code = 0u8;
    let (mut n_restarts, mut workers_ended) = (0, None);
    loop {
        if interrupt::check().is_err() {
            end(all, Signal::TERM, CHECKPOINT);
            return Err(Failure::Interrupted);
        }
        let mut is_changed = false;
        for running in all.iter_mut().filter(|running| running.ended.is_none()) {
            running.look().map_err(Failure::Run)?;
            if let Some(status) = running.ended.filter(|status| !status.success()) {
                let what = match (status.code(), status.signal()) {
                    (Some(code), _) => format!("{} failed with exit code {code}", running.name()),
                    (None, signal) => format!("{} was ended by signal {}", running.name(), signal.unwrap_or(0)),
                };
                tracing::error!("{what}");
                if failed.is_none() && n_restarts < args.max_restarts {
                    n_restarts += 1;
                    tracing::warn!("{} is started again ({n_restarts} of {})", running.name(), args.max_restarts);
                    running.start_again().map_err(Failure::Run)?;
                    is_changed = true;
                    continue;
                }
                if failed.is_none() {
                    code = exit_code(status);
                    failed = Some((what, Instant::now()));
                }
            }
        }
        if is_changed {
            record(job, all, args)?;
        }
        let n_running = all.iter().filter(|running| running.ended.is_none()).count();
        // Servers end when all workers have left. If a worker never connected to a server, the server does not end by
        // itself, so it is ended here.
        if failed.is_none() && all.iter().all(|running| running.is_server() || running.ended.is_some()) {
            let since = *workers_ended.get_or_insert_with(Instant::now);
            if n_running > 0 && since.elapsed() > CHECKPOINT {
                end(all, Signal::TERM, GRACE);
                return Ok(());
            }
        }
        match &failed {
            None if n_running == 0 => return Ok(()),
            Some((what, since)) if n_running == 0 || since.elapsed() > NOTICE => {
                end(all, Signal::TERM, GRACE);
                return Err(Failure::Worker { message: what.clone(), code });
            }
            _ => std::thread::sleep(PAUSE),
        }
    }
}

/// The exit code of a process as shells report it: if a signal ended the process, 128 plus the number of the signal.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0).unwrap_or(1)
}

/// Sends a signal to all processes. Those that have not ended after `grace`, or when the user presses Ctrl-C a second time,
/// get SIGKILL.
fn end(all: &mut [Running], signal: Signal, grace: Duration) {
    if all.iter().all(|running| running.ended.is_some()) {
        return;
    }
    all.iter().for_each(|running| running.signal(signal));
    let since = Instant::now();
    while all.iter().any(|running| running.ended.is_none()) {
        for running in all.iter_mut() {
            if let Err(error) = running.look() {
                tracing::debug!("{}: {error}", running.name());
            }
        }
        if since.elapsed() > grace || interrupt::n_signals() > 1 {
            all.iter().for_each(|running| running.signal(Signal::KILL));
        }
        if since.elapsed() > grace + GRACE {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::parsed;

    #[test]
    fn workers_do_not_outlive_a_job_that_cannot_be_recorded() {
        let (job, dir) = (Job::create().unwrap_or_else(|failure| panic!("{failure}")), tempfile::tempdir().unwrap());
        std::fs::remove_dir(job.folder()).unwrap();
        let file = dir.path().join("late");
        let script = format!("sleep 1; touch '{}'", file.display());
        let args = parsed(&["-n", "1", "--", "sh", "-c", &script]);
        let command = program(&args.command).unwrap_or_else(|failure| panic!("{failure}"));
        let failure = watch(&job, vec![(Name::Worker(0), command)], &args).expect_err("there is no folder");
        assert!(failure.to_string().contains("job.json"), "{failure}");
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!file.exists(), "the worker went on");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["a", "b c", "it's", "", "--x=1"].map(OsString::from);
        assert_eq!(shown(&words), r"a 'b c' 'it'\''s' '' --x=1");
    }

    #[test]
    fn exit_codes_are_those_of_shells() {
        // The numbers are statuses as `wait` returns them: the second byte is the exit code, the first byte is the signal.
        assert_eq!([0x0300, 9, 0x0100].map(|raw| exit_code(ExitStatus::from_raw(raw))), [3, 137, 1]);
    }
}
