//! A terminal's screen, with its colours, as HTML.

use std::fmt::Write as _;

/// The sixteen colours of a terminal.
const COLOURS: [&str; 16] = [
    "#1d1f21", "#cc6666", "#b5bd68", "#e6c547", "#81a2be", "#b294bb", "#70c0ba", "#c5c8c6",
    "#777a7d", "#ff7a7a", "#c8d27a", "#ffe07a", "#9cc3e6", "#d0b0dc", "#8adcd6", "#ffffff",
];
const FRAME: &str = "margin:0;background:#1d1f21;color:#d8dad6;\
    font:14px/1.35 'DejaVu Sans Mono',monospace;padding:14px 18px;white-space:pre";

/// How a piece of text looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Look {
    ink: Option<String>,
    ground: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
}

impl Look {
    fn style(&self) -> String {
        let mut style = String::new();
        if let Some(ink) = &self.ink {
            let _ = write!(style, "color:{ink};");
        }
        if let Some(ground) = &self.ground {
            let _ = write!(style, "background:{ground};");
        }
        for (on, rule) in [
            (self.bold, "font-weight:bold;"),
            (self.dim, "opacity:.65;"),
            (self.italic, "font-style:italic;"),
        ] {
            style += if on { rule } else { "" };
        }
        style
    }

    /// Obeys the numbers of one escape sequence.
    fn set(&mut self, numbers: &[u32]) {
        let mut rest = numbers;
        while let Some((first, more)) = rest.split_first() {
            rest = more;
            match first {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                30..=37 => self.ink = named(first - 30),
                90..=97 => self.ink = named(first - 82),
                40..=47 => self.ground = named(first - 40),
                39 => self.ink = None,
                49 => self.ground = None,
                38 | 48 => {
                    let (colour, used) = extended(more);
                    rest = &more[used.min(more.len())..];
                    if *first == 38 {
                        self.ink = colour;
                    } else {
                        self.ground = colour;
                    }
                }
                _ => {}
            }
        }
    }
}

fn named(index: u32) -> Option<String> {
    let colour = COLOURS.get(usize::try_from(index).ok()?)?;
    Some((*colour).to_owned())
}

/// A colour of 256, or of all; and how many numbers it took.
fn extended(numbers: &[u32]) -> (Option<String>, usize) {
    match numbers {
        [5, index, ..] => (of_256(*index), 2),
        [2, red, green, blue, ..] => (Some(format!("rgb({red},{green},{blue})")), 4),
        _ => (None, numbers.len()),
    }
}

fn of_256(index: u32) -> Option<String> {
    match index {
        0..=15 => named(index),
        16..=231 => {
            let level = |step: u32| if step == 0 { 0 } else { 55 + step * 40 };
            let cube = index - 16;
            let (red, green, blue) = (level(cube / 36), level(cube / 6 % 6), level(cube % 6));
            Some(format!("rgb({red},{green},{blue})"))
        }
        _ => {
            let grey = 8 + (index.min(255) - 232) * 10;
            Some(format!("rgb({grey},{grey},{grey})"))
        }
    }
}

/// The screen without its empty end.
pub(super) fn html(screen: &str) -> String {
    let mut out = format!("<body style=\"{FRAME}\">");
    let mut look = Look::default();
    for piece in screen.trim_end().split("\u{1b}[") {
        // The first piece has no sequence before it; every other one begins with one.
        let (numbers, text) = match piece.split_once('m') {
            Some((codes, text)) if codes.chars().all(|c| c.is_ascii_digit() || c == ';') => {
                (Some(codes), text)
            }
            Some(_) | None => (None, piece),
        };
        if let Some(codes) = numbers {
            let numbers: Vec<u32> = codes.split(';').map(|n| n.parse().unwrap_or(0)).collect();
            look.set(&numbers);
        }
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = write!(out, "<span style=\"{}\">{text}</span>", look.style());
    }
    out + "</body>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_begin_and_end_where_the_terminal_says() {
        let html = html("a\u{1b}[1;31mb<\u{1b}[0mc\u{1b}[38;5;196md\u{1b}[38;2;1;2;3me\n\n");
        let spans: Vec<&str> = html.split("<span style=\"").skip(1).collect();
        assert_eq!(
            spans,
            [
                "\">a</span>",
                "color:#cc6666;font-weight:bold;\">b&lt;</span>",
                "\">c</span>",
                "color:rgb(255,0,0);\">d</span>",
                "color:rgb(1,2,3);\">e</span></body>",
            ]
        );
    }
}
