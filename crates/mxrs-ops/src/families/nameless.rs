//! Types of parameters that may be `None` and to which MXNet's C API gives no name.

use mxrs_op::param::{Field, ShapeAttr};
use smallvec::SmallVec;

/// Several float64 numbers, or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoublesOrNone(pub Option<SmallVec<[f64; 4]>>);

impl Field for DoublesOrNone {
    fn type_name() -> String {
        String::new()
    }
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "None" {
            return Ok(Self(None));
        }
        let wrong = || "a tuple of numbers such as (0.1, 0.2), or None".to_string();
        let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let inner =
            inner.or_else(|| text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))).ok_or_else(wrong)?;
        let items = inner.trim().trim_end_matches(',');
        if items.is_empty() {
            return Ok(Self(Some(SmallVec::new())));
        }
        items
            .split(',')
            .map(|item| f64::parse(item).map_err(|_| wrong()))
            .collect::<Result<_, _>>()
            .map(|all| Self(Some(all)))
    }
    fn default_text(&self) -> String {
        self.0.as_ref().map_or("None".into(), |all| format!("{:?}", all.as_slice()))
    }
}

/// A shape, or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizesOrNone(pub Option<ShapeAttr>);

impl Field for SizesOrNone {
    fn type_name() -> String {
        String::new()
    }
    fn parse(text: &str) -> Result<Self, String> {
        Option::<ShapeAttr>::parse(text).map(Self)
    }
    fn default_text(&self) -> String {
        self.0.default_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_of_numbers_are_read() {
        for (text, expected) in [("(0.5, 1)", vec![0.5, 1.0]), ("[2,]", vec![2.0]), (" ( ) ", vec![])] {
            let read = DoublesOrNone::parse(text).expect("a tuple").0.expect("numbers");
            assert_eq!(read.as_slice(), expected, "{text}");
        }
        assert_eq!(DoublesOrNone::parse("None"), Ok(DoublesOrNone(None)));
        for bad in ["0.5", "(0.5", "(a)", "(1,,2)", ""] {
            assert!(DoublesOrNone::parse(bad).is_err(), "{bad}");
        }
    }
}
