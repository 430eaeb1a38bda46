//! The manifests for Kubernetes that `mxrs launch` prints, validated against the published schemas of their kinds
//! (`tests/schemas`).

use crate::mxrs::mxrs;
use serde_json::{Map, Value, json};

/// The schemas. Those of the custom resources refer to types of Kubernetes.
const SCHEMAS: [&str; 3] = [
    include_str!("../schemas/kubernetes.json"),
    include_str!("../schemas/trainer.json"),
    include_str!("../schemas/mpi_job.json"),
];

/// The published schemas: the name of the definition of each kind, and all definitions.
struct Schemas {
    kinds: Map<String, Value>,
    definitions: Map<String, Value>,
}

impl Schemas {
    fn read() -> Self {
        let (mut kinds, mut definitions) = (Map::new(), Map::new());
        for text in SCHEMAS {
            let mut file: Value = serde_json::from_str(text).unwrap();
            for (all, name) in [(&mut kinds, "kinds"), (&mut definitions, "$defs")] {
                let Value::Object(own) = file[name].take() else { panic!("no {name}") };
                all.extend(own);
            }
        }
        Self { kinds, definitions }
    }

    /// What is wrong with an object; empty if it is valid.
    fn problems(&self, object: &Value) -> Vec<String> {
        let word = |name: &str| object[name].as_str().unwrap_or_default();
        let kind = format!("{} {}", word("apiVersion"), word("kind"));
        let Some(Value::String(root)) = self.kinds.get(&kind) else { return vec![format!("no schema of `{kind}`")] };
        let mut problems = Vec::new();
        self.check(&json!({"$ref": format!("#/$defs/{root}")}), object, "", &mut problems);
        problems
    }

    /// Adds what is wrong with the value at `place`. Knows the words that the schemas here use and refuses others: a
    /// validator of the whole language would add sixty crates.
    fn check(&self, schema: &Value, value: &Value, place: &str, problems: &mut Vec<String>) {
        for (word, rule) in schema.as_object().unwrap() {
            let is_right = match &**word {
                "$ref" => {
                    let name = rule.as_str().and_then(|name| name.strip_prefix("#/$defs/")).unwrap();
                    self.check(&self.definitions[name], value, place, problems);
                    true
                }
                "oneOf" => {
                    let fits = |one: &&Value| {
                        let mut problems = Vec::new();
                        self.check(one, value, place, &mut problems);
                        problems.is_empty()
                    };
                    rule.as_array().unwrap().iter().filter(fits).count() == 1
                }
                "type" => has_type(rule.as_str().unwrap(), value),
                "enum" => rule.as_array().unwrap().contains(value),
                "required" => {
                    let fields = rule.as_array().unwrap().iter();
                    value.is_object() && fields.into_iter().all(|name| value.get(name.as_str().unwrap()).is_some())
                }
                "items" => {
                    let items = value.as_array().into_iter().flatten().enumerate();
                    items.for_each(|(i, item)| self.check(rule, item, &format!("{place}/{i}"), problems));
                    true
                }
                "properties" => {
                    for (name, field) in value.as_object().into_iter().flatten() {
                        if let Some(rule) = rule.get(name) {
                            self.check(rule, field, &format!("{place}/{name}"), problems);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = |name: &String| schema["properties"].get(name).is_some();
                    let others = value.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
                    match rule {
                        Value::Bool(allowed) => *allowed || others.count() == 0,
                        rule => {
                            others.for_each(|(name, field)| {
                                self.check(rule, field, &format!("{place}/{name}"), problems);
                            });
                            true
                        }
                    }
                }
                other => panic!("the schemas use `{other}`, which this test does not know"),
            };
            if !is_right {
                problems.push(format!("{place}: not by `{word}`: {rule}; found {value}"));
            }
        }
    }
}

/// Whether a value has a type of JSON Schema.
fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("no type {other}"),
    }
}

/// The objects of the manifest that these flags make, by kind.
fn manifest(flags: &[&str], store: &str) -> Vec<(String, Value)> {
    let start = ["launch", "-n", "4", "--launcher", "k8s", "--jobname", "digits", "--image", "example.org/mxrs:1"];
    let command = ["--", "mxrs", "train", "mnist", "--kv-store", store];
    let printed = mxrs([&start[..], flags, &command].concat()).json();
    let objects = match printed["kind"].as_str() {
        Some("List") => printed["items"].as_array().unwrap().clone(),
        _ => vec![printed],
    };
    objects.into_iter().map(|object| (object["kind"].as_str().unwrap().to_owned(), object)).collect()
}

/// The objects of all manifests.
fn all() -> Vec<(String, Value)> {
    let mpi = ["--p3", "--timeout", "60", "--env-worker", "DMLC_ROLE:worker", "--max-restarts", "2"];
    let served = ["-s", "2", "--env-server", "MXRS_KVSTORE_METRICS:0.0.0.0:9400", "--max-restarts", "3"];
    let kinds = [
        ([&["--manifest", "train-job"][..], &mpi].concat(), "dist_sync"),
        ([&["--manifest", "mpi-job"][..], &mpi].concat(), "dist_sync"),
        ([&["--manifest", "dist-async"][..], &served].concat(), "dist_async"),
    ];
    kinds.iter().flat_map(|(flags, store)| manifest(flags, store)).collect()
}

#[test]
fn manifests_are_valid_by_the_published_schemas() {
    let (schemas, objects) = (Schemas::read(), all());
    let kinds: Vec<&str> = objects.iter().map(|(kind, _)| &**kind).collect();
    assert_eq!(kinds, ["TrainingRuntime", "TrainJob", "MPIJob", "Service", "StatefulSet", "Job"]);
    for (kind, object) in &objects {
        let problems = schemas.problems(object);
        assert!(problems.is_empty(), "{kind}: {problems:#?}\n{object:#}");
    }
    // Without flags the manifest is that of Trainer.
    let kinds: Vec<String> = manifest(&[], "dist_sync").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["TrainingRuntime", "TrainJob"]);
}

/// Kubernetes refuses a list of variables in which a name occurs twice; schemas cannot say so.
#[test]
fn variables_have_different_names() {
    fn check(value: &Value) -> usize {
        match value {
            Value::Array(all) => all.iter().map(check).sum(),
            Value::Object(fields) => {
                let env = fields.get("env").and_then(Value::as_array);
                let mut names: Vec<&str> = env.into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
                let n = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), n, "{env:#?}");
                n + fields.values().map(check).sum::<usize>()
            }
            _ => 0,
        }
    }
    let n: usize = all().iter().map(|(_, object)| check(object)).sum();
    assert!(n > 10, "{n} variables");
}

/// Manifests that are broken on purpose: the kind, the place of an object in it, a field, and what the field is set to.
/// `null` removes it.
#[test]
fn broken_manifests_are_refused() {
    let (schemas, objects) = (Schemas::read(), all());
    let pod = "/spec/template/spec";
    let container = "/spec/template/spec/containers/0";
    let jobs = "/spec/template/spec/replicatedJobs";
    let cases: [(&str, &str, &str, Value, &str); 15] = [
        ("TrainJob", "/spec/trainer", "numNodes", json!("four"), "four"),
        ("TrainJob", "/spec/trainer", "nodes", json!(4), "nodes"),
        ("TrainJob", "/spec", "runtimeRef", json!(null), "runtimeRef"),
        ("TrainingRuntime", "/spec/mlPolicy/mpi", "numProcsPerNode", json!(1), "numProcsPerNode"),
        ("TrainingRuntime", "/spec/template/spec/network", "publishNotReadyAddresses", json!("yes"), "yes"),
        ("TrainingRuntime", jobs, "0/template/spec/template/spec/containers/0/comand", json!(["sshd"]), "comand"),
        ("MPIJob", "/spec", "mpiReplicaSpec", json!({}), "mpiReplicaSpec"),
        ("MPIJob", "/spec", "mpiImplementation", json!("OpenMPI5"), "OpenMPI5"),
        ("MPIJob", "/spec/mpiReplicaSpecs/Worker", "replicas", json!("4"), "4"),
        ("Service", "/spec/ports/0", "port", json!("9000"), "9000"),
        ("StatefulSet", "/spec", "serviceNames", json!("digits"), "serviceNames"),
        ("StatefulSet", container, "image", json!(["img"]), "img"),
        ("StatefulSet", "/spec", "selector", json!(null), "selector"),
        ("Job", "/spec", "completions", json!("4"), "4"),
        ("Job", pod, "restartpolicy", json!("Never"), "restartpolicy"),
    ];
    for (kind, place, field, value, words) in cases {
        let (_, object) = objects.iter().find(|(own, _)| own == kind).unwrap();
        let mut broken = object.clone();
        let path = format!("{place}/{field}");
        let (parent, name) = path.rsplit_once('/').unwrap();
        let fields = broken.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        if value.is_null() {
            assert!(fields.remove(name).is_some(), "{kind} {path}");
        } else {
            fields.insert(name.to_owned(), value);
        }
        let problems = schemas.problems(&broken);
        assert!(problems.iter().any(|problem| problem.contains(words)), "{kind} {path}: {problems:?}");
    }
    let mut other = objects[0].1.clone();
    other["apiVersion"] = json!("trainer.kubeflow.org/v1");
    assert!(schemas.problems(&other)[0].contains("no schema"));
}
