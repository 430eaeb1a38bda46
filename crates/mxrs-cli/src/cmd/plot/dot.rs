//! Writes the drawing in Graphviz's dot language.

use super::drawing::Drawing;
use std::fmt::Write;

/// The complete dot file.
pub fn text(title: &str, drawing: &Drawing) -> String {
    let mut text = format!("digraph {} {{\n", quoted(title));
    text += "  node [style=filled, fixedsize=false, fontname=\"Helvetica\", shape=box];\n";
    text += "  edge [fontname=\"Helvetica\", fontsize=10];\n";
    // The results of `writeln!` are ignored, because writing to a string cannot fail.
    for (i, node) in drawing.nodes.iter().enumerate() {
        let shape = if node.is_variable { ", shape=oval" } else { "" };
        let label = quoted(&node.lines.join("\n"));
        let _ = writeln!(text, "  n{i} [label={label}, fillcolor=\"{}\"{shape}];", node.color);
    }
    for edge in &drawing.edges {
        let label = if edge.label.is_empty() { String::new() } else { format!(" [label={}]", quoted(&edge.label)) };
        let _ = writeln!(text, "  n{} -> n{}{label};", edge.from, edge.to);
    }
    text + "}\n"
}

/// A quoted string of the dot language.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_text() {
        assert_eq!(quoted("a\"b\\c\nd"), r#""a\"b\\c\nd""#);
    }
}
