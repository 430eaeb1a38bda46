//! Two network namespaces with a virtual cable between them. Open MPI takes them for two machines.

use mxrs_testkit::skipped;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// What is left out without namespaces.
const WHAT: &str = "workers of two network namespaces that MPI connects";

/// Two network namespaces with the addresses 10.77.0.1 and 10.77.0.2, removed when the test ends.
pub struct Cable {
    names: [String; 2],
    /// The program that Open MPI calls in place of ssh.
    agent: PathBuf,
    _dir: tempfile::TempDir,
}

fn ip(words: &str) -> Option<String> {
    let run = Command::new("ip").args(words.split_whitespace()).output().ok()?;
    run.status.success().then(|| String::from_utf8_lossy(&run.stdout).into_owned())
}

impl Cable {
    /// Makes the namespaces. Returns `None`, and prints the reason, if Open MPI is not installed or the system does not
    /// allow namespaces.
    pub fn lay() -> Option<Self> {
        if Command::new("mpirun.openmpi").arg("--version").output().is_err() {
            skipped(WHAT, "Open MPI is not installed");
            return None;
        }
        let thread = format!("{:?}", std::thread::current().id());
        let number: String = thread.chars().filter(char::is_ascii_digit).collect();
        let names = ["a", "b"].map(|side| format!("mxrs{}-{number}{side}", std::process::id()));
        let dir = tempfile::tempdir().unwrap();
        let agent = dir.path().join("agent");
        let b = &names[1];
        // The first argument of the script is the host, which is skipped. The second namespace gets a host name of its own,
        // because Open MPI would otherwise use shared memory.
        let script = format!("#!/bin/sh\nshift\nexec ip netns exec {b} unshare --uts sh -c \"hostname {b}; $*\"\n");
        std::fs::write(&agent, script).unwrap();
        std::fs::set_permissions(&agent, PermissionsExt::from_mode(0o700)).unwrap();
        let cable = Self { names, agent, _dir: dir };
        let [a, b] = &cable.names;
        let steps = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("link add mxrs0 netns {a} type veth peer name mxrs0 netns {b}"),
            format!("-n {a} addr add 10.77.0.1/24 dev mxrs0"),
            format!("-n {b} addr add 10.77.0.2/24 dev mxrs0"),
            format!("-n {a} link set lo up"),
            format!("-n {b} link set lo up"),
            format!("-n {a} link set mxrs0 up"),
            format!("-n {b} link set mxrs0 up"),
        ];
        if steps.iter().all(|words| ip(words).is_some()) {
            return Some(cable);
        }
        skipped(WHAT, "this system does not let this user make network namespaces with `ip`");
        None
    }

    /// A command that runs this test program with these arguments on both machines.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let a = &self.names[0];
        let mut command = Command::new("ip");
        command.args(["netns", "exec", a, "unshare", "--uts", "sh", "-c", &format!("hostname {a}; exec \"$@\""), "sh"]);
        command.args(["mpirun.openmpi", "-n", "2", "--allow-run-as-root", "--host", "10.77.0.1:1,10.77.0.2:1"]);
        command.args(["-x", "MXRS_MPI_LIB", "--mca", "plm_rsh_agent"]).arg(&self.agent);
        for (name, value) in [
            ("btl", "tcp,self"),
            ("btl_tcp_if_include", "10.77.0.0/24"),
            ("oob_tcp_if_include", "10.77.0.0/24"),
            ("mpi_yield_when_idle", "1"),
        ] {
            command.args(["--mca", name, value]);
        }
        command.env("MXRS_MPI_LIB", "libmpi.so.40").arg(std::env::current_exe().unwrap()).args(arguments);
        command
    }

    /// Cuts the cable.
    pub fn cut(&self) {
        ip(&format!("-n {} link set mxrs0 down", self.names[0]));
    }

    /// Ends all processes in the namespaces.
    pub fn kill_all(&self) {
        for name in &self.names {
            for pid in ip(&format!("netns pids {name}")).unwrap_or_default().split_whitespace() {
                let _ = Command::new("kill").args(["-9", pid]).output();
            }
        }
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.kill_all();
        for name in &self.names {
            ip(&format!("netns del {name}"));
        }
    }
}
