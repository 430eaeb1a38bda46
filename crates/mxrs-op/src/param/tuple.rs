//! Tuple parameters: shapes and lists of numbers in Python's notation.

use super::Field;
use super::field::print_g;
use smallvec::SmallVec;
use std::ops::Deref;

/// A tuple of sizes, written `(3, 3)`, `[3,3]`, `(3L, 3L)`, `(3,)`, `()` or as a bare `3`. Some operators allow
/// negative numbers, which have special meanings (`Reshape`).
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct ShapeAttr(pub SmallVec<[i64; 4]>);

/// The most items of a tuple that is read from text.
const MAX_ITEMS: usize = 1024;

/// The texts of the items of a tuple, which may be in brackets. `None` if the brackets do not match or the text is not a
/// list of items.
fn items(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let inner = match (text.strip_prefix(['(', '[']), text.ends_with([')', ']'])) {
        (Some(rest), true) if rest.len() > 1 || text.len() == 2 => {
            // The opening and the closing bracket must be of the same kind.
            if text.starts_with('(') != text.ends_with(')') {
                return None;
            }
            &rest[..rest.len() - 1]
        }
        (None, false) => text,
        _ => return None,
    };
    if inner.trim().is_empty() {
        return if text.starts_with(['(', '[']) { Some(Vec::new()) } else { None };
    }
    let mut list: Vec<&str> = inner.split(',').map(str::trim).collect();
    if list.len() > 1 && list.last() == Some(&"") {
        list.pop();
    }
    (list.len() <= MAX_ITEMS && list.iter().all(|i| !i.is_empty())).then_some(list)
}

impl ShapeAttr {
    /// Makes a tuple from sizes.
    pub fn new(dims: impl IntoIterator<Item = i64>) -> Self {
        Self(dims.into_iter().collect())
    }

    /// The text of the tuple as Python writes it.
    pub fn to_text(&self) -> String {
        match self.0.as_slice() {
            [one] => format!("({one},)"),
            many => format!("({})", many.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl Deref for ShapeAttr {
    type Target = [i64];
    fn deref(&self) -> &[i64] {
        &self.0
    }
}

impl Field for ShapeAttr {
    fn type_name() -> String {
        "Shape(tuple)".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "a tuple of integers such as (3, 3)".to_string();
        items(text)
            .ok_or_else(wrong)?
            .into_iter()
            .map(|i| i.strip_suffix('L').unwrap_or(i).parse().map_err(|_| wrong()))
            .collect::<Result<_, _>>()
            .map(Self)
    }
    fn default_text(&self) -> String {
        format!("[{}]", self.0.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
    }
}

impl Field for Option<ShapeAttr> {
    fn type_name() -> String {
        "Shape or None".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "None" {
            return Ok(None);
        }
        ShapeAttr::parse(text).map(Some).map_err(|e| e + " or None")
    }
    fn default_text(&self) -> String {
        self.as_ref().map_or("None".into(), Field::default_text)
    }
}

/// A tuple whose items may be `None`, such as `begin` of `slice`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct OptionalItems(pub SmallVec<[Option<i64>; 4]>);

impl Field for OptionalItems {
    fn type_name() -> String {
        "Shape(tuple)".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "a tuple of integers or None such as (1, None)".to_string();
        items(text)
            .ok_or_else(wrong)?
            .into_iter()
            .map(|i| match i {
                "None" => Ok(None),
                i => i.strip_suffix('L').unwrap_or(i).parse().map(Some).map_err(|_| wrong()),
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
    fn default_text(&self) -> String {
        let item = |i: &Option<i64>| i.map_or("None".to_string(), |v| v.to_string());
        format!("[{}]", self.0.iter().map(item).collect::<Vec<_>>().join(","))
    }
}

/// A tuple of positions, such as those of the inputs of a subgraph. Negative numbers can be read, and the operator refuses
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Longs(pub SmallVec<[i64; 4]>);

impl Field for Longs {
    fn type_name() -> String {
        "tuple of <long>".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        ShapeAttr::parse(text).map(|ShapeAttr(items)| Self(items))
    }
    fn default_text(&self) -> String {
        ShapeAttr(self.0.clone()).default_text()
    }
}

/// A tuple of numbers.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Floats(pub SmallVec<[f32; 4]>);

impl Field for Floats {
    fn type_name() -> String {
        "tuple of <float>".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "a tuple of numbers such as (0.1, 0.2)".to_string();
        items(text)
            .ok_or_else(wrong)?
            .into_iter()
            .map(|i| f32::parse(i).map_err(|_| wrong()))
            .collect::<Result<_, _>>()
            .map(Self)
    }
    /// MXNet prints the numbers of tuples with fewer digits than single numbers.
    fn default_text(&self) -> String {
        format!("[{}]", self.0.iter().map(|v| print_g(f64::from(*v), 6)).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_shape() {
        let expect = ShapeAttr::new([3, 3]);
        for text in ["(3, 3)", "[3,3]", "(3L, 3L)", " ( 3 ,3 ) ", "(3,3,)", "3,3"] {
            assert_eq!(ShapeAttr::parse(text).as_ref(), Ok(&expect), "{text}");
        }
        assert_eq!(ShapeAttr::parse("(3,)"), Ok(ShapeAttr::new([3])));
        assert_eq!(ShapeAttr::parse("3"), Ok(ShapeAttr::new([3])));
        assert_eq!(ShapeAttr::parse("()"), Ok(ShapeAttr::default()));
        assert_eq!(ShapeAttr::parse("[]"), Ok(ShapeAttr::default()));
        for bad in ["(", ")", "(3", "3)", "(3]", "(,)", "(3,,3)", "(a)", "", "(3 3)", "((3))", "(99999999999999999999)"]
        {
            assert!(ShapeAttr::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn optional_items() {
        assert_eq!(OptionalItems::parse("(1, None)").unwrap().0.as_slice(), &[Some(1), None]);
        assert_eq!(Option::<ShapeAttr>::parse("None"), Ok(None));
    }
}
