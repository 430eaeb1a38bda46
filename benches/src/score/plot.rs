//! Draws the speed of every peer and of mxrs as bars in SVG, with a panel for each mode, batch size, element type and number
//! of threads.

use super::contest::Contest;
use super::peers::Peer;
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

/// Colors that people with any of the usual kinds of color vision can distinguish: Okabe and Ito, "Color Universal
/// Design", 2008.
const COLORS: [RGBColor; 9] = [
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(240, 228, 66),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(150, 150, 150),
];
const PANEL: (u32, u32) = (1100, 360);
/// Fraction of the width of a network in the chart that its bars fill.
const FILLED: f64 = 0.84;

/// Draws the contests. The heading names `machine`.
///
/// # Errors
/// Fails if there is nothing to draw because mxrs was measured in no contest.
pub fn svg(contests: &[Contest], peers: &[Peer], machine: &str) -> Result<String> {
    let mut panels: Vec<Vec<&Contest>> = Vec::new();
    for contest in contests.iter().filter(|contest| contest.measured(Peer::Mxrs).is_some()) {
        let is_its = |panel: &&mut Vec<&Contest>| {
            panel.first().is_some_and(|first| {
                let (a, b) = (&first.case, &contest.case);
                (a.mode, a.batch, a.dtype, a.threads) == (b.mode, b.batch, b.dtype, b.threads)
            })
        };
        match panels.iter_mut().find(is_its) {
            Some(panel) => panel.push(contest),
            None => panels.push(vec![contest]),
        }
    }
    anyhow::ensure!(!panels.is_empty(), "there is nothing to draw: no network ran here");
    // The library measures text with a font. This one is registered so that the widths do not depend on the machine's fonts.
    // The result is ignored: if the font could not be read, drawing would fail.
    let _ = plotters::style::register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
    let mut text = String::new();
    {
        let size = (PANEL.0, PANEL.1 * panels.len() as u32 + 50);
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let draw = || -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
            root.fill(&WHITE)?;
            let title = format!("Images per second, mxrs = 1 (higher is faster), {machine}");
            let area = root.titled(&title, ("sans-serif", 22))?;
            for (area, panel) in area.split_evenly((panels.len(), 1)).iter().zip(&panels) {
                draw_panel(area, panel, peers)?;
            }
            root.present()
        };
        draw().map_err(|error| anyhow!("drawing: {error}"))?;
    }
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw_panel(area: &Area<'_>, panel: &[&Contest], peers: &[Peer]) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let bars = bars(panel, peers);
    let highest = bars.iter().map(|bar| bar.height).fold(1.0, f64::max);
    let case = panel.first().map(|contest| {
        let case = &contest.case;
        format!("{}, batch {}, {}, threads: {}", case.mode.word(), case.batch, case.dtype.word(), case.threads)
    });
    let mut chart = ChartBuilder::on(area)
        .caption(case.unwrap_or_default(), ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(50)
        // The space to the right of the last network is for the legend.
        .build_cartesian_2d(0.0..(panel.len() + 1) as f64, 0.0..highest * 1.05)?;
    let name = |x: &f64| {
        // Labels stand in the middle of a network's bars.
        let contest = panel.get(*x as usize).filter(|_| (x.fract() - 0.5).abs() < 1e-9);
        let speed = contest.and_then(|contest| contest.measured(Peer::Mxrs)?.speed());
        contest.zip(speed).map_or_else(String::new, |(c, s)| format!("{} ({:.1}/s)", c.case.network, s.median))
    };
    let labels = (panel.len() + 1) * 2 + 1;
    chart.configure_mesh().disable_x_mesh().x_labels(labels).x_label_formatter(&name).draw()?;
    for (at, peer) in peers.iter().enumerate() {
        let color = COLORS[at % COLORS.len()];
        let its = bars.iter().filter(|bar| bar.peer == *peer);
        let shapes: Vec<_> =
            its.map(|bar| Rectangle::new([(bar.left, 0.0), (bar.right, bar.height)], color.filled())).collect();
        if !shapes.is_empty() {
            chart
                .draw_series(shapes)?
                .label(peer.heading())
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()
}

#[derive(Debug, PartialEq)]
struct Bar {
    peer: Peer,
    left: f64,
    right: f64,
    /// Speed as a multiple of ours.
    height: f64,
}

fn bars(panel: &[&Contest], peers: &[Peer]) -> Vec<Bar> {
    let width = FILLED / peers.len().max(1) as f64;
    let mut bars = Vec::new();
    for (at, contest) in panel.iter().enumerate() {
        let begin = at as f64 + (1.0 - FILLED) / 2.0;
        for (slot, peer) in peers.iter().enumerate() {
            // The ratio of mxrs to itself is 1, so its bar has the height 1. A peer without a ratio has no bar.
            let ratio = contest.ratio(*peer).map(|ratio| ratio.median).filter(|ratio| *ratio > 0.0);
            if let Some(ratio) = ratio {
                let left = begin + slot as f64 * width;
                bars.push(Bar { peer: *peer, left, right: left + width, height: 1.0 / ratio });
            }
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Mode;
    use crate::score::contest::Measured;
    use crate::score::{Case, Dtype, Failure};

    fn contest(network: &str, batch: usize, ours: f64, theirs: f64) -> Contest {
        let measured = |speed: f64| Measured {
            name: "x".into(),
            speeds: vec![speed],
            load_s: 0.0,
            first_s: 0.0,
            peak_bytes: None,
            agreement: None,
        };
        let outcomes = vec![
            (Peer::Mxrs, Ok(measured(ours))),
            (Peer::Mxnet, Ok(measured(theirs))),
            (Peer::Tract, Err(Failure::new("died", "why"))),
        ];
        Contest {
            case: Case { network: network.into(), batch, dtype: Dtype::Float32, threads: 2, mode: Mode::Inference },
            outcomes,
            others: None,
        }
    }

    const PEERS: [Peer; 3] = [Peer::Mxrs, Peer::Mxnet, Peer::Tract];

    #[test]
    fn bars_are_as_high_as_the_speed_and_do_not_overlap() {
        let contests = [contest("alexnet", 1, 4.0, 2.0), contest("vgg-16", 1, 4.0, 12.0)];
        let bars = bars(&contests.iter().collect::<Vec<_>>(), &PEERS);
        let heights: Vec<f64> = bars.iter().map(|bar| bar.height).collect();
        assert_eq!(heights, [1.0, 0.5, 1.0, 3.0]);
        assert!(bars.windows(2).all(|pair| pair[0].right <= pair[1].left + 1e-12), "{bars:?}");
    }

    #[test]
    fn the_picture_names_networks_and_peers() {
        let contests =
            [contest("alexnet", 1, 4.0, 2.0), contest("vgg-16", 1, 8.0, 2.0), contest("alexnet", 32, 1.0, 2.0)];
        let text = svg(&contests, &PEERS, "a CPU").unwrap();
        for words in [
            "alexnet (4.0/s)",
            "vgg-16 (8.0/s)",
            "alexnet (1.0/s)",
            "inference, batch 32, float32, threads: 2",
            "MXNet",
            "a CPU",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
        // tract took part in no contest, so the chart does not name it.
        assert!(text.starts_with("<svg") && !text.contains("tract"), "{text}");
        assert!(svg(&[], &PEERS, "a CPU").is_err());
    }
}
