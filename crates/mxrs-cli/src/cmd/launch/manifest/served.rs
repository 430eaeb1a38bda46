//! Manifests of `dist_async`. The servers are a `StatefulSet`, whose pods keep their names and their snapshots when they are
//! started again. The workers are an indexed `Job`, whose pods have numbers.

use super::{command, last_of_each, literal, passed_on};
use crate::cmd::launch::Args;
use crate::cmd::launch::job::CHECKPOINT;
use crate::exit::{Failure, Outcome};
use serde_json::{Value, json};

/// The port at which each server listens.
const PORT: u16 = 9000;
/// The folder of the certificates in each container.
const CERTIFICATES: &str = "/etc/mxrs/tls";
/// The folder of the snapshots in the container of a server, and the size of the volume that is mounted there.
const SNAPSHOTS: &str = "/var/lib/mxrs";
const SIZE_OF_SNAPSHOTS: &str = "10Gi";
/// The label with the name of the job.
const JOB: &str = "app.kubernetes.io/instance";

#[derive(Clone, Copy)]
enum Role {
    Server,
    Worker,
}

impl Role {
    /// The role as `DMLC_ROLE` has it.
    fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Worker => "worker",
        }
    }

    /// Where Kubernetes writes the number of a pod.
    fn number(self) -> &'static str {
        match self {
            Self::Server => "metadata.labels['apps.kubernetes.io/pod-index']",
            Self::Worker => "metadata.annotations['batch.kubernetes.io/job-completion-index']",
        }
    }

    /// The name of the objects of this role.
    fn name(self, args: &Args) -> String {
        format!("{}-{}", args.jobname, self.word())
    }

    fn labels(self, args: &Args) -> Value {
        json!({ "app.kubernetes.io/name": "mxrs", JOB: args.jobname, "app.kubernetes.io/component": self.word() })
    }

    fn metadata(self, args: &Args) -> Value {
        json!({ "name": self.name(args), "labels": self.labels(args) })
    }
}

/// The service by which servers have names, the servers, and the workers.
///
/// # Errors
/// [`Failure::Usage`] if there are no servers.
pub fn objects(args: &Args, image: &str) -> Outcome<Vec<Value>> {
    let n_servers = args.num_servers.unwrap_or(args.num_workers);
    if n_servers == 0 {
        return Err(Failure::Usage("--num-servers: the manifest of dist_async needs at least 1 server".into()));
    }
    Ok(vec![service(args), servers(args, image, n_servers), workers(args, image, n_servers)])
}

fn service(args: &Args) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": Role::Server.metadata(args),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": true,
            "selector": Role::Server.labels(args),
            "ports": [{ "name": "grpc", "port": PORT }]
        }
    })
}

fn servers(args: &Args, image: &str, n_servers: u32) -> Value {
    let claim = json!({
        "metadata": { "name": "snapshots" },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": SIZE_OF_SNAPSHOTS } }
        }
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": Role::Server.metadata(args),
        "spec": {
            "replicas": n_servers,
            "serviceName": Role::Server.name(args),
            // No server waits for another one.
            "podManagementPolicy": "Parallel",
            "selector": { "matchLabels": Role::Server.labels(args) },
            "template": pod(args, image, Role::Server, n_servers),
            "volumeClaimTemplates": [claim],
            // A training that begins must not find the snapshots of the last one.
            "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Delete", "whenScaled": "Retain" }
        }
    })
}

fn workers(args: &Args, image: &str, n_servers: u32) -> Value {
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": Role::Worker.metadata(args),
        "spec": {
            "completionMode": "Indexed",
            "completions": args.num_workers,
            "parallelism": args.num_workers,
            "backoffLimit": args.max_restarts,
            "template": pod(args, image, Role::Worker, n_servers)
        }
    })
}

/// The template of the pods of a role.
fn pod(args: &Args, image: &str, role: Role, n_servers: u32) -> Value {
    let mut mounts = vec![json!({ "name": "tls", "mountPath": CERTIFICATES, "readOnly": true })];
    let mut container = json!({
        "name": role.word(),
        "image": image,
        "command": command(args),
        "env": environment(args, role, n_servers)
    });
    let secret = format!("{}-tls", role.name(args));
    let mut spec = json!({
        "terminationGracePeriodSeconds": CHECKPOINT.as_secs(),
        "volumes": [{ "name": "tls", "secret": { "secretName": secret } }]
    });
    match role {
        Role::Server => {
            mounts.push(json!({ "name": "snapshots", "mountPath": SNAPSHOTS }));
            container["ports"] = json!([{ "name": "grpc", "containerPort": PORT }]);
        }
        Role::Worker => spec["restartPolicy"] = json!("Never"),
    }
    container["volumeMounts"] = json!(mounts);
    spec["containers"] = json!([container]);
    json!({ "metadata": { "labels": role.labels(args) }, "spec": spec })
}

/// The variables of the container of a role. A variable of the user takes the place of one with the same name.
fn environment(args: &Args, role: Role, n_servers: u32) -> Vec<Value> {
    let set = |name: &str, value: &str| (name.to_owned(), json!({ "name": name, "value": literal(value) }));
    let number = |name: &str| {
        let source = json!({ "fieldRef": { "fieldPath": role.number() } });
        (name.to_owned(), json!({ "name": name, "valueFrom": source }))
    };
    let common = Args { env_worker: Vec::new(), ..args.clone() }.variables("");
    // None of the words of `DMLC_JOB_CLUSTER` means Kubernetes.
    let common = common.iter().filter(|(name, _)| name != "DMLC_JOB_CLUSTER");
    let mut variables: Vec<(String, Value)> = common.map(|(name, value)| set(name, value)).collect();
    let service = Role::Server.name(args);
    let addresses: Vec<String> = (0..n_servers).map(|i| format!("{service}-{i}.{service}:{PORT}")).collect();
    variables.extend([
        set("DMLC_ROLE", role.word()),
        number("DMLC_RANK"),
        number("DMLC_TASK_ID"),
        set("MXRS_KVSTORE_SERVERS", &addresses.join(",")),
        set("MXRS_KVSTORE_CA", &format!("{CERTIFICATES}/ca.crt")),
        set("MXRS_KVSTORE_CERT", &format!("{CERTIFICATES}/tls.crt")),
        set("MXRS_KVSTORE_KEY", &format!("{CERTIFICATES}/tls.key")),
    ]);
    match role {
        Role::Server => {
            // A server listens at all addresses of its pod.
            variables.extend([set("DMLC_USE_KUBERNETES", "1"), set("MXRS_KVSTORE_SNAPSHOT_DIR", SNAPSHOTS)]);
            variables.extend(args.env_server.iter().map(|(name, value)| set(name, value)));
        }
        Role::Worker => {
            let of_user = args.env_worker.iter().cloned().chain(passed_on(args));
            variables.extend(of_user.map(|(name, value)| set(&name, &value)));
        }
    }
    last_of_each(variables).into_iter().map(|(_, variable)| variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::parsed;
    use mxrs::env::{MapSource, Settings};
    use std::path::Path;

    fn made(flags: &[&str]) -> Vec<Value> {
        let words = [&["-n", "3", "-s", "2", "--jobname", "digits"], flags, &["--", "mxrs", "train"]].concat();
        objects(&parsed(&words), "img").unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// The variables of the container of an object, in the pod with this number.
    fn variables(object: &Value, number: &str) -> Vec<(String, String)> {
        let env = &object["spec"]["template"]["spec"]["containers"][0]["env"];
        let of = |variable: &Value| {
            let value = variable["value"].as_str().unwrap_or(number);
            (variable["name"].as_str().unwrap().to_owned(), value.to_owned())
        };
        env.as_array().unwrap().iter().map(of).collect()
    }

    #[test]
    fn the_store_reads_what_the_manifest_sets() {
        let objects = made(&["--timeout", "20", "--env-server", "MXRS_KVSTORE_SNAPSHOT_INTERVAL:5", "--p3"]);
        let [_, servers, workers] = &objects[..] else { panic!("{objects:?}") };
        for (object, number) in [(servers, 1_i64), (workers, 2)] {
            let source = MapSource::new(variables(object, &number.to_string()));
            let (settings, _) = Settings::from_source(&source).unwrap();
            let settings = settings.distributed;
            let addresses = "digits-server-0.digits-server:9000,digits-server-1.digits-server:9000";
            assert_eq!(settings.servers.as_deref(), Some(addresses));
            assert_eq!((settings.rank, settings.task_id), (Some(number), usize::try_from(number).ok()));
            let n = [settings.n_workers, settings.n_servers].map(|n| n.map(usize::from));
            assert_eq!((n, settings.patience_s.get()), ([Some(3), Some(2)], 20));
            let files = [&settings.tls_authority, &settings.tls_certificate, &settings.tls_key];
            assert!(files.iter().all(|file| file.as_ref().is_some_and(|path| path.starts_with(CERTIFICATES))));
            let is_server = number == 1;
            assert_eq!(settings.role.is_some_and(|role| format!("{role:?}") == "Server"), is_server);
            assert_eq!((settings.kubernetes, settings.snapshot_interval_s.get() == 5), (is_server, is_server));
            assert_eq!(settings.snapshot_folder.as_deref(), is_server.then_some(Path::new(SNAPSHOTS)));
        }
    }

    #[test]
    fn pods_have_numbers_certificates_and_snapshots() {
        let objects = made(&["--max-restarts", "4"]);
        let [service, servers, workers] = &objects[..] else { panic!("{objects:?}") };
        let names = [service, servers, workers].map(|object| object["metadata"]["name"].as_str().unwrap());
        assert_eq!(names, ["digits-server", "digits-server", "digits-worker"]);
        assert_eq!(service["spec"]["clusterIP"], json!("None"));
        assert_eq!(servers["spec"]["serviceName"], service["metadata"]["name"]);
        let labels = &servers["spec"]["template"]["metadata"]["labels"];
        assert_eq!((labels, labels), (&service["spec"]["selector"], &servers["spec"]["selector"]["matchLabels"]));
        let spec = &workers["spec"];
        assert_eq!((&servers["spec"]["replicas"], &spec["completions"]), (&json!(2), &json!(3)));
        assert_eq!((&spec["completionMode"], &spec["backoffLimit"]), (&json!("Indexed"), &json!(4)));
        for (object, role) in [(servers, Role::Server), (workers, Role::Worker)] {
            let pod = &object["spec"]["template"]["spec"];
            let env = pod["containers"][0]["env"].as_array().unwrap();
            let rank = env.iter().find(|variable| variable["name"] == "DMLC_RANK").unwrap();
            assert_eq!(rank["valueFrom"]["fieldRef"]["fieldPath"], json!(role.number()));
            let secret = format!("digits-{}-tls", role.word());
            assert_eq!(pod["volumes"][0]["secret"]["secretName"], json!(secret));
            let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
            let has_snapshots = mounts.iter().any(|mount| mount["name"] == "snapshots");
            assert_eq!(has_snapshots, matches!(role, Role::Server));
        }
        let claim = &servers["spec"]["volumeClaimTemplates"][0]["metadata"]["name"];
        assert_eq!(claim, &json!("snapshots"));
    }

    #[test]
    fn the_user_can_set_every_variable() {
        let objects = made(&["--env-worker", "MXRS_KVSTORE_CERT:/own.pem", "--env-server", "DMLC_ROLE:$(A)"]);
        let env = |object: &Value| variables(object, "0");
        let certificates = env(&objects[2]).into_iter().filter(|(name, _)| name == "MXRS_KVSTORE_CERT");
        assert_eq!(certificates.map(|(_, value)| value).collect::<Vec<_>>(), ["/own.pem"]);
        assert!(env(&objects[1]).contains(&("DMLC_ROLE".to_owned(), "$$(A)".to_owned())));
        assert!(env(&objects[1]).iter().all(|(name, _)| name != "DMLC_JOB_CLUSTER"));
        let none = parsed(&["-n", "1", "-s", "0", "--", "train"]);
        assert!(objects_of(&none).contains("--num-servers"));
    }

    fn objects_of(args: &Args) -> String {
        objects(args, "img").map_or_else(|failure| failure.to_string(), |objects| format!("{objects:?}"))
    }
}
