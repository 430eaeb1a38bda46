//! The drawing as SVG. The library dagre computes a layered layout, from the inputs at the top to the outputs at the bottom.

use super::drawing::{Drawing, Drawn};
use crate::svg::{document, escape, number, shortened};
use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, layout};
use std::fmt::Write;

/// The next five constants are sizes in pixels: height of a line of text, width of a character, padding around the text,
/// margin around the drawing, height of the title.
const LINE: f64 = 15.0;
const CHARACTER: f64 = 6.7;
const PADDING: f64 = 9.0;
const MARGIN: f64 = 30.0;
const TITLE: f64 = 30.0;

/// Largest number of characters in a line of a label.
const N_CHARS: usize = 48;

const STYLE: &str = "text{text-anchor:middle}.n{stroke:#333;stroke-width:.8}.e{fill:none;stroke:#555}\
                     .l{font-size:10px;fill:#333;paint-order:stroke;stroke:#fff;stroke-width:3px}";

/// Draws the graph as an SVG document.
pub fn draw(title: &str, drawing: &Drawing) -> String {
    let mut graph: Graph<NodeLabel, EdgeLabel> =
        Graph::with_options(GraphOptions { directed: true, multigraph: false, compound: false });
    for (i, node) in drawing.nodes.iter().enumerate() {
        let mut label = NodeLabel::default();
        (label.width, label.height) = size(node);
        graph.set_node(i.to_string(), Some(label));
    }
    for edge in &drawing.edges {
        let mut label = EdgeLabel::default();
        (label.width, label.height) = (edge.label.chars().count() as f64 * CHARACTER, LINE);
        graph.set_edge(edge.from.to_string(), edge.to.to_string(), Some(label), None);
    }
    let options = LayoutOptions {
        nodesep: 24.0,
        edgesep: 12.0,
        ranksep: 26.0,
        marginx: MARGIN,
        marginy: MARGIN + TITLE,
        ..LayoutOptions::default()
    };
    layout(&mut graph, Some(options));

    let (mut edges, mut nodes) = (String::new(), String::new());
    let (mut right, mut bottom) = (MARGIN + title.chars().count() as f64 * CHARACTER, MARGIN + TITLE);
    // The results of `writeln!` are ignored, because writing to a string cannot fail.
    for edge in &drawing.edges {
        let Some(label) = graph.edge(&edge.from.to_string(), &edge.to.to_string(), None) else { continue };
        let points: Vec<String> = label.points.iter().map(|p| format!("{},{}", number(p.x), number(p.y))).collect();
        right = label.points.iter().fold(right, |right, p| right.max(p.x));
        let _ = writeln!(edges, "<polyline class=\"e\" marker-end=\"url(#a)\" points=\"{}\"/>", points.join(" "));
        if let (Some(x), Some(y), false) = (label.x, label.y, edge.label.is_empty()) {
            let (x, y) = (number(x), number(y + 3.5));
            let _ = writeln!(edges, "<text class=\"l\" x=\"{x}\" y=\"{y}\">{}</text>", escape(&edge.label));
        }
    }
    for (i, node) in drawing.nodes.iter().enumerate() {
        let Some((x, y)) = graph.node(&i.to_string()).and_then(|label| Some((label.x?, label.y?))) else { continue };
        let (width, height) = size(node);
        (right, bottom) = (right.max(x + width / 2.0), bottom.max(y + height / 2.0));
        box_of(&mut nodes, node, x, y);
    }
    let head = format!(
        "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n<text x=\"{}\" y=\"24\" \
         font-size=\"16\">{}</text>\n",
        number((right + MARGIN) / 2.0),
        escape(title)
    );
    document(right + MARGIN, bottom + MARGIN, title, STYLE, &(head + &edges + &nodes))
}

fn size(node: &Drawn) -> (f64, f64) {
    let longest = node.lines.iter().map(|line| line.chars().count().min(N_CHARS)).max().unwrap_or(0);
    (longest as f64 * CHARACTER + 2.0 * PADDING, node.lines.len() as f64 * LINE + PADDING)
}

/// Writes the box of a node with its center at (x, y).
fn box_of(content: &mut String, node: &Drawn, x: f64, y: f64) {
    let (width, height) = size(node);
    let radius = if node.is_variable { height / 2.0 } else { 3.0 };
    let [left, top, w, h, r] = [x - width / 2.0, y - height / 2.0, width, height, radius].map(number);
    let tooltip = escape(&node.lines.join(", "));
    let _ = writeln!(
        content,
        "<g><title>{tooltip}</title><rect class=\"n\" x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" rx=\"{r}\" \
         fill=\"{}\"/>",
        node.color
    );
    let first = y - height / 2.0 + PADDING / 2.0 + 11.5;
    for (n, line) in node.lines.iter().enumerate() {
        let y = number(first + n as f64 * LINE);
        let _ = writeln!(content, "<text x=\"{}\" y=\"{y}\">{}</text>", number(x), escape(&shortened(line, N_CHARS)));
    }
    content.push_str("</g>\n");
}
