//! Draws tensors as rectangles: steps from left to right, addresses from bottom to top.

use super::report::{UNITS, readable};
use crate::svg::{document, escape, number, shortened};
use mxrs::exec::{PlannedGraph, PlannedTensor, TensorKind};
use std::cmp::Reverse;
use std::fmt::Write;

/// Size of the picture in pixels. The next four constants are its margins.
const SIZE: (f64, f64) = (1280.0, 760.0);
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 74.0;
const BOTTOM: f64 = 52.0;

/// Most bytes of SVG for the rectangles: browsers display files of this size without problems.
const MOST_BYTES: usize = 4_500_000;

/// Kinds of tensors with their style class, color and meaning.
const KINDS: [(TensorKind, &str, &str, &str); 5] = [
    (TensorKind::Forward, "f", "#80b1d3", "forward"),
    (TensorKind::Kept, "k", "#fb8072", "forward, kept for the gradient"),
    (TensorKind::Recomputed, "r", "#bebada", "computed again"),
    (TensorKind::Gradient, "g", "#b3de69", "gradient"),
    (TensorKind::Workspace, "w", "#fdb462", "workspace"),
];

/// Maps steps and bytes to pixels.
struct Scale {
    n_steps: usize,
    n_bytes: usize,
}

impl Scale {
    fn x(&self, step: usize) -> f64 {
        LEFT + (SIZE.0 - LEFT - RIGHT) * step as f64 / self.n_steps.max(1) as f64
    }

    fn y(&self, address: usize) -> f64 {
        SIZE.1 - BOTTOM - (SIZE.1 - TOP - BOTTOM) * address as f64 / self.n_bytes.max(1) as f64
    }
}

/// Draws the arena of a plan as SVG.
pub fn draw(title: &str, planned: &PlannedGraph) -> String {
    let scale = Scale { n_steps: planned.steps.len(), n_bytes: planned.arena_bytes };
    let mut content = String::new();
    axes(&mut content, &scale);
    let n_left_out = rectangles(&mut content, &scale, planned);
    if planned.n_forward < planned.steps.len() {
        let (x, y) = (number(scale.x(planned.n_forward)), number(TOP - 4.0));
        line(&mut content, "border", scale.x(planned.n_forward), TOP, scale.x(planned.n_forward), SIZE.1 - BOTTOM);
        text(&mut content, "middle", &x, &y, "forward | backward");
    }
    let bound = planned.report.lower_bound_bytes;
    if (1..=scale.n_bytes).contains(&bound) {
        line(&mut content, "bound", LEFT, scale.y(bound), SIZE.0 - RIGHT, scale.y(bound));
        let y = number(scale.y(bound) + 13.0);
        text(&mut content, "end", &number(SIZE.0 - RIGHT - 4.0), &y, &format!("lower bound {}", readable(bound)));
    }
    let mut heading = format!("{title}; arena {}", readable(scale.n_bytes));
    if n_left_out > 0 {
        let _ = write!(heading, "; the {n_left_out} smallest tensors are not drawn");
    }
    text(&mut content, "start", &number(LEFT), "22", &heading);
    legend(&mut content);
    document(SIZE.0, SIZE.1, title, &style(), &content)
}

fn style() -> String {
    let mut style = String::from("rect{stroke:#333;stroke-width:.3}rect:hover{stroke-width:2}");
    style += "line{stroke:#666}.grid{stroke:#ddd}.border{stroke:#000;stroke-dasharray:6 3}";
    style += ".bound{stroke:#d00;stroke-dasharray:2 3}";
    KINDS.iter().for_each(|(_, class, color, _)| style += &format!(".{class}{{fill:{color}}}"));
    style
}

// The result of `writeln!` is ignored, because writing to a string cannot fail.
fn line(content: &mut String, class: &str, x1: f64, y1: f64, x2: f64, y2: f64) {
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(number);
    let _ = writeln!(content, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
}

fn text(content: &mut String, anchor: &str, x: &str, y: &str, text: &str) {
    let _ = writeln!(content, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", escape(text));
}

fn axes(content: &mut String, scale: &Scale) {
    let (bottom, right) = (SIZE.1 - BOTTOM, SIZE.0 - RIGHT);
    let power = (scale.n_bytes.max(1).ilog2() / 10).min(4);
    let (unit, name) = (1usize << (10 * power), UNITS[power as usize]);
    let units = scale.n_bytes.div_ceil(unit);
    // The size of a small arena is only a few units (such as KiB), so its axis has a mark every quarter of a unit.
    let every = if units >= 5 { unit * round_step(units) } else { (unit / 4).max(1) };
    for address in (0..=scale.n_bytes).step_by(every) {
        let y = scale.y(address);
        line(content, "grid", LEFT, y, right, y);
        text(
            content,
            "end",
            &number(LEFT - 6.0),
            &number(y + 4.0),
            &format!("{} {name}", number(address as f64 / unit as f64)),
        );
    }
    for step in (0..=scale.n_steps).step_by(round_step(scale.n_steps)) {
        let x = scale.x(step);
        line(content, "axis", x, bottom, x, bottom + 5.0);
        text(content, "middle", &number(x), &number(bottom + 18.0), &step.to_string());
    }
    line(content, "axis", LEFT, bottom, right, bottom);
    line(content, "axis", LEFT, TOP, LEFT, bottom);
    text(content, "middle", &number((LEFT + right) / 2.0), &number(bottom + 40.0), "step");
    text(content, "start", "8", &number(TOP - 10.0), "address (bytes)");
}

/// 1, 2 or 5 times a power of ten, such that about ten marks cover `n`.
fn round_step(n: usize) -> usize {
    let mut power = 1;
    loop {
        for factor in [1, 2, 5] {
            if n / (factor * power) <= 12 {
                return factor * power;
            }
        }
        power *= 10;
    }
}

/// Draws the tensors with the largest rectangles (bytes times steps) first, and stops when the text of the picture is longer
/// than `MOST_BYTES`. Returns how many tensors are not drawn.
fn rectangles(content: &mut String, scale: &Scale, planned: &PlannedGraph) -> usize {
    let mut tensors: Vec<&PlannedTensor> = planned.tensors.iter().filter(|t| t.size_bytes > 0).collect();
    tensors.sort_by_key(|t| Reverse(t.size_bytes as u128 * (t.last - t.first + 1) as u128));
    // Arenas of several devices are drawn one above the other.
    let base = |tensor: &PlannedTensor| -> usize {
        let before = planned.devices.iter().take_while(|of| of.device != tensor.device);
        before.map(|of| of.arena_bytes).sum()
    };
    let start = content.len();
    for (n_drawn, tensor) in tensors.iter().enumerate() {
        if content.len() - start > MOST_BYTES {
            return tensors.len() - n_drawn;
        }
        let begin = base(tensor) + tensor.offset_bytes;
        let (x, y) = (scale.x(tensor.first), scale.y(begin + tensor.size_bytes));
        let (width, height) = (scale.x(tensor.last + 1) - x, scale.y(begin) - y);
        let [x, y, width, height] = [x, y, width, height].map(number);
        let known = KINDS.iter().find(|(kind, ..)| *kind == tensor.kind);
        let (class, meaning) = known.map_or(("f", ""), |(_, class, _, meaning)| (class, meaning));
        let _ = writeln!(
            content,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{}: {meaning}, \
             {} bytes at {}, steps {} to {}</title></rect>",
            escape(&shortened(&tensor.name, 80)),
            tensor.size_bytes,
            tensor.offset_bytes,
            tensor.first,
            tensor.last
        );
    }
    0
}

fn legend(content: &mut String) {
    let mut x = LEFT;
    for (_, class, _, meaning) in KINDS {
        let _ = writeln!(content, "<rect class=\"{class}\" x=\"{}\" y=\"34\" width=\"14\" height=\"14\"/>", number(x));
        text(content, "start", &number(x + 19.0), "46", meaning);
        x += 45.0 + 6.5 * meaning.len() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::exec::StepReport;
    use mxrs::graph::memory::{Algorithm, PlanReport};
    use mxrs::types::Device;

    /// A plan with `n` tensors, each alive for three steps.
    fn planned(n: usize) -> PlannedGraph {
        let tensor = |i: usize| PlannedTensor {
            name: format!("a_layer_with_a_long_name_{i}<&>"),
            device: Device::cpu(0),
            offset_bytes: i % 3 * 4096,
            size_bytes: 4096,
            first: i,
            last: i + 2,
            kind: TensorKind::Forward,
        };
        let step = StepReport {
            name: String::new(),
            op: String::new(),
            backend: "",
            kernel: String::new(),
            device: Device::cpu(0),
            source: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            is_prepare: false,
            multiply_adds: 0,
            bytes: 0,
            n_calls: 1,
            chosen_by: Default::default(),
            refusals: Vec::new(),
        };
        PlannedGraph {
            steps: vec![step; n + 2],
            n_forward: n + 2,
            inplace_adds: Vec::new(),
            n_recomputed: 0,
            recomputed_work: 0.0,
            report: PlanReport {
                algorithm: Algorithm::Offset,
                tried: Vec::new(),
                offset_bytes: None,
                bytes: 12_288,
                lower_bound_bytes: 12_288,
                unshared_bytes: 4096 * n,
                n_inplace: 0,
                n_colors: 1,
            },
            arena_bytes: 12_288,
            devices: Vec::new(),
            crossing_bytes: 0,
            activation_bytes: 12_288,
            workspace_bytes: 0,
            bound_bytes: 0,
            parameter_bytes: 0,
            input_bytes: 0,
            output_bytes: 0,
            gradient_bytes: 0,
            packed_bytes: 0,
            fused: Vec::new(),
            tensors: (0..n).map(tensor).collect(),
        }
    }

    #[test]
    fn large_plans_make_no_large_files() {
        let small = draw("small", &planned(1000));
        assert_eq!(small.matches(" bytes at ").count(), 1000);
        assert!(!small.contains("not drawn"));
        let large = draw("large", &planned(100_000));
        assert!(large.len() < 5_000_000, "{}", large.len());
        let n_drawn = large.matches(" bytes at ").count();
        assert!(n_drawn > 10_000, "{n_drawn}");
        assert!(large.contains(&format!("the {} smallest tensors are not drawn", 100_000 - n_drawn)));
    }

    #[test]
    fn marks_are_round_and_few() {
        for (n, step) in [(0, 1), (12, 1), (13, 2), (25, 2), (100, 10), (516, 50), (100_000, 10_000)] {
            assert_eq!(round_step(n), step, "{n}");
        }
    }
}
