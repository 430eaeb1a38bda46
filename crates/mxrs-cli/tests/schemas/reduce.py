"""Writes kubernetes.json and trainer.json: the published schemas, reduced to what the validation of manifests needs.

Usage: reduce.py (Python with the packages kubernetes-validate 1.37.0 and kubeflow-trainer-api 2.3.0)

Each file has the definitions of some kinds (`kinds`, by API version and kind) and of all types in them (`$defs`). Left out
are texts, formats, defaults, hints for clients (`x-kubernetes-...`), and the status, which manifests do not have. A field
may not be null, and an object whose fields are listed may not have others.
"""
import importlib.resources
import json
import pathlib

from kubeflow_trainer_api import models

HERE = pathlib.Path(__file__).parent
KUBERNETES = "1.37.0"
LEFT_OUT = {"description", "title", "format", "default", "$schema", "$id"}
KINDS = {
    "apps/v1 StatefulSet": "io.k8s.api.apps.v1.StatefulSet",
    "batch/v1 Job": "io.k8s.api.batch.v1.Job",
    "v1 Service": "io.k8s.api.core.v1.Service",
}
TRAINER_KINDS = {
    "trainer.kubeflow.org/v1alpha1 TrainJob": "TrainerV1alpha1TrainJob",
    "trainer.kubeflow.org/v1alpha1 TrainingRuntime": "TrainerV1alpha1TrainingRuntime",
}


def published():
    """The definitions of Kubernetes."""
    path = f"kubernetes-json-schema/v{KUBERNETES}-local/_definitions.json"
    return json.loads(importlib.resources.files("kubernetes_validate").joinpath(path).read_text())["$defs"]


def is_null(schema):
    return schema == {"type": "null"}


def reduced(schema, named):
    """A schema with what validation needs. `named` gives the name of a definition that is referred to."""
    if "$ref" in schema:
        return {"$ref": "#/$defs/" + named(schema["$ref"].split("/")[-1])}
    # pydantic writes an optional field as `anyOf` of its type and null.
    if "anyOf" in schema:
        others = [choice for choice in schema["anyOf"] if not is_null(choice)]
        if len(others) == 1:
            return reduced(others[0], named)
    new = {}
    for key, value in schema.items():
        if key in LEFT_OUT or key.startswith("x-kubernetes-"):
            continue
        if key == "type" and isinstance(value, list):
            value = [one for one in value if one != "null"]
            value = value[0] if len(value) == 1 else value
        elif key == "properties":
            value = {name: reduced(field, named) for name, field in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            value = reduced(value, named)
        elif key in ("anyOf", "oneOf", "allOf"):
            value = [reduced(choice, named) for choice in value]
        elif key not in ("type", "required", "enum", "additionalProperties"):
            raise SystemExit(f"the keyword {key} is not known: {value}")
        new[key] = value
    if "properties" in new:
        new["additionalProperties"] = False
    return new


def without_status(definitions, kinds):
    for name in kinds.values():
        definitions[name]["properties"].pop("status", None)
    return definitions


def typed(definitions, kinds):
    """Requires the API version and the kind that manifests of a kind have."""
    for written, name in kinds.items():
        version, kind = written.split(" ")
        definitions[name]["properties"] |= {"apiVersion": {"enum": [version]}, "kind": {"enum": [kind]}}
        definitions[name]["required"] = sorted({"apiVersion", "kind", *definitions[name].get("required", [])})
    return definitions


def used(definitions, roots):
    """The definitions that the roots refer to, directly or not."""
    found, todo = {}, list(roots)
    while todo:
        name = todo.pop()
        if name in found or name not in definitions:
            continue
        found[name] = definitions[name]
        text = json.dumps(definitions[name])
        todo += [part.split('"')[0] for part in text.split('"#/$defs/')[1:]]
    return found


def write(path, kinds, definitions):
    """One line for each kind and each definition."""
    def lines(table):
        rows = (f"  {json.dumps(name)}: {json.dumps(table[name], sort_keys=True)}" for name in sorted(table))
        return "{\n" + ",\n".join(rows) + "\n }"
    path.write_text('{\n "kinds": ' + lines(kinds) + ',\n "$defs": ' + lines(definitions) + "\n}\n")
    print(path.name, len(definitions), "definitions,", path.stat().st_size, "bytes")


def main():
    kubernetes = {name: reduced(schema, lambda name: name) for name, schema in published().items()}
    kubernetes = typed(without_status(kubernetes, KINDS), KINDS)
    # The models of Trainer have copies of the types of Kubernetes. They refer to those of Kubernetes instead.
    same = {name.replace(".", "").lower(): name for name in kubernetes}
    trainer = {}
    for name in TRAINER_KINDS.values():
        schema = getattr(models, name).model_json_schema(by_alias=True)
        trainer |= schema.pop("$defs")
        trainer[name] = schema
    named = lambda name: same.get(name.lower(), name)
    trainer = {name: reduced(schema, named) for name, schema in trainer.items() if name.lower() not in same}
    trainer = used(typed(without_status(trainer, TRAINER_KINDS), TRAINER_KINDS), TRAINER_KINDS.values())
    write(HERE / "trainer.json", TRAINER_KINDS, trainer)
    # The schema of MPIJob, which is written by hand, refers to the template of a pod.
    roots = [*KINDS.values(), "io.k8s.api.core.v1.PodTemplateSpec"]
    for schema in trainer.values():
        roots += [part.split('"')[0] for part in json.dumps(schema).split('"#/$defs/')[1:]]
    write(HERE / "kubernetes.json", KINDS, used(kubernetes, roots))


main()
