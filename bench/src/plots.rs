//! Plots of the figures over the number of proxies.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::measures::Figures;
use crate::measures::stats::{mib, number};
use crate::report::Report;
use crate::subjects::Family;

const SIZE: (u32, u32) = (720, 420);

/// One plot.
struct Plot {
    file: &'static str,
    title: &'static str,
    unit: &'static str,
    of: fn(&Figures) -> Option<f64>,
    families: &'static [Family],
}

const MESSAGES: &[Family] = &[
    Family::Relay,
    Family::Elsewhere,
    Family::WithoutBody,
    Family::Forwarding,
    Family::Reference,
];

const PLOTS: [Plot; 4] = [
    Plot {
        file: "round-trip.svg",
        title: "Round trip of a small prompt, median",
        unit: "µs",
        of: |figures| figures.round_trip.map(|trip| trip.p50_us),
        families: MESSAGES,
    },
    Plot {
        file: "updates.svg",
        title: "Updates of 100 B",
        unit: "a second",
        of: |figures| figures.updates[0].map(|updates| updates.per_second),
        families: MESSAGES,
    },
    Plot {
        file: "memory.svg",
        title: "Memory at rest, all processes",
        unit: "MiB",
        of: |figures| figures.rest.map(|rest| mib(rest.memory)),
        families: &[Family::Relay, Family::Forwarding, Family::Reference],
    },
    Plot {
        file: "start.svg",
        title: "From the start to the answer to initialize, compiled code cached",
        unit: "ms",
        of: |figures| figures.start.map(|start| start.p50_ms),
        families: &[Family::Relay, Family::Forwarding, Family::Reference],
    },
];

/// Draws all plots into a folder.
///
/// # Errors
/// If they cannot be written.
pub fn draw(report: &Report, folder: &Path) -> Result<()> {
    for plot in &PLOTS {
        let path = folder.join(plot.file);
        plot.draw(report, &path)
            .map_err(|error| anyhow!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Chains with more proxies are left out.
const PROXIES: usize = 20;

/// The end of the axis of proxies, with room for the names of the lines.
const END: usize = 32;

const FONT: (&str, u32) = ("sans-serif", 14);

type Points = Vec<(f64, f64)>;

impl Plot {
    /// The lines with their names. Subjects without proxies are horizontal; chains begin with the empty one.
    fn lines(&self, report: &Report) -> Vec<(&'static str, RGBColor, Points)> {
        let line = |family: &Family| {
            let (name, colour) = style(*family)?;
            let of = |family| {
                let all = report.outcome.figures.iter();
                let of = all.filter(move |figures| figures.subject.family == family);
                let of = of.filter(|figures| figures.subject.proxies <= PROXIES);
                of.filter_map(|figures| {
                    Some((number(figures.subject.proxies), (self.of)(figures)?))
                })
            };
            let mut points: Points = match family {
                Family::Relay | Family::Reference => of(*family).collect(),
                _ => of(Family::Empty).chain(of(*family)).collect(),
            };
            if let (Family::Relay, [(_, value)]) = (family, &points[..]) {
                points.push((number(PROXIES), *value));
            }
            (!points.is_empty()).then_some((name, colour, points))
        };
        self.families.iter().filter_map(line).collect()
    }

    fn draw(&self, report: &Report, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let lines = self.lines(report);
        let values = || {
            lines
                .iter()
                .flat_map(|(.., points)| points)
                .map(|point| point.1)
        };
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(0.0, f64::max);
        if least > most || least <= 0.0 {
            return Ok(());
        }
        let root = SVGBackend::new(path, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..number(END), (least / 1.5..most * 1.5).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("proxies")
            .y_desc(self.unit)
            .x_labels(8)
            .x_label_formatter(&|count| format!("{count:.0}"))
            .y_label_formatter(&|value| format!("{value}"))
            .label_style(FONT)
            .y_max_light_lines(0)
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (name, colour, points) in lines {
            let dots = points.clone();
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
                });
            chart.draw_series(
                dots.into_iter()
                    .map(|dot| Circle::new(dot, 3, colour.filled())),
            )?;
        }
        chart
            .configure_series_labels()
            .label_font(FONT)
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.2))
            .draw()?;
        root.present()?;
        Ok(())
    }
}

fn style(family: Family) -> Option<(&'static str, RGBColor)> {
    match family {
        Family::Relay => Some(("relay", RGBColor(110, 110, 110))),
        Family::Elsewhere => Some(("acp-chain, not subscribed", RGBColor(46, 139, 87))),
        Family::WithoutBody => Some(("acp-chain, without body", RGBColor(70, 130, 220))),
        Family::Forwarding => Some(("acp-chain, forwarding", RGBColor(24, 60, 160))),
        Family::Reference => Some(("reference, native", RGBColor(205, 80, 40))),
        _ => None,
    }
}
