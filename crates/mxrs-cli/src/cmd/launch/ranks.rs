//! The variables of PyTorch's launcher for workers that MPI or Slurm starts. Only a worker itself knows its rank there, so a
//! shell sets the rank in the worker and then becomes its command.

use super::Args;
use std::ffi::OsString;

/// The port that rank 0 may use to connect workers, for programs that read `MASTER_PORT`. Workers of mxrs do not use it.
pub const MASTER_PORT: &str = "9091";

/// For a variable, what the shell of a worker sets it to.
pub type Assignment = (&'static str, &'static str);

/// Open MPI's names of the rank among all workers, and among those of one machine.
pub const OPEN_MPI: &[Assignment] = &[("RANK", "$OMPI_COMM_WORLD_RANK"), ("LOCAL_RANK", "$OMPI_COMM_WORLD_LOCAL_RANK")];
/// The names of Hydra, which starts the workers of MPICH and Intel MPI.
pub const HYDRA: &[Assignment] = &[("RANK", "$PMI_RANK"), ("LOCAL_RANK", "$MPI_LOCALRANKID")];
/// Slurm's names. The first node of the step has rank 0.
pub const SLURM: &[Assignment] = &[
    ("RANK", "$SLURM_PROCID"),
    ("LOCAL_RANK", "$SLURM_LOCALID"),
    ("MASTER_ADDR", "$(scontrol show hostnames \"$SLURM_STEP_NODELIST\" 2>/dev/null | head -n 1)"),
];

/// Open MPI starts programs of the current folder that are not in PATH, too. A shell does so if the name begins with `./`.
const IN_FOLDER: &str = "[ -x \"./$1\" ] && ! command -v \"$1\" >/dev/null && set -- \"./$@\"; ";

/// Whether the user sets this variable, by `--env-worker` or `--env`.
fn is_given(args: &Args, name: &str) -> bool {
    args.is_given(name) || args.env.iter().any(|given| given == name)
}

/// The command of a worker, which a shell runs after these assignments. Variables that the user sets keep their values.
pub fn command(args: &Args, assignments: &[Assignment]) -> Vec<OsString> {
    let own = assignments.iter().filter(|(name, _)| !is_given(args, name));
    let script: Vec<String> = own.map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    if script.is_empty() {
        return args.command.clone();
    }
    let in_folder = if assignments == OPEN_MPI { IN_FOLDER } else { "" };
    let script = format!("export {}; {in_folder}exec \"$@\"", script.join(" "));
    let shell = ["sh", "-c", &script, "sh"].map(OsString::from);
    shell.into_iter().chain(args.command.iter().cloned()).collect()
}

/// The variables that all workers have in common: their number, a port, and the host of rank 0 if it is known.
pub fn variables(args: &Args, master: Option<String>) -> Vec<(String, String)> {
    let n = args.num_workers.to_string();
    let all = [("WORLD_SIZE", Some(n)), ("MASTER_ADDR", master), ("MASTER_PORT", Some(MASTER_PORT.to_owned()))];
    let own = all.into_iter().filter(|(name, _)| !is_given(args, name));
    own.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The host of rank 0: the first one of the host file, or this machine without a host file. `None` if the file cannot be read;
/// the launcher's program then says so.
pub fn first_host(args: &Args) -> Option<String> {
    let Some(path) = &args.hostfile else { return Some("127.0.0.1".to_owned()) };
    let text = std::fs::read_to_string(path).ok()?;
    let mut words = text.lines().filter_map(|line| line.split('#').next()?.split_whitespace().next());
    // Open MPI takes `user@host`, and MPICH `host:slots`.
    let host = |word: &str| word.rsplit('@').next()?.split(':').next().map(str::to_owned);
    words.next().and_then(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::parsed;
    use crate::cmd::launch::workers::shown;

    #[test]
    fn a_shell_sets_the_rank_and_becomes_the_command() {
        let args = parsed(&["-n", "2", "--", "sh", "-c", "echo \"$RANK $LOCAL_RANK $1\"", "x", "a  b"]);
        let words = command(&args, &[("RANK", "$A"), ("LOCAL_RANK", "$(echo $A | tr 7 8)")]);
        let ran = std::process::Command::new(&words[0]).args(&words[1..]).env("A", "7").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "7 8 a  b\n");
        let args = parsed(&["-n", "2", "--env-worker", "RANK:5", "--env-worker", "LOCAL_RANK:5", "--", "true"]);
        assert_eq!(shown(&command(&args, OPEN_MPI)), "true");
    }

    #[test]
    fn programs_of_the_current_folder_are_found_as_open_mpi_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = "printf '#!/bin/sh\\necho \"$# $1\"\\n' >own-train && chmod 755 own-train";
        let in_folder = |words: &[&str]| {
            let mut command = std::process::Command::new(words[0]);
            command.args(&words[1..]).current_dir(folder.path()).output().unwrap()
        };
        assert!(in_folder(&["sh", "-c", write]).status.success());
        for program in ["own-train", "./own-train"] {
            let words = command(&parsed(&["-n", "2", "--", program, "a  b"]), OPEN_MPI);
            let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(String::from_utf8_lossy(&in_folder(&words).stdout), "1 a  b\n", "{program}");
        }
    }

    #[test]
    fn the_first_host_is_that_of_rank_0() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        let host = |text: &str| {
            std::fs::write(&path, text).unwrap();
            first_host(&parsed(&["-n", "2", "-H", path.to_str().unwrap(), "--", "true"]))
        };
        assert_eq!(host("# all\n\n  node7 slots=2\nnode8\n").as_deref(), Some("node7"));
        assert_eq!(host("node9:4\n").as_deref(), Some("node9"));
        assert_eq!(host("me@node6\n").as_deref(), Some("node6"));
        assert_eq!(host(""), None);
        assert_eq!(first_host(&parsed(&["-n", "2", "--", "true"])).as_deref(), Some("127.0.0.1"));
        for given in [["--env-worker", "MASTER_ADDR:node1"], ["--env", "MASTER_ADDR"]] {
            let args = parsed(&[&["-n", "2"], &given[..], &["--", "true"]].concat());
            let names = variables(&args, Some("node2".into())).into_iter().map(|(name, _)| name);
            assert_eq!(names.collect::<Vec<_>>(), ["WORLD_SIZE", "MASTER_PORT"]);
        }
    }
}
