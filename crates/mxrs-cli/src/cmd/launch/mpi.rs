//! The command line of `mpirun`, which differs between MPI libraries.

use super::{Args, Launcher, ranks, value_of};
use crate::exit::{Failure, Outcome};
use crate::start;
use mxrs::env::Settings;
use std::ffi::OsString;
use std::process::Command;

/// The programs that start MPI's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    /// Open MPI before 5.
    OpenMpi4,
    /// Open MPI 5 and later, which use PRRTE.
    OpenMpi5,
    /// Hydra, of MPICH and Intel MPI.
    Hydra,
}

/// The command that starts the workers.
///
/// # Errors
/// [`Failure::Usage`] if neither `mpirun` nor `mpiexec` of a known MPI is found, or if a variable has an invalid value.
pub fn command(args: &Args) -> Outcome<Vec<OsString>> {
    let mut found = None;
    for name in ["mpirun", "mpiexec"] {
        let Ok(output) = Command::new(name).arg("--version").output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some(runner) = runner_of(&text) {
            found = Some((name, runner));
            break;
        }
        found = found.or(Some((name, Runner::Hydra)).filter(|_| text.contains("HYDRA")));
    }
    let Some((name, runner)) = found else {
        let launcher = if args.launcher() == Launcher::Ssh { "ssh" } else { "mpi" };
        return Err(Failure::Usage(format!(
            "--launcher {launcher}: no mpirun of Open MPI, MPICH or Intel MPI is in PATH; install one of them, or use \
             --launcher local on one machine"
        )));
    };
    let is_root = rustix::process::geteuid().is_root();
    Ok(line(args, name, runner, is_root, interface(args)?.as_deref()))
}

/// The network interface that connects the workers, if the user names one by `DMLC_INTERFACE`: with `--env-worker`, or in the
/// environment of this program.
fn interface(args: &Args) -> Outcome<Option<String>> {
    let given = args.env_worker.iter().rfind(|(name, _)| name == "DMLC_INTERFACE").map(|(_, value)| value.clone());
    let (settings, _) = Settings::from_snapshot(&start::snapshot(None)?).map_err(Failure::binding)?;
    let interface = given.or_else(|| settings.distributed.interface.clone());
    Ok(interface.filter(|interface| !interface.is_empty()))
}

/// The runner whose version text this is.
fn runner_of(version: &str) -> Option<Runner> {
    let first = version.lines().next().unwrap_or_default();
    if version.contains("HYDRA") || version.contains("Intel(R) MPI") {
        return Some(Runner::Hydra);
    }
    let number = first.strip_prefix("mpirun (Open MPI) ").or_else(|| first.strip_prefix("mpiexec (OpenRTE) "))?;
    let major: u32 = number.split('.').next()?.trim().parse().ok()?;
    Some(if major >= 5 { Runner::OpenMpi5 } else { Runner::OpenMpi4 })
}

fn line(args: &Args, name: &str, runner: Runner, is_root: bool, interface: Option<&str>) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![name.into()];
    let mut add = |words: &[&str]| line.extend(words.iter().map(OsString::from));
    let n = args.num_workers.to_string();
    let is_here = args.hostfile.is_none();
    match runner {
        Runner::OpenMpi4 | Runner::OpenMpi5 => {
            add(&["-n", &n]);
            if runner == Runner::OpenMpi4 {
                add(&["--tag-output", "--timestamp-output"]);
            } else {
                add(&["--output", "tag,timestamp"]);
            }
            if is_root {
                add(&["--allow-run-as-root"]);
            }
            if is_here {
                // There may be more workers than processors here, so a worker that waits must yield and not spin.
                add(&["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
            } else {
                add(&["--map-by", "node"]);
            }
            if let Some(interface) = interface {
                // The first for messages between workers, the second for those of Open MPI's daemons.
                add(&["--mca", "btl_tcp_if_include", interface, "--mca", "oob_tcp_if_include", interface]);
            }
        }
        Runner::Hydra => {
            add(&["-n", &n, "-prepend-rank"]);
            if let Some(interface) = interface {
                add(&["-iface", interface]);
            }
        }
    }
    if let Some(hosts) = &args.hostfile {
        let flag = if runner == Runner::Hydra { "-f" } else { "--hostfile" };
        line.extend([flag.into(), hosts.clone().into_os_string()]);
    }
    let mut variables = args.variables_with_mpi("mpi");
    variables.extend(ranks::variables(args, ranks::first_host(args)));
    for (name, value) in variables {
        match runner {
            Runner::Hydra => line.extend(["-genv".into(), name.into(), value.into()]),
            _ => line.extend(["-x".into(), format!("{name}={value}").into()]),
        }
    }
    for name in &args.env {
        match runner {
            // Hydra has `-genvlist` for variables of this process, but it may be given only once and passes no other
            // variables. So each variable is passed with its value.
            Runner::Hydra => {
                if let Some(value) = value_of(name) {
                    line.extend(["-genv".into(), name.into(), value]);
                }
            }
            _ => line.extend(["-x".into(), name.into()]),
        }
    }
    line.extend(ranks::command(args, if runner == Runner::Hydra { ranks::HYDRA } else { ranks::OPEN_MPI }));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::{parsed, workers::shown};

    fn of(runner: Runner, is_root: bool, flags: &[&str]) -> String {
        with(runner, is_root, flags, None)
    }

    fn with(runner: Runner, is_root: bool, flags: &[&str], interface: Option<&str>) -> String {
        let args = parsed(&[&["-n", "3"], flags, &["--", "train", "a b"]].concat());
        shown(&line(&args, "mpirun", runner, is_root, interface))
    }

    #[test]
    fn programs_are_known_by_their_version() {
        // The first lines that these programs print: Debian's Open MPI 4.1.4 and MPICH 4.0.2, PyPI's Open MPI 5 and Intel
        // MPI.
        assert_eq!(runner_of("mpirun (Open MPI) 4.1.4\n\nReport bugs to"), Some(Runner::OpenMpi4));
        assert_eq!(runner_of("mpirun (Open MPI) 5.0.11\n"), Some(Runner::OpenMpi5));
        assert_eq!(runner_of("HYDRA build details:\n    Version:    4.0.2"), Some(Runner::Hydra));
        assert_eq!(runner_of("Intel(R) MPI Library for Linux* OS, Version 2021.19"), Some(Runner::Hydra));
        assert_eq!(runner_of("something else"), None);
    }

    #[test]
    fn each_program_gets_its_flags() {
        let variables = "DMLC_ROLE=worker -x DMLC_JOB_CLUSTER=mpi -x DMLC_NUM_WORKER=3 -x DMLC_NUM_SERVER=3";
        assert_eq!(
            of(Runner::OpenMpi4, true, &["--env", "PATH", "--env-worker", "A:b"]),
            format!(
                "mpirun -n 3 --tag-output --timestamp-output --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
                 -x {variables} -x A=b -x MXRS_KVSTORE_ENGINE=mpi -x WORLD_SIZE=3 -x MASTER_ADDR=127.0.0.1 -x \
                 MASTER_PORT=9091 -x PATH sh -c 'export RANK=\"$OMPI_COMM_WORLD_RANK\" \
                 LOCAL_RANK=\"$OMPI_COMM_WORLD_LOCAL_RANK\"; [ -x \"./$1\" ] && ! command -v \"$1\" >/dev/null && set -- \
                 \"./$@\"; exec \"$@\"' sh train 'a b'"
            )
        );
        let hosts = of(Runner::OpenMpi5, false, &["-H", "hosts", "--p3"]);
        assert!(hosts.starts_with("mpirun -n 3 --output tag,timestamp --map-by node --hostfile hosts -x"), "{hosts}");
        assert!(hosts.contains("-x DMLC_PS_VAN_TYPE=p3 -x DMLC_PS_WATER_MARK=10"), "{hosts}");
        let hydra = of(Runner::Hydra, true, &["-H", "hosts", "--timeout", "20"]);
        assert!(hydra.starts_with("mpirun -n 3 -prepend-rank -f hosts -genv DMLC_ROLE worker -genv"), "{hydra}");
        assert!(hydra.contains("-genv MXRS_KVSTORE_TIMEOUT 20") && hydra.ends_with("sh train 'a b'"), "{hydra}");
        assert!(hydra.contains("-genv WORLD_SIZE 3") && hydra.contains("RANK=\"$PMI_RANK\""), "{hydra}");
        // Hydra gets each variable of `--env` with its value, and no variable that is not set in this process.
        let hydra = of(Runner::Hydra, true, &["--env", "NO_SUCH_VARIABLE", "--env", "PATH"]);
        let path = shown(&["-genv".into(), "PATH".into(), value_of("PATH").unwrap(), "sh".into(), "-c".into()]);
        assert!(hydra.contains(&path), "{hydra}");
        assert!(!hydra.contains("-genvlist") && !hydra.contains("NO_SUCH_VARIABLE"), "{hydra}");
    }

    /// "`DMLC_INTERFACE` … MPI `btl_tcp_if_include`": each program has a flag of its own for the network interface.
    #[test]
    fn the_network_interface_is_a_flag() {
        for runner in [Runner::OpenMpi4, Runner::OpenMpi5] {
            let line = with(runner, false, &["-H", "hosts"], Some("eth1"));
            let flags = "--map-by node --mca btl_tcp_if_include eth1 --mca oob_tcp_if_include eth1 --hostfile hosts -x";
            assert!(line.contains(flags), "{line}");
        }
        let line = with(Runner::Hydra, false, &["-H", "hosts"], Some("eth1"));
        assert!(line.starts_with("mpirun -n 3 -prepend-rank -iface eth1 -f hosts -genv"), "{line}");
        assert!(!of(Runner::OpenMpi4, false, &[]).contains("_if_include"));
        let args = parsed(&["-n", "2", "--env-worker", "DMLC_INTERFACE:ib0", "--", "train"]);
        let interface = interface(&args).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(interface.as_deref(), Some("ib0"));
    }
}
