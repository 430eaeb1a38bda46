//! `cargo xtask read`: prints randomly chosen comments, each in its place: the first line of the file's documentation, the
//! item around the comment with the first line of its documentation, and the line of code that the comment belongs to.
//!
//! A reader who does not know the code reads each comment once. A comment that has to be read twice should be reworded.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::prose::{self, Kind, Piece};
use crate::workspace::{Workspace, read_text};

/// Arguments of `read`.
#[derive(clap::Args)]
pub struct Args {
    /// Seed that selects the comments [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,
    /// Number of comments
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Select only from files whose path contains this text
    #[arg(long = "in", value_name = "PATH", default_value = "")]
    path: String,
}

/// A comment with its position and the item that it belongs to.
struct Comment {
    place: String,
    /// What a reader of the file has read before: the first line of its documentation, and the item around the comment.
    around: String,
    item: String,
    text: String,
}

/// Runs the command.
///
/// # Errors
/// Fails if a file cannot be read or no comment matches.
pub fn run(args: &Args) -> Result<()> {
    let comments = comments(&Workspace::find()?, &args.path)?;
    if comments.is_empty() {
        bail!("no file with comments has a path that contains `{}`", args.path);
    }
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seed = args.seed.unwrap_or(clock);
    let mut text = format!("{} comments; these are drawn with --seed {seed}\n", comments.len());
    for at in draw(seed, args.count as usize, comments.len()) {
        let Comment { place, around, item, text: comment } = &comments[at];
        text += &format!("\n{place}\n{around}    {item}\n{comment}\n");
    }
    std::io::stdout().lock().write_all(text.as_bytes()).context("standard output")
}

/// Draws `count` different random numbers below `n`, or all `n` of them if there are fewer, in the order of drawing.
fn draw(seed: u64, count: usize, n: usize) -> Vec<usize> {
    let (mut state, mut seen, mut drawn) = (seed, BTreeSet::new(), Vec::new());
    while drawn.len() < count.min(n) {
        // SplitMix64 (Steele et al. 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let at = ((bits ^ (bits >> 31)) % n as u64) as usize;
        if seen.insert(at) {
            drawn.push(at);
        }
    }
    drawn
}

/// Every comment of the workspace's files whose path contains `part`.
fn comments(workspace: &Workspace, part: &str) -> Result<Vec<Comment>> {
    let mut comments = Vec::new();
    for member in &workspace.members {
        for path in member.rust_files(&workspace.root)? {
            let name = workspace.relative(&path).display().to_string();
            if !name.contains(part) {
                continue;
            }
            let text = read_text(&path)?;
            let lines: Vec<&str> = text.lines().collect();
            let pieces = prose::of_rust(&text).into_iter().filter(|piece| piece.kind != Kind::Message);
            comments.extend(pieces.map(|piece| comment(&name, &lines, &piece)));
        }
    }
    Ok(comments)
}

fn comment(name: &str, lines: &[&str], piece: &Piece) -> Comment {
    let (first, last) = (piece.lines.first().map_or(1, |(n, _)| *n), piece.lines.last().map_or(1, |(n, _)| *n));
    let item = match piece.kind {
        Kind::Inner => "(the file)",
        // A comment after code belongs to that line; any other comment belongs to the next line of code.
        _ if piece.is_trailing => lines.get(first - 1).map_or("", |line| line.trim()),
        _ => {
            let code = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with("#[");
            lines[last.min(lines.len())..].iter().find(code).map_or("(the end of the file)", |line| line.trim())
        }
    };
    let around = match piece.kind {
        Kind::Inner => String::new(),
        _ => around(lines, first).iter().map(|line| format!("  : {line}\n")).collect(),
    };
    let text: Vec<String> = piece.lines.iter().map(|(_, line)| format!("  | {}", line.trim())).collect();
    Comment { place: format!("{name}:{first}"), around, item: item.to_owned(), text: text.join("\n") }
}

/// The first line of the file's documentation, then the item around line `number` with the first line of its documentation.
fn around<'l>(lines: &[&'l str], number: usize) -> Vec<&'l str> {
    let head = lines.first().filter(|line| line.starts_with("//!")).map(|line| line.trim());
    let indent = |line: &str| line.len() - line.trim_start().len();
    let before = &lines[..(number - 1).min(lines.len())];
    let mut limit = lines.get(number - 1).map_or(0, |line| indent(line));
    let mut item = None;
    for (at, line) in before.iter().enumerate().rev() {
        let text = line.trim_start();
        if text.is_empty() || text.starts_with("//") || text.starts_with('#') || indent(line) >= limit {
            continue;
        }
        // The line that ends a signature of several lines is followed upwards to the line that begins it.
        limit = indent(line) + usize::from(text.starts_with(')'));
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        if words.any(|word| ["fn", "struct", "enum", "impl", "trait", "mod", "union"].contains(&word)) {
            item = Some(at);
            break;
        }
    }
    let mut around: Vec<&str> = head.into_iter().collect();
    if let Some(at) = item {
        let attached = |line: &&&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("#[");
        let docs: Vec<&&str> = before[..at].iter().rev().take_while(attached).collect();
        around.extend(docs.iter().rev().find(|line| line.trim_start().starts_with("///")).map(|line| line.trim()));
        around.push(before[at].trim());
    }
    around
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_comments_and_none_twice() {
        let drawn = draw(7, 30, 40);
        assert_eq!(drawn, draw(7, 30, 40));
        assert_ne!(drawn, draw(8, 30, 40));
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 30);
        assert_eq!(draw(7, 30, 3).len(), 3);
    }

    #[test]
    fn a_comment_is_shown_with_its_item() {
        let text = "//! File.\n\n/// Adds.\n#[inline]\nfn add() {\n    one(); // now\n    // then\n    two();\n}\n";
        let lines: Vec<&str> = text.lines().collect();
        let shown: Vec<(String, String)> = prose::of_rust(text)
            .iter()
            .map(|piece| comment("a.rs", &lines, piece))
            .map(|comment| (comment.place, comment.item))
            .collect();
        let expected = [("1", "(the file)"), ("3", "fn add() {"), ("6", "one(); // now"), ("7", "two();")];
        assert_eq!(shown, expected.map(|(line, item)| (format!("a.rs:{line}"), item.to_owned())));
    }

    #[test]
    fn a_comment_is_shown_with_what_is_around_it() {
        let text = "//! File.\n\n/// A pair.\n#[derive(Debug)]\nstruct Pair {\n    /// Left.\n    a: u8,\n}\n\n\
                    impl Pair {\n    fn swap(\n        self,\n    ) -> Self {\n        if true {\n            // Why.\n            b();\n";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(around(&lines, 3), ["//! File."]);
        assert_eq!(around(&lines, 6), ["//! File.", "/// A pair.", "struct Pair {"]);
        assert_eq!(around(&lines, 16), ["//! File.", "fn swap("]);
    }
}
