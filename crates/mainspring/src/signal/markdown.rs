//! What surrounds a span of a Markdown text: code, an HTML comment, or neither.
//!
//! We look only for what hides a line or makes it somebody else's. Lists, headings, emphasis,
//! links and HTML elements do neither. A block quote is not checked here: a line with its own
//! `>` is recognised by looking at it, and a line without one belongs to the quote only because
//! `CommonMark` joins it lazily to the quote above.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

/// What surrounds a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surroundings {
    Open,
    CodeFence,
    IndentedCode,
    InlineCode,
    HtmlComment,
}

/// What surrounds each span. The spans are in ascending order and do not overlap.
pub(super) fn settings(text: &str, spans: &[Range<usize>]) -> Vec<Surroundings> {
    let mut found = vec![Surroundings::Open; spans.len()];
    let mut mark = |covered: Range<usize>, setting: Surroundings| {
        let first = spans.partition_point(|span| span.start < covered.start);
        for (span, input) in spans[first..].iter().zip(&mut found[first..]) {
            if span.end > covered.end {
                break;
            }
            *input = setting;
        }
    };
    let mut comments = Comments::new(text);
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                mark(range, Surroundings::CodeFence);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                mark(range, Surroundings::IndentedCode);
            }
            Event::Code(_) => mark(range, Surroundings::InlineCode),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                comments.each_in(range, |comment| mark(comment, Surroundings::HtmlComment));
            }
            // All other events leave a line visible.
            _ => {}
        }
    }
    found
}

/// The parts of HTML that a browser does not show: comments, and what it treats as comments.
struct Comments<'t> {
    text: &'t str,
    last_close: usize,
    hidden_until: usize,
}

/// How each begins and ends. The first match counts, so `<!` comes last.
const HIDDEN: [(&str, &str); 4] = [
    ("<!--", "-->"),
    ("<![CDATA[", "]]>"),
    ("<?", "?>"),
    ("<!", ">"),
];

impl<'t> Comments<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            last_close: text.rfind("-->").unwrap_or(0),
            hidden_until: 0,
        }
    }

    fn each_in(&mut self, html: Range<usize>, mut found: impl FnMut(Range<usize>)) {
        let mut at = html.start.max(self.hidden_until);
        while at < html.end {
            let Some(open) = self.text[at..html.end].find('<').map(|i| at + i) else {
                return;
            };
            let rest = &self.text[open..];
            let Some(&(opener, closer)) =
                HIDDEN.iter().find(|(opener, _)| rest.starts_with(opener))
            else {
                at = open + 1;
                continue;
            };
            // The search begins two characters later, so that `<!-->` closes itself, as in
            // HTML.
            let end = close(&self.text[..html.end], open + 2, closer)
                .or_else(|| {
                    // The HTML block of an element ends at a blank line, but a comment that was
                    // opened in it continues. A comment that is never closed ends with its
                    // block, as an open fence ends with its container.
                    let goes_on = opener == "<!--" && open < self.last_close;
                    if goes_on {
                        close(self.text, open + 2, closer)
                    } else {
                        None
                    }
                })
                .unwrap_or(html.end);
            found(open..end);
            self.hidden_until = end;
            at = end;
        }
    }
}

fn close(text: &str, from: usize, closer: &str) -> Option<usize> {
    text[from..].find(closer).map(|i| from + i + closer.len())
}
