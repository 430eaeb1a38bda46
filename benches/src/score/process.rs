//! A peer's process, seen from outside: it runs only while it executes an order and is stopped at all other times, so that
//! none of its threads spins while another peer is measured. Also runs programs to their end ([`finish`]). Linux only.

use super::Failure;
use crate::memory::resident;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Maximum length of an error text, in characters.
const LONGEST: usize = 300;
/// Time between two checks whether a program has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A running peer.
pub struct Process {
    group: Group,
    stdin: ChildStdin,
    answers: Receiver<Value>,
    complaints: File,
}

impl Process {
    /// Starts the process. If `cpus` is given, it may run on these CPUs only.
    ///
    /// # Errors
    /// Fails if the program cannot be started.
    pub fn start(mut command: Command, cpus: Option<&[usize]>) -> Result<Self, Failure> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |error: io::Error| Failure::new("not found", format!("{program}: {error}"));
        let complaints = tempfile::tempfile().map_err(failed)?;
        let stderr = complaints.try_clone().map_err(failed)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut group = Group::start(command, cpus).map_err(failed)?;
        let pipes = group.child.stdin.take().zip(group.child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| Failure::new("failed", "it has no pipes"))?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            // Lines that are not answers were printed by a library.
            let is_answer = |line: String| serde_json::from_str(&line).ok().filter(Value::is_object);
            for answer in BufReader::new(stdout).lines().map_while(Result::ok).filter_map(is_answer) {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        Ok(Self { group, stdin, answers, complaints })
    }

    /// Lets the process execute one order and stops it afterwards.
    ///
    /// # Errors
    /// Fails if the process answers with an error, ends, or does not answer within `limit`. If it does not answer, it is killed.
    pub fn ask(&mut self, order: &Value, limit: Duration) -> Result<Value, Failure> {
        self.send(order)?;
        self.receive(Instant::now() + limit)
    }

    /// Sends an order, so that the process starts to execute it.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn send(&mut self, order: &Value) -> Result<(), Failure> {
        self.group.signal(libc::SIGCONT);
        let sent = writeln!(self.stdin, "{order}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| self.ended())
    }

    /// Waits for the answer to the last order.
    ///
    /// # Errors
    /// Fails if the process answers with an error, ends, or does not answer before the time `until`. If it does not answer, it
    /// is killed.
    pub fn receive(&mut self, until: Instant) -> Result<Value, Failure> {
        let answer = self.answers.recv_timeout(until.saturating_duration_since(Instant::now()));
        let answer = match answer {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                self.group.signal(libc::SIGKILL);
                return Err(Failure::new("no answer", "it did not answer in time and was killed"));
            }
        };
        self.group.signal(libc::SIGSTOP);
        match answer["error"].as_str() {
            Some(why) => Err(Failure::new("failed", shortened(why))),
            None => Ok(answer),
        }
    }

    /// Peak of the process's resident bytes; `None` if the system does not report it.
    pub fn peak_bytes(&self) -> Option<u64> {
        resident::peak_of(self.group.child.id()).ok()
    }

    /// Processor time that the process has used, in seconds; `None` if the system does not report it.
    pub fn processor_seconds(&self) -> Option<f64> {
        super::load::of_process(self.group.child.id())
    }

    /// The failure of a process that has ended, with the last line of its stderr.
    fn ended(&mut self) -> Failure {
        // The process closed its pipe, so it has ended or is about to end.
        let status = self.group.kill().map_or_else(|error| error.to_string(), |status| status.to_string());
        Failure::new("died", format!("{status}: {}", last_words(&mut self.complaints)))
    }
}

/// Runs a program to its end. Its standard output is discarded.
///
/// # Errors
/// Fails if the program cannot be started, fails (the error holds the last line of its stderr), or does not end within
/// `limit`. If it does not end, it is killed.
pub fn finish(mut command: Command, what: &str, limit: Duration) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |error: io::Error| Failure::new("failed", format!("starting {program}: {error}"));
    let mut complaints = tempfile::tempfile().map_err(failed)?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints.try_clone().map_err(failed)?);
    let mut group = Group::start(command, None).map_err(failed)?;
    let start = Instant::now();
    let status = loop {
        match group.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if start.elapsed() < limit => std::thread::sleep(PAUSE),
            None => {
                let why = format!("{what} did not end within {} s and was killed", limit.as_secs_f64());
                return Err(Failure::new("no answer", why));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    Err(Failure::new("failed", format!("{what} ended with {status}: {}", last_words(&mut complaints))))
}

/// A program in a process group of its own, so that signals also reach the processes that it starts.
struct Group {
    child: Child,
    /// Whether the program has ended and was waited for. If so, its process id may belong to another process.
    has_ended: bool,
}

impl Group {
    /// Starts the program. If `cpus` is given, it may run on these CPUs only.
    fn start(mut command: Command, cpus: Option<&[usize]>) -> io::Result<Self> {
        let set = cpus.map(cpu_set);
        command.process_group(0);
        // SAFETY: between fork and exec, `prepare` only makes system calls, which take no lock and allocate nothing.
        unsafe { command.pre_exec(move || prepare(set.as_ref())) };
        Ok(Self { child: command.spawn()?, has_ended: false })
    }

    /// The exit status, if the program has ended.
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        self.has_ended |= status.is_some();
        Ok(status)
    }

    /// Kills the program unless it has ended, and waits for it.
    fn kill(&mut self) -> io::Result<ExitStatus> {
        self.signal(libc::SIGKILL);
        self.has_ended = true;
        self.child.wait()
    }

    /// Sends a signal to the program and to the processes that it started.
    fn signal(&self, signal: libc::c_int) {
        if !self.has_ended {
            // SAFETY: `kill` accesses no memory. The group is that of our child, which has not been waited for, so its id
            // still belongs to it.
            unsafe { libc::kill(-(self.child.id() as libc::pid_t), signal) };
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // This fails only if the program was already waited for, so nothing is left to do.
        let _ = self.kill();
    }
}

/// The last line that is not blank in the file of the program's stderr.
fn last_words(complaints: &mut File) -> String {
    let mut text = Vec::new();
    let read = complaints.seek(SeekFrom::Start(0)).and_then(|_| complaints.read_to_end(&mut text));
    let text = if read.is_ok() { String::from_utf8_lossy(&text).into_owned() } else { String::new() };
    shortened(text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing"))
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST).chain(['…']).collect() }
}

fn cpu_set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: `cpu_set_t` is an array of integers, for which all-zero bytes are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the filter keeps only `*cpu < CPU_SETSIZE`, so the bit lies inside the set.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    set
}

/// Prepares a child before exec: binds it to its CPUs and makes it end with its parent, because a stopped process would not
/// notice that its parent has ended.
fn prepare(cpus: Option<&libc::cpu_set_t>) -> io::Result<()> {
    // SAFETY: `PR_SET_PDEATHSIG` takes a signal number and accesses no memory.
    let mut status = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    if let Some(cpus) = cpus {
        // SAFETY: `cpus` is a readable `cpu_set_t`, and the size passed is the size of that type.
        status |= unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), cpus) };
    }
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SOON: Duration = Duration::from_secs(20);

    /// A peer that runs a shell script; `$line` holds the order.
    fn script(body: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("while read -r line; do {body}; done")]);
        Process::start(command, None).unwrap()
    }

    #[test]
    fn answers_are_lines_of_json_among_what_libraries_print() {
        let mut peer = script("echo 'a library speaks'; echo '[1]'; echo \"$line\"");
        for n in 0..3 {
            assert_eq!(peer.ask(&json!({ "n": n }), SOON).unwrap(), json!({ "n": n }));
        }
        assert!(peer.peak_bytes().unwrap() > 0);
    }

    #[test]
    fn an_error_is_answered_and_the_peer_lives_on() {
        let mut peer = script("case $line in *bad*) echo '{\"error\": \"no such   operator\"}';; *) echo '{}';; esac");
        let failure = peer.ask(&json!({ "do": "bad" }), SOON).unwrap_err();
        assert_eq!((&*failure.word, failure.why.as_str()), ("failed", "no such operator"));
        assert_eq!(peer.ask(&json!({}), SOON).unwrap(), json!({}));
    }

    #[test]
    fn a_peer_that_dies_leaves_its_last_words() {
        let mut peer = script("echo 'out of memory' >&2; exit 7");
        let failure = peer.ask(&json!({}), SOON).unwrap_err();
        assert_eq!(failure.word, "died");
        assert!(failure.why.contains("exit status: 7") && failure.why.ends_with("out of memory"), "{failure}");
        assert_eq!(peer.ask(&json!({}), SOON).unwrap_err().word, "died");
    }

    #[test]
    fn a_peer_that_hangs_is_killed() {
        let mut peer = script("exec sleep 100");
        let start = Instant::now();
        assert_eq!(peer.ask(&json!({}), Duration::from_millis(50)).unwrap_err().word, "no answer");
        assert!(start.elapsed() < SOON);
    }

    #[test]
    fn a_peer_rests_between_orders() {
        // The process answers and then loops forever, as a library's spinning threads do.
        let mut spinning = Command::new("sh");
        spinning.args(["-c", "read -r line; echo '{}'; while :; do :; done"]);
        let mut peer = Process::start(spinning, None).unwrap();
        peer.ask(&json!({}), SOON).unwrap();
        // Waits a moment, because the stop signal can take effect after `ask` has returned.
        std::thread::sleep(Duration::from_millis(50));
        let before = peer.processor_seconds().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(peer.processor_seconds().unwrap(), before);
    }

    fn is_running(id: u64) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    fn wait_until_gone(id: u64) {
        let start = Instant::now();
        while is_running(id) {
            assert!(start.elapsed() < SOON, "process {id} is still there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_a_peer_started_ends_with_it() {
        let mut peer = script("sleep 100 & echo \"{\\\"id\\\": $!}\"");
        let id = peer.ask(&json!({}), SOON).unwrap()["id"].as_u64().unwrap();
        assert!(is_running(id));
        drop(peer);
        wait_until_gone(id);
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("sleep 100 & echo $! > {}; wait", path.display())]);
        let start = Instant::now();
        let failure = finish(command, "a tool", Duration::from_secs(1)).unwrap_err();
        assert_eq!((&*failure.word, &*failure.why), ("no answer", "a tool did not end within 1 s and was killed"));
        assert!(start.elapsed() < SOON);
        wait_until_gone(std::fs::read_to_string(path).unwrap().trim().parse().unwrap());
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = Process::start(Command::new("no-such-program"), None).err().unwrap();
        assert_eq!(failure.word, "not found");
        assert!(failure.why.contains("no-such-program"), "{failure}");
    }

    #[test]
    fn a_peer_runs_on_the_cpus_it_is_given() {
        let cpus = mxrs_sync::affinity::current().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "read -r line; echo '{\"list\": \"'$(grep Cpus_allowed_list /proc/self/status)'\"}'"]);
        let mut peer = Process::start(command, Some(&cpus[..1])).unwrap();
        let answer = peer.ask(&json!({}), SOON).unwrap();
        assert_eq!(answer["list"].as_str().unwrap(), format!("Cpus_allowed_list: {}", cpus[0]));
    }

    #[test]
    fn long_complaints_are_cut() {
        assert_eq!(shortened(" a\n  b "), "a b");
        assert_eq!(shortened(&"ü".repeat(1000)).chars().count(), LONGEST + 1);
    }
}
