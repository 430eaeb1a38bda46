//! Tests that names, aliases, arguments and parameter texts of every operator equal those that MXNet 1.9.1 reports.

mod own;

use own::OWN;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// One line of the recorded registry.
#[derive(Deserialize)]
struct Recorded {
    name: String,
    aliases: Vec<String>,
    params: Vec<(String, String)>,
    #[serde(default)]
    key_var_num_args: Option<String>,
}

fn oracle() -> BTreeMap<String, Recorded> {
    include_str!("../oracle/operators-1.9.1.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Recorded>(line).expect("a recorded operator"))
        .map(|o| (o.name.clone(), o))
        .collect()
}

/// Unifies the spelling of argument types: MXNet spells those of some operators, such as `all_finite`, differently from all others.
fn spelt((name, text): (String, String)) -> (String, String) {
    let text = match text.as_str() {
        "NDArray" | "Symbol" => "NDArray-or-Symbol".into(),
        "Symbol or Symbol[]" => "NDArray-or-Symbol[]".into(),
        _ => text,
    };
    (name, text)
}

#[test]
fn built_operators_describe_themselves_as_mxnet_does() {
    let oracle = oracle();
    let ops = mxrs_ops::catalog();
    for op in ops.iter().filter(|op| !OWN.contains(&op.name)) {
        let recorded = oracle
            .get(op.name)
            .unwrap_or_else(|| panic!("{} is not an MXNet operator, and not in tests/own/mod.rs", op.name));
        let params: Vec<(String, String)> = op
            .argument_specs()
            .into_iter()
            .map(|(name, text)| (name.to_string(), text.to_string()))
            .chain(op.param_specs.iter().map(|p| (p.name.to_string(), p.type_text.clone())))
            .map(spelt)
            .collect();
        // MXNet lists the tensors first or the parameters first. The order makes no difference to a call. Subgraphs are always
        // first.
        let (mut tensors, others): (Vec<_>, Vec<_>) =
            recorded.params.iter().cloned().map(spelt).partition(|(_, text)| text.starts_with("NDArray-or-Symbol"));
        tensors.extend(others);
        if op.name == "_CrossDeviceCopy" {
            // MXNet has no function for calls of this operator, so it describes no argument.
            assert_eq!(tensors, []);
            tensors.push(("data".into(), "NDArray-or-Symbol".into()));
        }
        // MXNet does not say that the scalar of `smooth_l1` is 1 by default. It lists a parameter of `_npi_concatenate` that the
        // operator does not read, in place of `axis`.
        let params: Vec<_> = match op.name {
            "smooth_l1" => vec![params[0].clone(), ("scalar".into(), "float".into())],
            "_npi_concatenate" => {
                vec![params[0].clone(), params[1].clone(), ("dim".into(), "int, optional, default='1'".into())]
            }
            // MXNet lists the parameters of `_arange`, but reads those of `_linspace`.
            "_linspace" => {
                let arange = ops.get("_arange").expect("a built operator");
                arange.param_specs.iter().map(|p| (p.name.to_string(), p.type_text.clone())).collect()
            }
            // MXNet takes shape and type from the output.
            "_set_value" => params[..1].to_vec(),
            // MXNet does not list the parameters of `_npi_norm`, and lists those of `Embedding` in place of those of
            // `_contrib_SparseEmbedding`.
            "_npi_norm" => params[..1].to_vec(),
            "_contrib_SparseEmbedding" => params[..6].to_vec(),
            _ => params,
        };
        assert_eq!(params, tensors, "parameters of {}", op.name);
        assert_eq!(op.aliases, recorded.aliases, "aliases of {}", op.name);
        // MXNet requires every caller of `amp_multicast` to pass the number of inputs. mxrs counts the inputs itself, as for
        // other operators.
        let counted =
            if op.name == "amp_multicast" { Some("num_outputs") } else { recorded.key_var_num_args.as_deref() };
        assert_eq!(op.variable_count_key(), counted, "count of {}", op.name);
        for p in &op.param_specs {
            assert!(!p.doc.is_empty(), "{}: parameter {} has no description", op.name, p.name);
        }
    }
}

#[test]
fn listed_names_are_the_recorded_ones() {
    let recorded: BTreeSet<(String, String)> = oracle()
        .into_values()
        .flat_map(|o| {
            let canonical = o.name.clone();
            std::iter::once(o.name).chain(o.aliases).map(move |name| (name, canonical.clone()))
        })
        .collect();
    let listed: BTreeSet<(String, String)> =
        mxrs_ops::known_names().map(|(name, canonical)| (name.to_string(), canonical.to_string())).collect();
    assert_eq!(listed, recorded);
}
