//! The sizes of a model's inputs: those that the model states, those that the options add, and those that stay open.

use super::options::ImportOptions;
use mxrs_format::onnx::{Dimension, DimensionValue, ValueInfoProto};
use mxrs_types::{Error, PartialShape, Result, Shape};
use std::collections::{HashMap, HashSet};

/// The most names that an error lists.
const MOST_NAMES: usize = 8;

/// The sizes of an input; `None` if the model does not even state their number.
fn dims(value: &ValueInfoProto) -> Option<&[Dimension]> {
    Some(&value.tensor_type()?.shape.as_ref()?.dim)
}

/// The size, if the model states it as a number.
fn stated(dim: &Dimension) -> Option<usize> {
    match &dim.value {
        Some(DimensionValue::Size(size)) => usize::try_from(*size).ok(),
        _ => None,
    }
}

/// The name of the size, if the model states a name.
fn name_of(dim: &Dimension) -> Option<&str> {
    match &dim.value {
        Some(DimensionValue::Param(name)) if !name.is_empty() => Some(name),
        _ => None,
    }
}

/// The shapes of the inputs that the user feeds, as far as they are known.
///
/// # Errors
/// Fails if the options name an input or a size that the model does not have, or contradict the model or each other.
pub(super) fn input_shapes(fed: &[&ValueInfoProto], options: &ImportOptions) -> Result<Vec<PartialShape>> {
    check_names(fed, options)?;
    let mut named: HashMap<&str, usize> = options.sizes.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    for value in fed {
        let Some(dims) = dims(value) else { continue };
        if dims.len() > Shape::MAX_NDIM {
            let what = format!("number of axes of input `{}`", value.name);
            return Err(Error::invalid(what, dims.len(), format!("at most {}", Shape::MAX_NDIM)));
        }
        let Some(given) = options.shapes.get(&value.name) else { continue };
        let sizes = dims.iter().map(|dim| stated(dim).or_else(|| named.get(name_of(dim)?).copied()));
        let known = PartialShape::new(sizes);
        let mut is_fit = given.ndim() == dims.len();
        for (dim, size) in dims.iter().zip(given.iter()) {
            let expected = match name_of(dim) {
                Some(name) => *named.entry(name).or_insert(*size),
                None => stated(dim).unwrap_or(*size),
            };
            is_fit &= expected == *size;
        }
        if !is_fit {
            let expected = format!("{known}, as the model and the other sizes that are given say");
            return Err(Error::invalid(format!("shape of input `{}`", value.name), given, expected));
        }
    }
    let shape = |value: &&ValueInfoProto| match (options.shapes.get(&value.name), dims(value)) {
        (Some(given), _) => PartialShape::from(given),
        (None, None) => PartialShape::unknown(),
        (None, Some(dims)) => {
            PartialShape::new(dims.iter().map(|dim| stated(dim).or_else(|| named.get(name_of(dim)?).copied())))
        }
    };
    Ok(fed.iter().map(shape).collect())
}

/// Checks that the model has the inputs and sizes that the options name.
fn check_names(fed: &[&ValueInfoProto], options: &ImportOptions) -> Result<()> {
    if let Some(unknown) = options.shapes.keys().find(|name| !fed.iter().any(|value| value.name == **name)) {
        let expected = match fed.is_empty() {
            true => "none, because the model has no inputs".to_owned(),
            false => format!("one of {}", listed(fed.iter().map(|value| value.name.as_str()))),
        };
        return Err(Error::invalid("input whose shape is given", format!("`{unknown}`"), expected));
    }
    if options.sizes.is_empty() {
        return Ok(());
    }
    let names: HashSet<&str> =
        fed.iter().flat_map(|value| dims(value).unwrap_or_default()).filter_map(name_of).collect();
    if let Some(unknown) = options.sizes.keys().find(|name| !names.contains(name.as_str())) {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        let expected = match names.is_empty() {
            true => "none, because the model names no size; give the shapes of its inputs instead".to_owned(),
            false => format!("one of {}", listed(names.into_iter())),
        };
        return Err(Error::invalid("name of the size that is given", format!("`{unknown}`"), expected));
    }
    Ok(())
}

/// A name in quotes for an error message, cut at 60 characters.
fn quoted(name: &str) -> String {
    format!("`{}`", name.chars().take(60).collect::<String>())
}

/// The first names of a list, in quotes.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut list: Vec<String> = names.take(MOST_NAMES + 1).map(quoted).collect();
    if list.len() > MOST_NAMES {
        list[MOST_NAMES] = "…".into();
    }
    list.join(", ")
}

/// Some of the inputs with open sizes, as a set of bits. Inputs from the 64th on share the last bit.
pub(super) type OpenSet = u64;

/// The inputs with open sizes. Errors of operators that need known sizes name them.
#[derive(Default)]
pub(super) struct OpenInputs {
    inputs: Vec<OpenInput>,
}

struct OpenInput {
    /// The open sizes as text: `axis 0 (`batch`) of the model's input `x``.
    text: String,
    /// The call that gives the first open size.
    remedy: String,
}

impl OpenInputs {
    /// Adds an input with its shape; returns its set, which is empty if all sizes are known.
    pub fn add(&mut self, value: &ValueInfoProto, shape: &PartialShape) -> OpenSet {
        if shape.is_known() {
            return 0;
        }
        let place = self.inputs.len().min(63);
        if place == self.inputs.len() {
            self.inputs.push(OpenInput::of(value, shape));
        }
        1 << place
    }

    /// Why sizes that depend on these inputs are not known, and what the user can do; empty for no inputs.
    pub fn reason(&self, set: OpenSet) -> String {
        let of_set = self.inputs.iter().enumerate().filter(|(i, _)| set & (1 << i) != 0);
        let of_set: Vec<&OpenInput> = of_set.map(|(_, input)| input).collect();
        let Some(first) = of_set.first() else { return String::new() };
        let mut texts: Vec<&str> = of_set.iter().take(MOST_NAMES).map(|input| input.text.as_str()).collect();
        if of_set.len() > MOST_NAMES {
            texts.push("…");
        }
        format!("; the model leaves open: {}; give sizes to the import, such as {}", texts.join(", "), first.remedy)
    }
}

impl OpenInput {
    fn of(value: &ValueInfoProto, shape: &PartialShape) -> Self {
        let call = |method: &str, name: &str| {
            format!("`ImportOptions::{method}(\"{}\", …)`", name.chars().take(60).collect::<String>())
        };
        let input = quoted(&value.name);
        let by_shape = call("shape", &value.name);
        let (Some(sizes), Some(dims)) = (shape.dims(), dims(value)) else {
            return Self { text: format!("all axes of the model's input {input}"), remedy: by_shape };
        };
        let open = sizes.iter().zip(dims).enumerate().filter(|(_, (size, _))| size.is_none());
        let open: Vec<(usize, Option<&str>)> = open.map(|(axis, (_, dim))| (axis, name_of(dim))).collect();
        let axis = |(axis, name): &(usize, Option<&str>)| match name {
            Some(name) => format!("axis {axis} ({})", quoted(name)),
            None => format!("axis {axis}"),
        };
        let axes: Vec<String> = open.iter().map(axis).collect();
        let remedy = match open.first() {
            Some((_, Some(name))) => call("size", name),
            _ => by_shape,
        };
        Self { text: format!("{} of the model's input {input}", axes.join(" and ")), remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::DType;

    fn inputs() -> Vec<ValueInfoProto> {
        let named = Dimension::named;
        vec![
            ValueInfoProto::with_dims("x", DType::F32, vec![named("batch"), Dimension::size(3), named("length")]),
            ValueInfoProto::with_dims("ids", DType::I64, vec![named("batch"), Dimension::unknown()]),
            ValueInfoProto::with_dims("square", DType::F32, vec![named("side"), named("side")]),
        ]
    }

    fn shapes(options: &ImportOptions) -> Result<String> {
        let inputs = inputs();
        let fed: Vec<&ValueInfoProto> = inputs.iter().collect();
        Ok(input_shapes(&fed, options)?.iter().map(PartialShape::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn sizes_are_given_by_name_or_by_input() {
        let none = ImportOptions::default;
        assert_eq!(shapes(&none()).unwrap(), "(?, 3, ?) (?, ?) (?, ?)");
        assert_eq!(shapes(&none().size("batch", 8)).unwrap(), "(8, 3, ?) (8, ?) (?, ?)");
        assert_eq!(shapes(&none().shape("ids", [4, 5])).unwrap(), "(4, 3, ?) (4, 5) (?, ?)");
        assert_eq!(shapes(&none().shape("x", [4, 3, 7]).size("batch", 4)).unwrap(), "(4, 3, 7) (4, ?) (?, ?)");
    }

    #[test]
    fn sizes_that_contradict_are_refused() {
        let none = ImportOptions::default;
        for (options, words) in [
            (none().shape("x", [4, 3]), "shape of input `x`: got (4, 3), expected (?, 3, ?)"),
            (none().shape("x", [4, 2, 7]), "expected (?, 3, ?)"),
            (none().shape("x", [4, 3, 7]).size("batch", 8), "expected (8, 3, ?)"),
            (none().shape("x", [4, 3, 7]).shape("ids", [8, 1]), "shape of input `ids`: got (8, 1), expected (4, ?)"),
            (none().shape("y", [4]), "got `y`, expected one of `x`, `ids`, `square`"),
            (none().size("N", 8), "got `N`, expected one of `batch`, `length`, `side`"),
            (none().shape("square", [2, 3]), "shape of input `square`: got (2, 3), expected (?, ?)"),
        ] {
            let error = shapes(&options).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn reasons_name_the_open_axes() {
        let inputs = inputs();
        let mut open = OpenInputs::default();
        let partial = |sizes: &[Option<usize>]| PartialShape::new(sizes.iter().copied());
        let x = open.add(&inputs[0], &partial(&[None, Some(3), None]));
        assert_eq!(open.add(&inputs[0], &partial(&[Some(1), Some(3), Some(2)])), 0);
        let ids = open.add(&inputs[1], &partial(&[Some(8), None]));
        assert_eq!(open.reason(0), "");
        let reason = open.reason(x);
        assert!(reason.contains("axis 0 (`batch`) and axis 2 (`length`) of the model's input `x`"), "{reason}");
        assert!(reason.contains("ImportOptions::size(\"batch\", …)"), "{reason}");
        let reason = open.reason(ids);
        assert!(reason.contains("axis 1 of the model's input `ids`"), "{reason}");
        assert!(reason.contains("ImportOptions::shape(\"ids\", …)"), "{reason}");
        for _ in 0..100 {
            assert_ne!(open.add(&inputs[1], &PartialShape::unknown()), 0);
        }
        assert!(open.reason(u64::MAX).ends_with('`'));
    }
}
