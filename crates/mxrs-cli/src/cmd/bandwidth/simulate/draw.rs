//! Draws the efficiency over the number of workers.

use super::Cell;
use mxrs::types::{Error, ErrorKind, Result};
use plotters::prelude::*;

const SIZE: (u32, u32) = (900, 520);
const COLORS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 96, 20),
    RGBColor(44, 140, 44),
    RGBColor(150, 60, 160),
    RGBColor(120, 90, 70),
    RGBColor(90, 90, 90),
];

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Backend { backend: "plotters", message: error.to_string() })
}

/// An SVG picture with a line for each network, store and link.
///
/// # Errors
/// Returns an error of the drawing library.
pub fn picture(cells: &[Cell]) -> Result<String> {
    crate::font::register();
    let label = |cell: &Cell| format!("{}, {}, {} Gbit/s", cell.network, cell.kv_store, cell.link_gbit);
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for cell in cells {
        let (name, point) = (label(cell), ((cell.workers as f64).log2(), cell.efficiency * 100.0));
        match lines.iter_mut().find(|(other, _)| *other == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    let xs = || lines.iter().flat_map(|(_, points)| points.iter().map(|(x, _)| *x));
    let (low, high) = (xs().fold(f64::MAX, f64::min), xs().fold(0.0, f64::max));
    let low = low.min(high);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let mut chart = ChartBuilder::on(&area)
            .caption("Efficiency of training steps by the model", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(low..high.max(low + 1.0), 0.0..100.0)
            .map_err(failed)?;
        let workers = |x: &f64| format!("{:.0}", x.exp2());
        let mesh = &mut chart.configure_mesh();
        let mesh = mesh.x_desc("workers").y_desc("% of the speed without communication").light_line_style(WHITE);
        mesh.x_label_formatter(&workers).x_labels(12).draw().map_err(failed)?;
        for (i, (name, points)) in lines.iter().enumerate() {
            let color = COLORS[i % COLORS.len()];
            let series = LineSeries::new(points.iter().copied(), color.stroke_width(2));
            let legend = move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2));
            chart.draw_series(series).map_err(failed)?.label(name).legend(legend);
        }
        let labels = &mut chart.configure_series_labels();
        let labels = labels.position(SeriesLabelPosition::LowerLeft).background_style(WHITE.mix(0.8));
        labels.border_style(BLACK.mix(0.4)).draw().map_err(failed)?;
        area.present().map_err(failed)?;
    }
    Ok(text)
}
