//! The calls that are compared, from the list `list.txt`.
//!
//! A line that starts with `#` names a family. Every other line is a call, with six fields:
//!
//! ```text
//! name | operator | attributes | inputs | passes | what PyTorch evaluates
//! ```
//!
//! - The operator has the same name in MXNet and in mxrs. Attributes are texts such as `axis=1`, without spaces.
//! - Inputs are separated by `;`; [`Input::read`] describes their form.
//! - Passes are letters of [`Pass`]. A `?` after them says that results are not compared, because they are random or have
//!   another form or another formula in PyTorch.
//! - PyTorch's text is a Python expression over the inputs `a`, `b`, `c` and so on, which makes the result in memory of its
//!   own, where the library would return a view. Statements before it, each followed by `; `, run once. If PyTorch cannot do
//!   the call, the field is empty.

use super::inputs::Input;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// How an operator is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// `f`: at inference.
    Forward,
    /// `g`: in training, with the gradients of all inputs that have one.
    Gradients,
    /// `u`: in place, so that the output overwrites the first input.
    Update,
}

impl Pass {
    /// All passes.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Gradients, Self::Update];

    /// Name in reports and orders.
    pub fn word(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Gradients => "gradients",
            Self::Update => "update",
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Forward => 'f',
            Self::Gradients => 'g',
            Self::Update => 'u',
        }
    }
}

/// A call of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The kind of operator.
    pub family: String,
    /// Name of the call in reports.
    pub name: String,
    /// Name of the operator.
    pub operator: String,
    /// Attributes, as text.
    pub attrs: Vec<(String, String)>,
    /// Inputs.
    pub inputs: Vec<Input>,
    /// How the operator is called.
    pub passes: Vec<Pass>,
    /// Whether results are compared.
    pub is_checked: bool,
    /// What PyTorch evaluates; `None` if it cannot do the call.
    pub torch: Option<String>,
}

/// All calls, in the order of the list.
///
/// # Errors
/// Fails if a line of the list has another form.
pub fn all() -> Result<Vec<Row>> {
    read(include_str!("list.txt"))
}

fn read(text: &str) -> Result<Vec<Row>> {
    let (mut family, mut rows) = ("", Vec::new());
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(name) => family = name,
            None => rows.push(Row::read(family, line).with_context(|| format!("`{line}`"))?),
        }
    }
    Ok(rows)
}

impl Row {
    fn read(family: &str, line: &str) -> Result<Self> {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[name, operator, attrs, inputs, passes, torch] = &fields[..] else {
            bail!("{} fields, not 6", fields.len())
        };
        let attrs: Vec<(String, String)> = attrs.split_whitespace().map(attr).collect::<Result<_>>()?;
        let inputs = inputs.split(';').map(str::trim).filter(|input| !input.is_empty());
        let inputs: Vec<Input> = inputs.map(Input::read).collect::<Result<_>>()?;
        let (letters, is_checked) = passes.strip_suffix('?').map_or((passes, true), |letters| (letters, false));
        let passes: Vec<Pass> = letters.chars().map(pass).collect::<Result<_>>()?;
        ensure!(![name, operator, letters].contains(&""), "a name, an operator or a pass is missing");
        ensure!(!passes.contains(&Pass::Update) || !inputs.is_empty(), "an update needs an input");
        let can_differ = inputs.iter().any(|input| input.has_gradient);
        ensure!(!passes.contains(&Pass::Gradients) || can_differ, "no input has a gradient");
        Ok(Self {
            family: family.to_owned(),
            name: name.to_owned(),
            operator: operator.to_owned(),
            attrs,
            inputs,
            passes,
            is_checked,
            torch: (!torch.is_empty()).then(|| torch.to_owned()),
        })
    }

    /// Whether the name of the family, of the call or of the operator contains this word, in upper or lower case.
    pub fn has(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        [&self.family, &self.name, &self.operator].into_iter().any(|name| name.to_lowercase().contains(&word))
    }

    /// The shapes of the inputs as the report shows them.
    pub fn sizes(&self) -> String {
        self.inputs.iter().map(Input::sizes).collect::<Vec<_>>().join(", ")
    }

    /// The order (a JSON object) to load the call, with the files of its inputs.
    pub fn to_order(&self, pass: Pass, files: &[PathBuf], threads: usize) -> Value {
        let attrs: Map<String, Value> =
            self.attrs.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect();
        let input = |(input, file): (&Input, &PathBuf)| json!({ "file": file, "shape": input.shape, "gradient": input.has_gradient });
        let inputs: Vec<Value> = self.inputs.iter().zip(files).map(input).collect();
        json!({
            "do": "load",
            "operator": self.operator,
            "attrs": attrs,
            "inputs": inputs,
            "pass": pass.word(),
            "torch": self.torch,
            "threads": threads,
        })
    }
}

fn attr(text: &str) -> Result<(String, String)> {
    let (key, text) = text.split_once('=').with_context(|| format!("`{text}` is not KEY=TEXT"))?;
    Ok((key.to_owned(), text.to_owned()))
}

fn pass(letter: char) -> Result<Pass> {
    let pass = Pass::ALL.into_iter().find(|pass| pass.letter() == letter);
    pass.with_context(|| format!("`{letter}` is not a pass"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::types::{PartialShape, Shape};
    use mxrs_op::Attrs;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_has_many_calls_with_names_of_their_own() {
        let rows = all().unwrap();
        assert!(rows.len() >= 120, "{}", rows.len());
        assert_eq!(rows.iter().map(|row| &row.name).collect::<BTreeSet<_>>().len(), rows.len());
        let n_families = rows.iter().map(|row| &row.family).collect::<BTreeSet<_>>().len();
        assert!(n_families >= 12 && rows.iter().all(|row| !row.family.is_empty()), "{n_families}");
    }

    /// Every operator exists, and takes these attributes and inputs.
    #[test]
    fn every_call_is_one_of_the_catalog() {
        let ops = mxrs_ops::catalog();
        for row in all().unwrap() {
            let op = ops.get(&row.operator).unwrap_or_else(|error| panic!("{}: {error}", row.name));
            let mut attrs: Attrs = row.attrs.iter().cloned().collect();
            if let Some(key) = op.variable_count_key()
                && attrs.get(key).is_none()
            {
                attrs.set(key, op.variable_count(row.inputs.len()).to_string());
            }
            let params = op.parse(&attrs).unwrap_or_else(|error| panic!("{}: {error}", row.name));
            assert_eq!(op.n_inputs(&params), row.inputs.len(), "{}", row.name);
            let shape = |input: &Input| PartialShape::from(Shape::from(&input.shape[..]));
            let mut inputs: Vec<PartialShape> = row.inputs.iter().map(shape).collect();
            let mut outputs = vec![PartialShape::unknown(); op.n_outputs.get(&params)];
            let inferred = op.infer_shapes(&params, &mut inputs, &mut outputs);
            inferred.unwrap_or_else(|error| panic!("{}: {error}", row.name));
            assert!(outputs.iter().all(PartialShape::is_known), "{}: {outputs:?}", row.name);
        }
    }

    #[test]
    fn a_line_has_all_of_a_call() {
        let rows =
            read("# some\nname | op | a=1 b=(2,3) | 2x3; 2 0<3 | fg? | i = b.long(); f(a, i)\nb | c | | 1 | u |")
                .unwrap();
        let row = &rows[0];
        assert_eq!((&*row.family, &*row.name, &*row.operator), ("some", "name", "op"));
        assert_eq!(row.attrs, [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "(2,3)".to_owned())]);
        assert_eq!((&row.passes[..], row.is_checked), (&[Pass::Forward, Pass::Gradients][..], false));
        assert_eq!(row.torch.as_deref(), Some("i = b.long(); f(a, i)"));
        assert_eq!((rows[1].torch.as_ref(), rows[1].is_checked, row.sizes()), (None, true, "2x3, 2".to_owned()));
        assert!(row.has("SOM") && row.has("Op") && row.has("nam") && !row.has("b"));
        let order = row.to_order(Pass::Gradients, &["x".into(), "y".into()], 2);
        assert_eq!((&order["pass"], &order["attrs"]["b"]), (&"gradients".into(), &"(2,3)".into()));
        let inputs = json!([
            { "file": "x", "shape": [2, 3], "gradient": true },
            { "file": "y", "shape": [2], "gradient": false },
        ]);
        assert_eq!(order["inputs"], inputs);
    }

    #[test]
    fn lines_that_are_wrong_are_quoted() {
        for line in [
            "a | b",
            "a | b | c | 1 | f |",
            "a | b | | x | f |",
            "a | b | | 1 | x |",
            "a | b | | 1 | ? |",
            "a | | | 1 | f |",
            "a | b | | | u |",
            "a | b | | 1 0<2 | g |",
            "a | b | | 1 | f | c | d",
        ] {
            let error = format!("{:#}", read(line).unwrap_err());
            assert!(error.starts_with(&format!("`{line}`")), "{line}: {error}");
        }
    }
}
