//! `mxrs plot`: draws a graph as SVG, or writes it for Graphviz, with MXNet's colors.

mod dot;
mod drawing;
mod picture;

use crate::exit::{Failure, Outcome};
use crate::subject::SubjectArgs;
use crate::{start, svg, terminal};
use drawing::Drawing;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  mxrs plot resnet-18 --svg resnet-18.svg
  mxrs plot net-symbol.json --shape data=1,3,224,224 --dot net.dot
  mxrs plot lenet --weights | dot -Tpdf -o lenet.pdf

Without --svg and --dot the Graphviz text goes to stdout. Edges show the shapes behind the batch axis.";

/// Most nodes for which an SVG layout is computed: the time grows with the square of their number.
const MOST_NODES: usize = 1500;

/// Arguments of `plot`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The graph and the shapes of its inputs.
    #[command(flatten)]
    subject: SubjectArgs,
    /// Write an SVG picture to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write a Graphviz (dot) file
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Title of the drawing [default: the name of the network or file]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Show parameters and auxiliary states too
    #[arg(long, alias = "show-weights")]
    weights: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if the graph cannot be read, if shapes do not fit the graph, if the graph has too many nodes for a picture, or if a
/// file cannot be written.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime(None)?;
    let subject = args.subject.load(&runtime)?;
    let shapes = subject.shapes()?;
    let title = args.title.clone().unwrap_or_else(|| subject.name.clone());
    let drawing = Drawing::new(&subject.graph, &shapes, args.weights);
    if let Some(path) = &args.svg {
        if drawing.nodes.len() > MOST_NODES {
            let n = drawing.nodes.len();
            let text =
                format!("{n} nodes are too many to lay out here ({MOST_NODES}): write --dot and let Graphviz do it");
            return Err(Failure::Usage(text));
        }
        svg::write(path, &picture::draw(&title, &drawing))?;
    }
    let text = || dot::text(&title, &drawing);
    match &args.dot {
        Some(path) => svg::write(path, &text()),
        None if args.svg.is_none() => terminal::print(&text()),
        None => Ok(()),
    }
}
