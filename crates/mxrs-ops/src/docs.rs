//! The operator table of the manual, written from the catalog.

use crate::{catalog, known::known_names, not_built};
use mxrs_op::{InputNames, OpDef};
use mxrs_types::DType;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text of `docs/ops.md`: a table of the operators that are built, and the number of MXNet's operators that are not
/// built.
pub fn docs_markdown() -> String {
    let ops = catalog();
    let mut text = String::from(
        "# Operators\n\n\
         Generated from the catalog of `mxrs-ops`; do not edit. Every operator here has a reference kernel, and backends\n\
         add faster ones. `_cond`, `_foreach` and `_while_loop` have none, because graphs are expanded; `_contrib_boolean_mask`,\n\
         `_npi_bincount`, `_npi_delete`, `_npi_unique` and `_npx_nonzero` have none, because the shapes of their outputs depend\n\
         on values: other operators take their place. `name?` is an input that depends on the parameters, `name (aux)` an\n\
         auxiliary state, `required` a parameter without default.\n\n\
         | operator (aliases) | what it does | inputs | parameters | dtypes |\n|---|---|---|---|---|\n",
    );
    for op in ops.iter() {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            names(op),
            cell(op.summary),
            inputs(op),
            parameters(op),
            dtypes(op.dtypes)
        );
    }
    let known: BTreeSet<&str> = known_names().map(|(_, canonical)| canonical).collect();
    let missing = known.iter().filter(|name| not_built(name).is_some()).count();
    let _ = write!(
        text,
        "\n{} operators are built. {missing} more operators of MXNet 1.9.1 are listed but not built; asking for one says \
         so.\n",
        ops.len()
    );
    text
}

/// Escapes `|`, which would end a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn names(op: &OpDef) -> String {
    let aliases: Vec<String> = op.aliases.iter().map(|a| format!("`{a}`")).collect();
    if aliases.is_empty() { format!("`{}`", op.name) } else { format!("`{}` ({})", op.name, aliases.join(" ")) }
}

fn inputs(op: &OpDef) -> String {
    let list: Vec<String> = match op.inputs {
        InputNames::Fixed(names) => {
            let first_aux = names.len() - op.n_aux;
            names
                .iter()
                .enumerate()
                .map(|(i, n)| if i < first_aux { n.to_string() } else { format!("{n} (aux)") })
                .collect()
        }
        InputNames::ByParams { all, .. } => {
            // An input that some sample of the operator does not have is optional: whether a call has it depends on the
            // parameters.
            let of_samples: Vec<Vec<String>> = (op.samples)()
                .iter()
                .filter_map(|sample| op.parse(&sample.attrs).ok())
                .map(|params| op.input_names(&params))
                .collect();
            // An operator that others replace has no samples; every call of one has its first input.
            let is_always = |name: &str| match op.is_replaced() {
                true => all.first() == Some(&name),
                false => of_samples.iter().all(|names| names.iter().any(|n| n == name)),
            };
            all.iter().map(|n| if is_always(n) { n.to_string() } else { format!("{n}?") }).collect()
        }
        InputNames::Variable { prefix, .. } => vec![format!("{prefix}0, {prefix}1, …")],
        InputNames::Listed { listed, .. } => vec![format!("{listed}, …")],
        InputNames::Grouped { prefix, suffixes, .. } => {
            let others: String = suffixes.iter().map(|s| format!(", {prefix}0{s}")).collect();
            vec![format!("{prefix}0, {prefix}1, …{others}, …")]
        }
        InputNames::Numbered { group, shared, .. } => {
            let first = group.iter().map(|name| format!("{name}_0"));
            first.chain(["…".into()]).chain(shared.iter().map(|name| name.to_string())).collect()
        }
    };
    if list.is_empty() { "none".into() } else { list.join(", ") }
}

fn parameters(op: &OpDef) -> String {
    let list: Vec<String> = op
        .param_specs
        .iter()
        .map(|p| match p.type_text.split_once("default=") {
            Some((_, default)) => format!("{}={}", p.name, cell(default)),
            None => format!("{} required", p.name),
        })
        .collect();
    if list.is_empty() { "none".into() } else { list.join(", ") }
}

fn dtypes(dtypes: &[DType]) -> String {
    dtypes.iter().map(|d| d.name()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_a_whole_row() {
        let text = docs_markdown();
        for op in catalog().iter() {
            let start = format!("| `{}`", op.name);
            let row = text.lines().find(|l| l.starts_with(&format!("{start} "))).expect("a row");
            assert_eq!(row.replace("\\|", "").matches('|').count(), 6, "{row}");
        }
        assert!(text.contains("| `Convolution` (`_npx_convolution`) |"));
    }
}
