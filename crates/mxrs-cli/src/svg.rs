//! Functions for writing SVG pictures as text.

use crate::exit::{Failure, Outcome};
use mxrs::format::write_atomically;
use mxrs::types::Error;
use std::path::Path;

/// A complete SVG document of this size in pixels, with a style sheet and content that is already SVG.
pub fn document(width: f64, height: f64, title: &str, style: &str, content: &str) -> String {
    let (width, height) = (number(width), number(height));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"12\">\n<title>{}</title>\n<style>{style}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{content}</svg>\n",
        escape(title)
    )
}

/// Escapes text for XML; characters that XML does not allow become `?`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A coordinate with at most two decimal places.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Cuts a text to at most `n_chars` characters.
pub fn shortened(text: &str, n_chars: usize) -> String {
    if text.chars().count() <= n_chars {
        return text.to_owned();
    }
    text.chars().take(n_chars.saturating_sub(1)).chain(['…']).collect()
}

/// Writes a file atomically: it appears complete or not at all.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(path: &Path, text: &str) -> Outcome {
    write_atomically(path, |sink| sink.write_all(text.as_bytes()).map_err(|e| Error::io(path, &e)))
        .map_err(Failure::Run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_well_formed() {
        assert_eq!(escape("a<b> & \"c\"\n\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot; ?");
        assert_eq!(shortened("résumé", 6), "résumé");
        assert_eq!(shortened("résumés", 6), "résum…");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([1.0, 0.5, 2.999, 100.0, -0.25].map(number), ["1", "0.5", "3", "100", "-0.25"]);
    }
}
