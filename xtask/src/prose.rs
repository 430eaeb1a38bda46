//! Finds the prose of the workspace: the comments and messages of Rust files, and the text of Markdown files.
//!
//! Code inside prose is left out: fenced blocks and words between backticks.

use std::ops::Range;

/// Kind of a piece of prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Documentation of the next item: `///`.
    Outer,
    /// Documentation of the file: `//!`.
    Inner,
    /// An ordinary comment: `//` or `/* */`.
    Comment,
    /// A string literal that contains a space.
    Message,
    /// A paragraph of Markdown.
    Text,
}

/// A piece of prose: consecutive comment lines, one string literal, or one paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Kind of the piece.
    pub kind: Kind,
    /// Whether the piece is a comment that follows code on the same line.
    pub is_trailing: bool,
    /// Lines of the piece, each with its number, counted from 1.
    pub lines: Vec<(usize, String)>,
}

impl Piece {
    /// The whole text on one line with code blanked out, and the line number of each byte.
    pub fn words(&self) -> (String, Vec<usize>) {
        let (mut text, mut numbers, mut in_fence, mut in_code) = (String::new(), Vec::new(), false, false);
        for (number, line) in &self.lines {
            if line.trim_start().starts_with("```") {
                in_fence = !in_fence;
                continue;
            }
            if in_fence {
                continue;
            }
            for c in line.trim().chars().chain([' ']) {
                in_code ^= c == '`';
                let shown = if in_code || c == '`' { '_' } else { c };
                text.push(shown);
                numbers.resize(text.len(), *number);
            }
        }
        (text, numbers)
    }
}

/// The comments and messages of a Rust file, in order.
pub fn of_rust(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let rest = &text[at..];
        let (len, found) = token(rest);
        if let Some((kind, range)) = found {
            // Calls `split` and not `lines`, because `lines` would drop an empty comment line at the end. An empty line
            // separates two paragraphs of one piece.
            let lines = rest[range].split('\n').enumerate().map(|(i, text)| (line + i, text.to_owned())).collect();
            let before = text[..at].rsplit('\n').next().unwrap_or("");
            add(&mut pieces, Piece { kind, is_trailing: !before.trim().is_empty(), lines });
        }
        line += rest[..len].matches('\n').count();
        at += len;
    }
    pieces
}

/// Adds a piece. A comment directly below a comment of the same kind continues that piece.
fn add(pieces: &mut Vec<Piece>, piece: Piece) {
    if let Some(last) = pieces.last_mut()
        && last.kind == piece.kind
        && piece.kind != Kind::Message
        && !(last.is_trailing || piece.is_trailing)
        && last.lines.last().map(|(number, _)| number + 1) == piece.lines.first().map(|(number, _)| *number)
    {
        last.lines.extend(piece.lines);
        return;
    }
    pieces.push(piece);
}

/// Length of the token at the start of `rest`, and the prose in it, if any.
fn token(rest: &str) -> (usize, Option<(Kind, Range<usize>)>) {
    if rest.starts_with("//") {
        let len = rest.find('\n').unwrap_or(rest.len());
        let (kind, skip) = match rest.as_bytes().get(2) {
            Some(b'!') => (Kind::Inner, 3),
            Some(b'/') => (Kind::Outer, 3),
            _ => (Kind::Comment, 2),
        };
        return (len, Some((kind, skip..len)));
    }
    if rest.starts_with("/*") {
        let len = rest.find("*/").map_or(rest.len(), |end| end + 2);
        return (len, Some((Kind::Comment, 2..len.saturating_sub(2).max(2))));
    }
    let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (prefix, after) = rest.split_at(word);
    if matches!(prefix, "r" | "br" | "cr") && after.starts_with(['"', '#']) {
        let hashes = after.len() - after.trim_start_matches('#').len();
        if after[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let start = word + hashes + 1;
            let end = rest[start..].find(&close).map_or(rest.len(), |end| start + end);
            return message(rest, start..end, (end + close.len()).min(rest.len()));
        }
    }
    if word > 0 {
        return (word, None);
    }
    match rest.as_bytes()[0] {
        b'"' => {
            let (mut end, mut is_escaped) = (rest.len(), false);
            for (i, c) in rest.char_indices().skip(1) {
                if !is_escaped && c == '"' {
                    end = i;
                    break;
                }
                is_escaped = !is_escaped && c == '\\';
            }
            message(rest, 1..end, (end + 1).min(rest.len()))
        }
        // A character literal, unless it is a lifetime.
        b'\'' => {
            let mut chars = rest.char_indices().skip(1);
            let is_escape = rest[1..].starts_with('\\');
            let second = if is_escape { rest[2..].find('\'').map(|i| i + 2) } else { chars.nth(1).map(|(i, _)| i) };
            match second {
                Some(end) if rest[end..].starts_with('\'') => {
                    let end = if rest[..end].ends_with('\\') { end + 1 } else { end };
                    ((end + 1).min(rest.len()), None)
                }
                _ => (1, None),
            }
        }
        _ => (rest.chars().next().map_or(1, char::len_utf8), None),
    }
}

fn message(rest: &str, range: Range<usize>, len: usize) -> (usize, Option<(Kind, Range<usize>)>) {
    (len, rest[range.clone()].contains(' ').then_some((Kind::Message, range)))
}

/// The paragraphs of a Markdown file, in order. A fenced block is part of the paragraph around it.
pub fn of_markdown(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut in_fence, mut is_open) = (false, false);
    for (at, line) in text.lines().enumerate() {
        in_fence ^= line.trim_start().starts_with("```");
        if line.trim().is_empty() && !in_fence {
            is_open = false;
            continue;
        }
        let numbered = (at + 1, line.to_owned());
        match pieces.last_mut().filter(|_| is_open) {
            Some(piece) => piece.lines.push(numbered),
            None => pieces.push(Piece { kind: Kind::Text, is_trailing: false, lines: vec![numbered] }),
        }
        is_open = true;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_messages_are_found_with_their_lines() {
        let text = "//! File.\n//!\n//! More.\n\n/// One\n/// two.\nfn f<'a>(c: char) {\n    let q = '\"'; // tail\n    g(\"a b\", \"x\", r#\"c \" d\"#, '\\'');\n}\n";
        let found: Vec<(Kind, usize, String)> = of_rust(text)
            .into_iter()
            .map(|piece| (piece.kind, piece.lines[0].0, piece.words().0.trim().to_owned()))
            .collect();
        let expected = [
            (Kind::Inner, 1, "File.  More."),
            (Kind::Outer, 5, "One two."),
            (Kind::Comment, 8, "tail"),
            (Kind::Message, 9, "a b"),
            (Kind::Message, 9, "c \" d"),
        ];
        assert_eq!(found, expected.map(|(kind, line, text)| (kind, line, text.to_owned())));
    }

    #[test]
    fn code_inside_prose_is_left_out() {
        let pieces = of_rust("/// Calls `told` twice:\n/// ```\n/// let anew = 1;\n/// ```\n/// Done.\n");
        assert_eq!(pieces.len(), 1);
        let (text, numbers) = pieces[0].words();
        assert_eq!(text, "Calls ______ twice: Done. ");
        assert_eq!(numbers[text.find("Done").unwrap()], 5);
    }

    #[test]
    fn paragraphs_of_markdown_end_at_blank_lines() {
        let pieces = of_markdown("# A\n\nOne\ntwo.\n\n```text\n\ncode\n```\n");
        let first: Vec<usize> = pieces.iter().map(|piece| piece.lines[0].0).collect();
        assert_eq!(first, [1, 3, 6]);
        assert_eq!(pieces[2].words().0, "");
    }
}
