//! Writes JSON in MXNet's layout, byte for byte.
//!
//! The layout: each level is indented by two spaces, and a comma at the end of a line is followed by a space. Objects
//! with one entry and short arrays are on one line. There is no line end at the end of the file. Only `\r \n \t \\ \"` are
//! escaped.

use crate::{Attrs, Entry, GraphAttr, SymbolFile, SymbolNode};

/// Length of the longest array of numbers or entries that is written on one line.
const ONE_LINE: usize = 10;

/// The text of a symbol file.
pub(crate) fn to_json(file: &SymbolFile) -> String {
    let mut layout = Layout::default();
    layout.graph(file);
    layout.text
}

#[derive(Default)]
struct Layout {
    text: String,
    /// For each open object or array: whether it spans several lines, and its number of entries so far.
    open: Vec<(bool, usize)>,
}

impl Layout {
    fn begin(&mut self, bracket: char, spread: bool) {
        self.text.push(bracket);
        self.open.push((spread, 0));
    }

    /// Starts the next entry of the innermost object or array.
    fn next(&mut self) {
        if let Some((_, count)) = self.open.last_mut() {
            if *count > 0 {
                self.text.push_str(", ");
            }
            *count += 1;
        }
        self.line();
    }

    /// Starts a new line if the innermost object or array spans several lines.
    fn line(&mut self) {
        if self.open.last().is_none_or(|(spread, _)| *spread) {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n("  ", self.open.len()));
        }
    }

    fn end(&mut self, bracket: char) {
        if let Some((true, count)) = self.open.pop()
            && count > 0
        {
            self.line();
        }
        self.text.push(bracket);
    }

    fn key(&mut self, key: &str) {
        self.next();
        self.string(key);
        self.text.push_str(": ");
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '\r' => self.text.push_str("\\r"),
                '\n' => self.text.push_str("\\n"),
                '\t' => self.text.push_str("\\t"),
                '\\' => self.text.push_str("\\\\"),
                '"' => self.text.push_str("\\\""),
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }

    fn list<T>(&mut self, items: &[T], spread: bool, mut item: impl FnMut(&mut Self, &T)) {
        self.begin('[', spread);
        for value in items {
            self.next();
            item(self, value);
        }
        self.end(']');
    }

    fn numbers<T: std::fmt::Display>(&mut self, numbers: &[T]) {
        self.list(numbers, numbers.len() > ONE_LINE, |layout, n| layout.text.push_str(&n.to_string()));
    }

    fn entries(&mut self, entries: &[Entry]) {
        self.list(entries, entries.len() > ONE_LINE, |layout, e| {
            layout.list(&[e.node, e.index, e.version], false, |layout, n| layout.text.push_str(&n.to_string()));
        });
    }

    fn graph(&mut self, graph: &SymbolFile) {
        self.begin('{', true);
        self.key("nodes");
        self.list(&graph.nodes, true, Self::node);
        self.key("arg_nodes");
        self.numbers(&graph.arg_nodes);
        if let Some(sums) = &graph.node_row_ptr {
            self.key("node_row_ptr");
            self.numbers(sums);
        }
        self.key("heads");
        self.entries(&graph.heads);
        if !graph.attrs.is_empty() {
            self.key("attrs");
            self.begin('{', graph.attrs.len() > 1);
            for (key, value) in &graph.attrs {
                self.key(key);
                self.graph_attr(value);
            }
            self.end('}');
        }
        self.end('}');
    }

    fn node(&mut self, node: &SymbolNode) {
        self.begin('{', true);
        self.key("op");
        self.string(&node.op);
        self.key("name");
        self.string(&node.name);
        if !node.attrs.is_empty() {
            self.key("attrs");
            self.attrs(&node.attrs);
        }
        self.key("inputs");
        self.entries(&node.inputs);
        if !node.control_deps.is_empty() {
            self.key("control_deps");
            self.numbers(&node.control_deps);
        }
        if !node.subgraphs.is_empty() {
            self.key("subgraphs");
            self.list(&node.subgraphs, true, Self::graph);
        }
        self.end('}');
    }

    fn attrs(&mut self, attrs: &Attrs) {
        self.begin('{', attrs.len() > 1);
        for (key, value) in attrs.iter() {
            self.key(key);
            self.string(value);
        }
        self.end('}');
    }

    fn graph_attr(&mut self, attr: &GraphAttr) {
        let kind = match attr {
            GraphAttr::Int(_) => "int",
            GraphAttr::Str(_) => "str",
            GraphAttr::ListInt(_) => "list_int",
            GraphAttr::ListStr(_) => "list_str",
        };
        self.begin('[', false);
        self.next();
        self.string(kind);
        self.next();
        match attr {
            GraphAttr::Int(value) => self.text.push_str(&value.to_string()),
            GraphAttr::Str(value) => self.string(value),
            GraphAttr::ListInt(list) => self.numbers(list),
            GraphAttr::ListStr(list) => self.list(list, true, |layout, text| layout.string(text)),
        }
        self.end(']');
    }
}
