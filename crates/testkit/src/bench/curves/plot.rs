//! A curve as an SVG: two logarithmic axes, and colours that can be read on white and on
//! black.

use std::fmt::Write as _;

use super::super::report::grouped;
use super::{Measured, Series};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;
const GREY: &str = "#848484";
const COLOURS: [&str; 4] = ["#2f81f7", "#d9822b", "#848484", "#3fa45b"];

pub(super) fn svg(title: &str, axis: &str, measured: &Measured) -> String {
    let points = || measured.series.iter().flat_map(|series| &series.points);
    #[expect(clippy::cast_precision_loss, reason = "a position in a picture")]
    let across = Scale::over(points().map(|point| point.0 as f64), LEFT, WIDTH - RIGHT);
    let up = Scale::over(points().map(|point| point.1), HEIGHT - BOTTOM, TOP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"{GREY}\">\n\
         <title>{0}</title>\n<text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{0}</text>\n",
        escaped(title)
    );
    draw_axes(&mut out, axis, measured, &across, &up);
    for (at, series) in measured.series.iter().enumerate() {
        draw_series(&mut out, at, series, &across, &up);
    }
    out.push_str("</svg>\n");
    out
}

fn draw_axes(out: &mut String, axis: &str, measured: &Measured, across: &Scale, up: &Scale) {
    for tick in up.ticks() {
        let y = up.position(tick);
        let right = WIDTH - RIGHT;
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"{GREY}\" stroke-opacity=\"0.3\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            short(tick)
        );
    }
    let sizes = measured
        .series
        .first()
        .map_or(&[][..], |series| &series.points);
    for (size, _) in sizes {
        #[expect(clippy::cast_precision_loss, reason = "a position in a picture")]
        let x = across.position(*size as f64);
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM + 18.0,
            amount(*size)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 10.0,
        escaped(axis)
    );
}

fn draw_series(out: &mut String, at: usize, series: &Series, across: &Scale, up: &Scale) {
    let colour = COLOURS[at % COLOURS.len()];
    let mut path = String::new();
    let mut end = (0.0, 0.0);
    for (size, value) in &series.points {
        #[expect(clippy::cast_precision_loss, reason = "a position in a picture")]
        let position = (across.position(*size as f64), up.position(*value));
        let _ = write!(path, "{:.1},{:.1} ", position.0, position.1);
        end = position;
    }
    let dash = if series.is_reference() {
        " stroke-dasharray=\"5 4\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
        path.trim_end()
    );
    // The names have a column of their own, in the order of the list: the names of curves
    // that end at the same point would overlap.
    let y = TOP + 14.0 + 20.0 * f64::from(u8::try_from(at).unwrap_or(u8::MAX));
    let _ = writeln!(
        out,
        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>\n\
         <text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{}</text>",
        end.0,
        end.1,
        WIDTH - RIGHT + 14.0,
        escaped(&series.name)
    );
}

/// A logarithmic axis between whole powers of ten; at least one power.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let low = low.log10().floor();
        let high = high.log10().ceil().max(low + 1.0);
        Self {
            low,
            high,
            from,
            to,
        }
    }

    fn position(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        let mut all = Vec::new();
        let mut power = self.low;
        while power <= self.high {
            all.push(10_f64.powf(power));
            power += 1.0;
        }
        all
    }
}

fn short(value: f64) -> String {
    if value >= 1.0 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}

/// `1000` as `1k`, and so on.
fn amount(size: u64) -> String {
    for (unit, sign) in [(1 << 30, "Gi"), (1 << 20, "Mi")] {
        if size >= unit && size.is_multiple_of(unit) {
            return format!("{}{sign}", size / unit);
        }
    }
    for (unit, sign) in [(1_000_000, "M"), (1_000, "k")] {
        if size >= unit && size.is_multiple_of(unit) {
            return format!("{}{sign}", size / unit);
        }
    }
    grouped(size)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::super::Series;
    use super::*;

    #[test]
    fn every_point_is_inside_and_every_name_is_there() {
        let measured = Measured {
            series: vec![
                Series::new("a < b", vec![(1, 0.5), (10_000_000, 1.5)]),
                Series::new("floor", vec![(1, 0.4), (10_000_000, 0.4)]),
            ],
        };
        let svg = svg("T", "records", &measured);
        assert!(svg.contains("a &lt; b") && svg.contains("stroke-dasharray"));
        assert!(svg.contains(">10M<") && svg.contains(">0.1<") && svg.contains(">10<"));
        let lines = svg.lines().filter_map(|line| line.split_once("points=\""));
        for (_, points) in lines {
            let points = points.split_once('"').map_or("", |(points, _)| points);
            for point in points.split(' ') {
                let (x, y) = point.split_once(',').expect("two numbers");
                let (x, y): (f64, f64) = (x.parse().expect("x"), y.parse().expect("y"));
                assert!((LEFT..=WIDTH - RIGHT).contains(&x), "{point}");
                assert!((TOP..=HEIGHT - BOTTOM).contains(&y), "{point}");
            }
        }
    }

    #[test]
    fn sizes_are_short() {
        let all = [1, 100_000, 1 << 20, 8 << 30, 10_000_000, 300].map(amount);
        assert_eq!(all, ["1", "100k", "1Mi", "8Gi", "10M", "300"]);
    }
}
