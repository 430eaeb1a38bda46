//! Terminal output: functions that print text and return an error if that fails; and colors, progress bars and tables,
//! which depend on whether the output is a terminal.

use crate::exit::{Failure, Outcome};
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mxrs::env::{EnvSource, OsSource};
use owo_colors::OwoColorize;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

/// Whether stdout shows colors: it is a terminal and `NO_COLOR` is not set.
pub fn stdout_has_colors() -> bool {
    stdout().is_terminal() && !no_color()
}

/// Whether `NO_COLOR` is set to anything but the empty text (see <https://no-color.org>).
fn no_color() -> bool {
    OsSource.vars().iter().any(|(name, value)| name == "NO_COLOR" && !value.is_empty())
}

/// Prints an error on stderr.
pub fn error(text: &str) {
    let label = "error:";
    let line = if stderr().is_terminal() && !no_color() {
        format!("{} {text}\n", label.red().bold())
    } else {
        format!("{label} {text}\n")
    };
    // An error of writing to stderr cannot be reported anywhere.
    let _ = stderr().write_all(line.as_bytes());
}

/// Prints text on stdout.
///
/// # Errors
/// Returns [`Failure::ReaderGone`] if the program that reads stdout has closed it, as `head` does in `mxrs env | head`;
/// another error if writing fails.
pub fn print(text: &str) -> Outcome {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(crate::exit::written("stdout".as_ref())(error)),
    }
}

/// Like [`print`], with a newline at the end.
///
/// # Errors
/// Fails as [`print`] does.
pub fn print_line(text: impl AsRef<str>) -> Outcome {
    print(&format!("{}\n", text.as_ref()))
}

/// Prints JSON on several lines.
///
/// # Errors
/// Fails as [`print`] does.
pub fn print_json(value: &impl serde::Serialize) -> Outcome {
    print_line(json(value))
}

/// JSON on several lines.
pub fn json(value: &impl serde::Serialize) -> String {
    // Serialization cannot fail, because all keys are text.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The least width that counts as a terminal's. A smaller one is not real: `mpirun` gives its processes a terminal without a
/// size.
const NARROWEST: u16 = 40;

/// An empty table with these headings; as wide as the terminal, or unlimited if stdout is not a terminal.
pub fn table<H: AsRef<str>>(headings: &[H]) -> Table {
    let mut table = Table::new();
    let is_terminal = table.width().is_some_and(|width| width >= NARROWEST);
    let arrangement = if is_terminal { ContentArrangement::Dynamic } else { ContentArrangement::Disabled };
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(arrangement);
    table.set_header(headings.iter().map(AsRef::as_ref));
    table
}

/// A Markdown table with these headings and rows.
pub fn markdown<H: AsRef<str>, C: AsRef<str>>(headings: &[H], rows: impl IntoIterator<Item = Vec<C>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    let mut text = line(headings.iter().map(|heading| cell(heading.as_ref())).collect());
    text += &format!("|{}\n", " --- |".repeat(headings.len()));
    for row in rows {
        text += &line(row.iter().map(|c| cell(c.as_ref())).collect());
    }
    text
}

/// A progress bar on stderr, hidden unless stderr is a terminal and `is_wanted` is set.
pub fn progress(length: Option<u64>, unit: &str, is_wanted: bool) -> ProgressBar {
    let target =
        if is_wanted && stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(length, target);
    let template = match length {
        Some(_) => format!("{{bar:40}} {{pos}}/{{len}} {unit} {{per_sec}} {{eta}}"),
        None => format!("{{spinner}} {{pos}} {unit} {{per_sec}}"),
    };
    // The template is valid; if it could not be parsed, the default style would be used.
    bar.set_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cannot_break_a_markdown_table() {
        let text = markdown(&["a", "b"], [vec!["x|y", "two\nlines"]]);
        assert_eq!(text, "| a | b |\n| --- | --- |\n| x\\|y | two lines |\n");
    }
}
