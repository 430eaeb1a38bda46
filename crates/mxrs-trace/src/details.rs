//! What is known about a kernel call besides its name: shapes, types, kernel, backend, costs.

use crate::Label;
use std::fmt::{Display, Write as _};

/// Ends the name of a detail in the text of the label.
const IS: char = '\u{1f}';
/// Ends the value of a detail.
const END: char = '\u{1e}';

/// Makes a label of details, such as `[("shapes", &"(1,3,224,224)"), ("flops", &236_000_000)]`. This formats a text, so code
/// that knows the details before a call runs should make the label when it prepares the call.
///
/// ```
/// let label = mxrs_trace::details(&[("kernel", &"winograd"), ("flops", &1200)]);
/// assert_eq!(mxrs_trace::details_of(label).collect::<Vec<_>>(), [("kernel", "winograd"), ("flops", "1200")]);
/// ```
#[must_use]
pub fn details(pairs: &[(&str, &dyn Display)]) -> Label {
    let mut text = String::new();
    for (name, value) in pairs {
        // Writing to a string does not fail.
        let _ = write!(text, "{name}{IS}{value}{END}");
    }
    Label::of(&text)
}

/// The details of a label: names and values in the order in which they were given. A value that was cut is left out.
pub fn details_of(label: Label) -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = label.text();
    let whole = text.rfind(END).map_or("", |end| &text[..end]);
    whole.split(END).filter_map(|pair| pair.split_once(IS))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_detail_that_was_cut_is_left_out() {
        let long = "x".repeat(2000);
        let label = details(&[("a", &1), ("b", &long)]);
        assert_eq!(details_of(label).collect::<Vec<_>>(), [("a", "1")]);
        assert_eq!(details_of(Label::NONE).count(), 0);
        assert_eq!(details_of(Label::of("no details")).count(), 0);
    }
}
