//! Manifests for Kubernetes. `manifest/mpi.rs` makes those of workers that MPI connects, `manifest/served.rs` those of
//! `dist_async`, whose values servers keep.

mod mpi;
mod served;

use super::{Args, value_of};
use crate::exit::{Failure, Outcome};
use mxrs::Error;
use serde_json::{Value, json};

/// Kinds of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// `TrainJob` of Kubeflow's Trainer 2, and the `TrainingRuntime` with mlPolicy.mpi that it needs
    TrainJob,
    /// `MPIJob` of Kubeflow's MPI operator
    MpiJob,
    /// `StatefulSet` of the servers and `Job` of the workers, for dist_async
    DistAsync,
}

/// The stores whose values servers keep.
const SERVED: [&str; 3] = ["dist_async", "dist_async_device", "dist_device_async"];
/// The most characters in the name of a job. Names of Kubernetes have at most 63, and those of pods begin with that of their
/// job.
const LONGEST_NAME: usize = 40;

/// Prints the manifest as JSON, which is also YAML: `mxrs launch … | kubectl apply -f -`.
///
/// # Errors
/// [`Failure::Usage`] if the image is missing, if the name of the job cannot be used, or if the kind of the manifest does not
/// have the servers that the store needs.
pub fn print(args: &Args) -> Outcome {
    let mut objects = objects(args)?;
    // `kubectl apply` makes the objects of a list in their order.
    let manifest = match objects.len() {
        1 => objects.remove(0),
        _ => json!({ "apiVersion": "v1", "kind": "List", "items": objects }),
    };
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| Failure::Run(Error::invalid("manifest", error, "JSON")))?;
    println!("{text}");
    Ok(())
}

fn objects(args: &Args) -> Outcome<Vec<Value>> {
    let Some(image) = &args.image else {
        return Err(Failure::Usage(
            "--launcher k8s: --image IMAGE is needed: an image with mxrs, and with Open MPI unless the store is dist_async"
                .into(),
        ));
    };
    check_name(&args.jobname)?;
    if args.manifest != Kind::DistAsync && is_served(args) {
        return Err(Failure::Usage(
            "--manifest: only `dist-async` has the servers that the store dist_async needs".into(),
        ));
    }
    match args.manifest {
        Kind::TrainJob => Ok(mpi::train_job(args, image)),
        Kind::MpiJob => Ok(vec![mpi::mpi_job(args, image)]),
        Kind::DistAsync => served::objects(args, image),
    }
}

/// Whether the command of the workers names a store that has servers.
fn is_served(args: &Args) -> bool {
    let words = args.command.iter().filter_map(|word| word.to_str());
    words.filter_map(|word| word.rsplit('=').next()).any(|word| SERVED.contains(&word))
}

/// Fails if the names of objects cannot begin with the name of the job.
fn check_name(name: &str) -> Outcome {
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let is_label = is_plain && name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-');
    if is_label && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    let expected = format!("at most {LONGEST_NAME} small letters, digits and hyphens, with a letter first");
    Err(Failure::Usage(Error::invalid("--jobname", name, expected).to_string()))
}

/// The variables of `--env` that this process has, with their values.
fn passed_on(args: &Args) -> Vec<(String, String)> {
    let value = |name: &str| value_of(name).map(|value| value.to_string_lossy().into_owned());
    args.env.iter().filter_map(|name| Some((name.clone(), value(name)?))).collect()
}

/// The command of a worker, as containers have it.
fn command(args: &Args) -> Vec<String> {
    args.command.iter().map(|word| literal(&word.to_string_lossy())).collect()
}

/// A text that Kubernetes does not change: in commands and values of variables it replaces `$(NAME)` by the variable, and
/// `$$` by `$`.
fn literal(text: &str) -> String {
    text.replace('$', "$$")
}

/// Each variable once, with its last value. A list of variables may not have a name twice.
fn last_of_each<T>(variables: Vec<(String, T)>) -> Vec<(String, T)> {
    let mut kept: Vec<(String, T)> = Vec::new();
    for (name, value) in variables {
        kept.retain(|(known, _)| *known != name);
        kept.push((name, value));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::parsed;

    fn of(flags: &[&str], command: &[&str]) -> Outcome<Vec<Value>> {
        objects(&parsed(&[&["-n", "3"], flags, &["--"], command].concat()))
    }

    fn refused(flags: &[&str], command: &[&str]) -> String {
        of(flags, command).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_cannot_be_a_manifest_is_named() {
        assert!(refused(&[], &["train"]).contains("--image"));
        for name in ["Digits", "8digits", "digits-", "", "a_b", "a-name-that-is-longer-than-forty-characters"] {
            let error = refused(&["--image", "img", "--jobname", name], &["train"]);
            assert!(error.contains("--jobname") && error.contains("40"), "{name}: {error}");
        }
        for command in [&["train", "--kv-store", "dist_async"][..], &["train", "--kv-store=dist_async_device"]] {
            for kind in ["train-job", "mpi-job"] {
                assert!(refused(&["--image", "img", "--manifest", kind], command).contains("dist-async"));
            }
            assert!(of(&["--image", "img", "--manifest", "dist-async"], command).is_ok());
        }
    }

    #[test]
    fn texts_reach_the_workers_as_they_are() {
        let args = parsed(&["-n", "1", "--", "sh", "-c", "echo $$ $(date) $HOME"]);
        assert_eq!(command(&args), ["sh", "-c", "echo $$$$ $$(date) $$HOME"]);
        let variables = [("A", 1), ("B", 2), ("A", 3)].map(|(name, value)| (name.to_owned(), value));
        assert_eq!(last_of_each(variables.to_vec()), [("B".to_owned(), 2), ("A".to_owned(), 3)]);
    }
}
