//! Draws the picture: a panel for each kind of value, with epochs on the horizontal axis.

use super::{Curve, Form, LEARNING_RATE, SPEED};
use mxrs::types::{Error, ErrorKind, Result};
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (1000, 760);
const COLORS: [RGBColor; 4] =
    [RGBColor(31, 119, 180), RGBColor(214, 96, 20), RGBColor(44, 140, 44), RGBColor(150, 60, 160)];

/// Draws the curves.
///
/// # Errors
/// Returns an error of the drawing library.
pub fn picture(curves: &[Curve], form: Form) -> Result<Vec<u8>> {
    crate::font::register();
    match form {
        Form::Svg => {
            let mut text = String::new();
            panels(SVGBackend::with_string(&mut text, SIZE).into_drawing_area(), curves)?;
            Ok(text.into_bytes())
        }
        Form::Png => {
            let mut pixels = vec![0; (SIZE.0 * SIZE.1 * 3) as usize];
            panels(BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area(), curves)?;
            png(&pixels)
        }
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Backend { backend: "plotters", message: error.to_string() })
}

/// The panels with their titles and curves; panels without curves are omitted.
fn groups(curves: &[Curve]) -> Vec<(&str, Vec<&Curve>)> {
    let is_rate = |curve: &Curve| curve.name == LEARNING_RATE;
    let is_speed = |curve: &Curve| curve.name == SPEED;
    let is_loss = |curve: &Curve| curve.name == "cross-entropy" || curve.name == "nll-loss";
    let is_quality = |curve: &Curve| !is_rate(curve) && !is_speed(curve) && !is_loss(curve);
    let pick = |is: &dyn Fn(&Curve) -> bool| curves.iter().filter(|curve| is(curve)).collect::<Vec<_>>();
    let all = [
        ("loss", pick(&is_loss)),
        ("accuracy", pick(&is_quality)),
        (LEARNING_RATE, pick(&is_rate)),
        (SPEED, pick(&is_speed)),
    ];
    all.into_iter().filter(|(_, curves)| !curves.is_empty()).collect()
}

fn panels<B: DrawingBackend>(area: DrawingArea<B, Shift>, curves: &[Curve]) -> Result<()> {
    area.fill(&WHITE).map_err(failed)?;
    let groups = groups(curves);
    let columns = if groups.len() > 1 { 2 } else { 1 };
    let places = area.split_evenly((groups.len().div_ceil(columns).max(1), columns));
    for (place, (title, curves)) in places.iter().zip(&groups) {
        panel(place, title, curves).map_err(failed)?;
    }
    area.present().map_err(failed)
}

type Drawn<B> = std::result::Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

fn panel<B: DrawingBackend>(area: &DrawingArea<B, Shift>, title: &str, curves: &[&Curve]) -> Drawn<B> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let last = points().map(|(x, _)| *x).fold(0.0, f64::max);
    let (low, high) = points().fold((f64::MAX, f64::MIN), |(low, high), (_, y)| (low.min(*y), high.max(*y)));
    let margin = ((high - low) * 0.05).max(high.abs() * 1e-3).max(1e-9);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..last.max(1e-9), low - margin..high + margin)?;
    chart.configure_mesh().x_desc("epochs").light_line_style(WHITE).draw()?;
    for (at, curve) in curves.iter().enumerate() {
        let color = COLORS[at % COLORS.len()];
        let label = if curve.is_validation { format!("{} (validation)", curve.name) } else { curve.name.clone() };
        let line = curve.points.iter().copied();
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(2)))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        // A line with a single point is invisible, so curves with few points also have dots.
        let dots = curve.points.iter().filter(|_| curve.points.len() < 30);
        chart.draw_series(dots.map(|point| Circle::new(*point, 3, color.filled())))?;
    }
    if curves.len() > 1 {
        let box_ = WHITE.mix(0.8);
        chart.configure_series_labels().background_style(box_).border_style(BLACK.mix(0.4)).draw()?;
    }
    Ok(())
}

fn png(pixels: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> Vec<Curve> {
        let curve = |name: &str, is_validation, points: &[(f64, f64)]| Curve {
            name: name.into(),
            is_validation,
            points: points.to_vec(),
        };
        vec![
            curve("accuracy", false, &[(0.5, 0.4), (1.0, 0.8)]),
            curve("cross-entropy", false, &[(0.5, 2.0), (1.0, 1.0)]),
            curve("accuracy", true, &[(1.0, 0.7)]),
            curve(LEARNING_RATE, false, &[(0.5, 0.1), (1.0, 0.1)]),
        ]
    }

    #[test]
    fn a_panel_for_each_kind_and_a_line_for_each_curve() {
        let text = String::from_utf8(picture(&curves(), Form::Svg).unwrap()).unwrap();
        for word in ["loss", "accuracy (validation)", LEARNING_RATE, "epochs"] {
            assert!(text.contains(word), "{word}");
        }
        assert!(!text.contains(SPEED), "there was none");
        assert!(text.matches("<polyline").count() >= 3, "{text}");
    }

    #[test]
    fn pixels_show_text_and_lines() {
        let bytes = picture(&curves(), Form::Png).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!((reader.info().width, reader.info().height), SIZE);
        let first = COLORS[0];
        let is_line = |p: &[u8]| p == [first.0, first.1, first.2];
        assert!(pixels.chunks(3).any(is_line));
        // Black or nearly black pixels are text.
        assert!(pixels.chunks(3).filter(|p| p.iter().all(|v| *v < 90)).count() > 200);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let text = String::from_utf8(picture(&[], Form::Svg).unwrap()).unwrap();
        assert!(text.contains("<svg") && !text.contains("<polyline"));
    }
}
