//! A transition table as a picture: the states in a column, what leads down on the right, what
//! leads up on the left. Rules between the same two states share one arc, so that a table of forty
//! lines can be read.
//!
//! It has no colours of its own but the current text colour, so that it fits a light page and a dark
//! one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Edge, Graph};

/// A state's box.
const WIDTH: usize = 150;
const HEIGHT: usize = 34;
const GAP: usize = 46;
/// How far an arc swings out, per state that it passes.
const SWING: usize = 26;
/// The room for the names of rules on each side.
const LABEL: usize = 230;
/// The least distance between two labels on one side.
const LINE: usize = 15;
/// More rules of one arc are counted.
const NAMED: usize = 3;

/// All rules that lead from one state to another.
type Arcs = BTreeMap<(usize, usize), Vec<&'static str>>;

impl Graph {
    pub(in super::super) fn svg(&self) -> String {
        let at = |state: &str| self.states.iter().position(|known| *known == state);
        let mut arcs = Arcs::new();
        let mut stays: BTreeMap<usize, usize> = BTreeMap::new();
        for Edge { from, to, arrow } in &self.edges {
            let (Some(from), Some(to)) = (at(from), at(to)) else {
                continue;
            };
            if from == to {
                *stays.entry(from).or_default() += 1;
            } else {
                arcs.entry((from, to)).or_default().push(arrow.rule);
            }
        }
        let farthest = arcs.keys().map(|(from, to)| from.abs_diff(*to)).max();
        let side = LABEL + SWING * (farthest.unwrap_or(0) + 1);
        let (width, height) = (side * 2 + WIDTH, self.states.len() * (HEIGHT + GAP) + GAP);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"currentColor\" \
             color=\"currentColor\">\n",
            self.name
        );
        let down = arcs.iter().filter(|((from, to), _)| from < to);
        let up = arcs.iter().filter(|((from, to), _)| from > to);
        draw_side(&mut out, down, side + WIDTH, Side::Right);
        draw_side(&mut out, up, side, Side::Left);
        for (index, state) in self.states.iter().enumerate() {
            let stays = stays.get(&index).copied().unwrap_or(0);
            let here = self.here == Some(*state);
            draw_state(&mut out, state, (side, top(index)), stays, here);
        }
        out + "</svg>\n"
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// A place this far from the column's edge.
    const fn out(self, edge: usize, far: usize) -> usize {
        match self {
            Self::Left => edge.saturating_sub(far),
            Self::Right => edge + far,
        }
    }

    const fn anchor(self) -> &'static str {
        match self {
            Self::Left => "end",
            Self::Right => "start",
        }
    }
}

const fn top(index: usize) -> usize {
    GAP / 2 + index * (HEIGHT + GAP)
}

/// The arcs of one side. What leaves a state starts below its middle, what arrives ends above it.
fn draw_side<'a>(
    out: &mut String,
    arcs: impl Iterator<Item = (&'a (usize, usize), &'a Vec<&'static str>)>,
    edge: usize,
    side: Side,
) {
    let mut labels = Vec::new();
    for ((from, to), rules) in arcs {
        let (begin, end) = match side {
            Side::Right => (top(*from) + HEIGHT - 9, top(*to) + 9),
            Side::Left => (top(*from) + 9, top(*to) + HEIGHT - 9),
        };
        let far = SWING * (from.abs_diff(*to) + 1);
        let swing = side.out(edge, far);
        let _ = writeln!(
            out,
            "<path d=\"M{edge} {begin} C{swing} {begin} {swing} {end} {edge} {end}\" fill=\"none\" \
             stroke=\"currentColor\" stroke-opacity=\".55\"/>"
        );
        let tip = side.out(edge, 8);
        let _ = writeln!(
            out,
            "<path d=\"M{edge} {end} L{tip} {} L{tip} {}z\"/>",
            end - 4,
            end + 4
        );
        // The top of such a curve is at three quarters of its swing.
        labels.push((
            begin.midpoint(end),
            side.out(edge, far * 3 / 4 + 6),
            words(rules),
        ));
    }
    labels.sort_unstable();
    let mut free = 0;
    for (y, x, words) in labels {
        let y = y.max(free);
        free = y + LINE;
        let anchor = side.anchor();
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\" opacity=\".85\">{words}</text>",
            y + 4
        );
    }
}

fn words(rules: &[&str]) -> String {
    let named = rules[..rules.len().min(NAMED)].join(", ");
    match rules.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn draw_state(out: &mut String, state: &str, (x, y): (usize, usize), stays: usize, here: bool) {
    let (stroke, weight) = if here { (3, "bold") } else { (1, "normal") };
    let mark = if here { "● " } else { "" };
    let middle = x + WIDTH / 2;
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"none\" \
         stroke=\"currentColor\" stroke-width=\"{stroke}\"/>\n\
         <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"14\" \
         font-weight=\"{weight}\">{mark}{state}</text>",
        y + HEIGHT / 2 + 5
    );
    if stays > 0 {
        let word = if stays == 1 {
            "rule stays"
        } else {
            "rules stay"
        };
        let _ = writeln!(
            out,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\" \
             opacity=\".75\">{stays} {word}</text>",
            y + HEIGHT + 14
        );
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Name;
    use mainspring_kernel::machine::{Arrow, SAME};

    use super::*;

    #[test]
    fn every_machine_is_drawn_with_all_its_states_and_the_current_one_marked_once() {
        for name in Name::ALL {
            let states = Graph::of(*name, None).states;
            for here in &states {
                let svg = Graph::of(*name, Some(*here)).svg();
                for state in &states {
                    let (weight, mark) = if state == here {
                        ("bold", "● ")
                    } else {
                        ("normal", "")
                    };
                    let text = format!("font-weight=\"{weight}\">{mark}{state}</text>");
                    assert_eq!(svg.matches(&text).count(), 1, "{name} {here} {state}");
                }
                assert_eq!(svg.matches("stroke-width=\"3\"").count(), 1, "{name}");
            }
        }
    }

    #[test]
    fn rules_between_the_same_states_share_an_arc_and_are_named() {
        const fn arrow(
            from: &'static [&'static str],
            rule: &'static str,
            to: &'static str,
        ) -> Arrow {
            Arrow {
                rule,
                from,
                on: "stop",
                when: "",
                to,
                does: "",
                remedy: "",
            }
        }
        const TABLE: &[Arrow] = &[
            arrow(&["a"], "one", "b"),
            arrow(&["a"], "two", "b"),
            arrow(&["a"], "three", "b"),
            arrow(&["a"], "four", "b"),
            arrow(&["b"], "back", "a"),
            arrow(&["a"], "stay", SAME),
        ];
        let svg = Graph::walk("m", TABLE, None).svg();
        assert_eq!(svg.matches("<path").count(), 4, "two arcs with their tips");
        assert!(svg.contains("one, two, three and 1 more"), "{svg}");
        assert!(
            svg.contains("text-anchor=\"end\" opacity=\".85\">back<"),
            "{svg}"
        );
        assert!(svg.contains("1 rule stays"), "{svg}");
    }
}
