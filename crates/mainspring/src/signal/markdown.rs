//! Where in a Markdown text a span stands: in code, in an HTML comment, or in the open.
//!
//! Only what hides or disowns a line is asked for. Lists, headings, emphasis, links and HTML elements
//! leave a line the agent's own. So does a block quote's range: a line without a `>` of its own is in
//! it only because `CommonMark` joins it lazily to the quote above, and a line with one is told by
//! looking at it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

/// What surrounds a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Open,
    CodeFence,
    IndentedCode,
    InlineCode,
    HtmlComment,
}

/// The setting of each span. The spans are in ascending order and do not overlap.
pub(super) fn settings(text: &str, spans: &[Range<usize>]) -> Vec<Setting> {
    let mut found = vec![Setting::Open; spans.len()];
    let mut mark = |covered: Range<usize>, setting: Setting| {
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
                mark(range, Setting::CodeFence);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                mark(range, Setting::IndentedCode);
            }
            Event::Code(_) => mark(range, Setting::InlineCode),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                comments.each_in(range, |comment| mark(comment, Setting::HtmlComment));
            }
            // Everything else leaves a line in the open; the events are many and not ours to list.
            _ => {}
        }
    }
    found
}

/// The parts of HTML that a browser does not show: comments, and what it treats as such.
struct Comments<'t> {
    text: &'t str,
    last_close: usize,
    hidden_until: usize,
}

/// How each begins and ends. The first that matches is meant, so `<!` comes last.
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
            // Two characters in, so that `<!-->` closes itself, as in HTML.
            let end = close(&self.text[..html.end], open + 2, closer)
                .or_else(|| {
                    // An element's HTML block ends at a blank line, and a comment opened in it goes on. One
                    // that never closes ends with its block, as an unclosed fence ends with its container.
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
