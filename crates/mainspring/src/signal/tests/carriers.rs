//! Texts with a signal or something like it, what each counts as, and why.

use super::{Flaw, NearMiss, Sighting, Signal, find, token};

/// The expected result, and its line.
#[derive(Debug, PartialEq)]
enum Is {
    Said(u32),
    Miss(Flaw, u32),
    Absent,
}
use Is::{Absent, Miss, Said};

impl From<Sighting> for Is {
    fn from(sighting: Sighting) -> Self {
        match sighting {
            Sighting::Said { line, .. } => Said(line),
            Sighting::NearMiss(NearMiss { flaw, line }) => Miss(flaw, line),
            Sighting::Absent => Absent,
        }
    }
}

type Row = (&'static str, Is, &'static str);

/// `@` stands for the token. Each case is on one line: the tables are not reformatted.
#[rustfmt::skip]
const BARE: &[Row] = &[
    ("@", Said(1), "the whole text"),
    ("All done.\n\n@\n", Said(3), "a paragraph of its own"),
    ("All done.\n@", Said(2), "a line of its own is enough, a paragraph is not asked for"),
    ("@\n\nAnything else?", Said(1), "it need not be the last line"),
    ("  @  ", Said(1), "space around it is trimmed"),
    ("\t \u{a0}@\u{3000}\n", Miss(Flaw::IndentedCode, 1), "a tab is four columns: indented code"),
    ("\u{a0}@\u{3000}", Said(1), "so is space outside ASCII"),
    ("Done.\r\n@\r\nBye.\r\n", Said(2), "CR LF ends a line"),
    ("Done.\r@\rBye.", Said(2), "so does CR alone, in CommonMark"),
    ("text\n     @", Said(2), "indentation after text continues the paragraph: not code"),
    ("# Report\n@", Said(2), "below a heading"),
    ("@\n---", Said(1), "a rule below makes it a heading, still a line of its own"),
    ("@\n@", Said(2), "said twice: the last counts"),
    ("| a |\n|---|\n@\n", Said(3), "below a table"),
    ("**\n@\n**", Said(2), "emphasis around it on other lines does not share its line"),
    ("[see\n@\nthere](/x)", Said(2), "nor does a link"),
    ("[ref]:\n@", Said(2), "a definition's target to CommonMark, a bare line to everybody else"),
    ("- item\n\n  @", Said(3), "a paragraph in a list item is the agent's own line"),
    ("- item\n@", Said(2), "a lazy line after a list item"),
    ("1. one\n2. two\n\n@", Said(4), "after a list"),
];

#[rustfmt::skip]
const LAZY: &[Row] = &[
    ("> quoted\n@", Said(2), "no `>` of its own: only CommonMark's laziness joins it to the quote"),
    ("> > deep\n@", Said(2), "the same, two quotes deep"),
    ("> - item\n@", Said(2), "the same, through a list in a quote"),
    ("> quoted\n\n@", Said(3), "after the quote"),
    ("> ```\n> code\n@", Said(3), "the quote ends, and its open fence with it"),
];

#[rustfmt::skip]
const HTML: &[Row] = &[
    ("<details>\n<summary>Log</summary>\n@\n</details>", Said(3), "an HTML element is still the agent's text"),
    ("<details>\n\n@\n\n</details>", Said(3), "the same with blank lines"),
    ("<div>\n@\n</div>", Said(2), "a block element"),
    ("<b>\n@\n</b>", Said(2), "an inline element"),
    ("<pre>\n@\n</pre>", Said(2), "preformatted HTML is an element, not a Markdown fence"),
    ("<div title=\"\n@\n\">", Said(2), "an attribute is inside an element; nobody writes this by accident"),
    ("<!-- note -->\n@", Said(2), "the comment is closed before it"),
    ("a <!-- note --> b\n@", Said(2), "an inline comment is closed before it"),
    ("An open <!-- in a sentence\n\n@", Said(3), "no comment to CommonMark: it never closes in its paragraph"),
    ("> <!-- open\n\n@", Said(3), "a comment that never closes ends with its block, here the quote"),
    ("<!-->\n@", Said(2), "HTML closes this comment at once"),
    ("<!--\n@\n-->", Miss(Flaw::HtmlComment, 2), "a comment"),
    ("<!--\n\n@\n\n-->", Miss(Flaw::HtmlComment, 3), "blank lines do not end a comment"),
    ("<!--\n@", Miss(Flaw::HtmlComment, 2), "a comment that never closes runs to the end"),
    ("text <!-- a\n@\nb --> text", Miss(Flaw::HtmlComment, 2), "a comment within a paragraph"),
    ("<div>\n<!--\n@\n-->\n</div>", Miss(Flaw::HtmlComment, 3), "a comment within an element"),
    ("<div>\n<!--\n\n@\n-->", Miss(Flaw::HtmlComment, 4), "the element's block ends, the comment goes on"),
    ("<!-- @ -->", Miss(Flaw::HtmlComment, 1), "a comment on one line"),
    ("- <!--\n  @\n  -->", Miss(Flaw::HtmlComment, 2), "a comment in a list item"),
    ("<?php\n@\n?>", Miss(Flaw::HtmlComment, 2), "browsers hide processing instructions like comments"),
    ("<![CDATA[\n@\n]]>", Miss(Flaw::HtmlComment, 2), "and CDATA"),
    ("<!DOCTYPE\n@\n>", Miss(Flaw::HtmlComment, 2), "and declarations"),
];

#[rustfmt::skip]
const CODE: &[Row] = &[
    ("```\n@\n```", Miss(Flaw::CodeFence, 2), "a fence shows, it does not say"),
    ("```text\n@\n```\n", Miss(Flaw::CodeFence, 2), "an info string changes nothing"),
    ("~~~\n@\n~~~", Miss(Flaw::CodeFence, 2), "tildes fence too"),
    ("````\n```\n@\n```\n````", Miss(Flaw::CodeFence, 3), "a shorter fence inside does not close it"),
    ("```\n@", Miss(Flaw::CodeFence, 2), "an unclosed fence makes all that follows code"),
    ("```\ncode\n\n\n@\n", Miss(Flaw::CodeFence, 5), "blank lines do not end a fence"),
    ("```\ncode\n~~~\n@", Miss(Flaw::CodeFence, 4), "the other character does not close it"),
    ("   ```\n@\n   ```", Miss(Flaw::CodeFence, 2), "a fence may be indented by three"),
    ("- ```\n  @\n  ```", Miss(Flaw::CodeFence, 2), "a fence in a list item"),
    ("> ```\n> @\n> ```", Miss(Flaw::CodeFence, 2), "a fence in a quote"),
    ("```\r\n@\r\n```", Miss(Flaw::CodeFence, 2), "a fence with CR LF"),
    ("```\r@\r```", Miss(Flaw::CodeFence, 2), "a fence with CR alone"),
    ("<div>\n\n```\n@\n```\n\n</div>", Miss(Flaw::CodeFence, 4), "a fence between an element's tags"),
    ("```\necho @\n```", Miss(Flaw::CodeFence, 2), "within a line of a fence"),
    ("```\ncode\n```\n@", Said(4), "the fence is closed before it"),
    ("```\n@\n```\n@", Said(4), "shown first, then said"),
    ("@\n\n```\n@\n```", Said(1), "said first, then shown"),
    ("- ```\n  code\n@", Said(3), "an unindented line ends the list item and its fence"),
    ("    ```\n@", Said(2), "four spaces make the fence itself indented code"),
    ("``` not ` a fence\n@", Said(2), "a backtick in the info string: not a fence"),
    ("    @", Miss(Flaw::IndentedCode, 1), "four spaces"),
    ("text\n\n    @", Miss(Flaw::IndentedCode, 3), "four spaces after a blank line"),
    ("text\n\n\t@", Miss(Flaw::IndentedCode, 3), "a tab after a blank line"),
    ("- item\n\n      @", Miss(Flaw::IndentedCode, 3), "four spaces beyond the list item's text"),
    ("`@`", Miss(Flaw::InlineCode, 1), "backticks"),
    ("Say ``@`` then.", Miss(Flaw::InlineCode, 1), "two backticks"),
    ("`\n@\n`", Miss(Flaw::InlineCode, 2), "a code span over three lines"),
    ("`open\n@", Said(2), "a backtick without its fellow is just a character"),
    ("`open\n\n@\n\n`", Said(3), "a code span does not cross a blank line"),
];

#[rustfmt::skip]
const SHARED: &[Row] = &[
    ("> @", Miss(Flaw::Quote, 1), "a quote is somebody else's word"),
    (">@", Miss(Flaw::Quote, 1), "the space after `>` is optional"),
    ("> > @", Miss(Flaw::Quote, 1), "a quote in a quote"),
    ("> a\n> @", Miss(Flaw::Quote, 2), "the second line of a quote"),
    ("- @", Miss(Flaw::ListItem, 1), "the bullet shares the line: an exact-line parser would not see it"),
    ("1. @", Miss(Flaw::ListItem, 1), "so does a number"),
    ("# @", Miss(Flaw::WithinLine, 1), "and a heading's mark"),
    ("**@**", Miss(Flaw::Bold, 1), "and emphasis"),
    ("*@*", Miss(Flaw::Bold, 1), "the same with one asterisk"),
    ("__@__", Miss(Flaw::Underscores, 1), "and with underscores, which an id may end with"),
    ("_@_", Miss(Flaw::Underscores, 1), "and with one of them"),
    ("- **@**", Miss(Flaw::WithinLine, 1), "of several marks none is named"),
    ("@.", Miss(Flaw::Punctuation, 1), "and a full stop"),
    ("\"@\"", Miss(Flaw::WithinLine, 1), "and quotation marks"),
    ("| @ |", Miss(Flaw::WithinLine, 1), "and a table's bars"),
    ("I will say @ when done", Miss(Flaw::WithinLine, 1), "speaking of it is not saying it"),
    ("@ @", Miss(Flaw::WithinLine, 1), "twice on a line is not a line of its own"),
    ("\u{1b}[32m@\u{1b}[0m", Miss(Flaw::WithinLine, 1), "terminal colours share the line"),
    ("@\u{2028}and more", Miss(Flaw::WithinLine, 1), "a Unicode line separator ends no line"),
    ("`@`\n\n> @", Miss(Flaw::Quote, 3), "of two attempts the latest is named"),
    ("@0", Miss(Flaw::OtherId, 1), "the id of session s-10 begins with s-1"),
    ("@-2", Miss(Flaw::OtherId, 1), "and that of s-1-2"),
    ("TASKMASTER_DONE::other", Miss(Flaw::OtherId, 1), "another session's token"),
    ("TASKMASTER_DONE::<session_id>", Miss(Flaw::OtherId, 1), "the placeholder, copied"),
    ("TASKMASTER_DONE::", Miss(Flaw::OtherId, 1), "no id at all"),
    ("```\nTASKMASTER_DONE::other\n```", Miss(Flaw::OtherId, 2), "the wrong id matters more than the fence"),
];

#[rustfmt::skip]
const TRICKS: &[Row] = &[
    ("", Absent, "nothing said"),
    ("Done.", Absent, "nothing like it"),
    ("TASKMASTER_DONE", Absent, "the prefix alone is not an attempt with an id"),
    ("TASKMASTER_DONE:: s-1", Miss(Flaw::Altered, 1), "a space within"),
    ("TASKMASTER_\nDONE::s-1", Absent, "cut by a line end"),
    ("TASK\u{200b}MASTER_DONE::s-1", Miss(Flaw::Invisible, 1), "a zero-width space within"),
    ("@\u{200d}", Miss(Flaw::Invisible, 1), "a zero-width joiner after it is a character too"),
    ("\u{feff}@", Miss(Flaw::Invisible, 1), "so is a byte order mark before it"),
    ("TASKMASTER_DONE\u{ad}::s-1", Miss(Flaw::Invisible, 1), "a soft hyphen within"),
    ("TASKMASTER_DONE\u{0}::s-1", Miss(Flaw::Invisible, 1), "a NUL within"),
    ("TASKMASTER_DONE::s\u{0}-1", Miss(Flaw::Invisible, 1), "a NUL within the id is named, too"),
    ("TASKMASTER_DONE:\u{fffd}:s-1", Miss(Flaw::Altered, 1), "a lone surrogate, replaced on the way here"),
    ("TASKMASTER\\_DONE::s-1", Miss(Flaw::Escaped, 1), "the escape that Markdown would remove"),
    ("taskmaster_done::s-1", Miss(Flaw::WrongCase, 1), "another case"),
    ("**taskmaster_done::s-1**.", Miss(Flaw::WrongCase, 1), "the case matters more than the marks around it"),
    ("T\u{410}SKMASTER_DONE::s-1", Absent, "a Cyrillic letter makes it another word"),
    ("\u{ff34}ASKMASTER_DONE::s-1", Absent, "so does a full-width one"),
    ("TASKMASTER&#95;DONE::s-1", Absent, "an entity is not the character"),
    ("1-s::ENOD_RETSAMKSAT\u{202e}", Absent, "written backwards with an override"),
    ("VEFTS01BU1RFUl9ET05FOjpzLTE=", Absent, "in base64"),
];

#[test]
fn carriers_and_tricks() {
    let mut tested = 0;
    let mut wrong = Vec::new();
    for (text, verdict, why) in [BARE, LAZY, HTML, CODE, SHARED, TRICKS]
        .into_iter()
        .flatten()
    {
        let text = text.replace('@', super::TOKEN);
        let got = Is::from(find(&text, &token()));
        if got != *verdict {
            wrong.push(format!("{text:?}: {got:?}, not {verdict:?} ({why})"));
        }
        tested += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tested >= 60, "{tested} carriers");
}

/// To `CommonMark`, a loop's signal is HTML: it may begin an HTML block, or be inline.
#[test]
fn carriers_of_an_element() {
    #[rustfmt::skip]
    let rows: &[Row] = &[
        ("@", Said(1), "an HTML block of its own"),
        ("Done.\n\n@\n", Said(3), "after a paragraph"),
        ("Done.\n@", Said(2), "inline HTML at the end of a paragraph"),
        ("> quoted\n@", Said(2), "lazily joined to a quote"),
        ("<details>\n@\n</details>", Said(2), "within an element"),
        ("@\n```\ncode\n```", Said(1), "an HTML block swallows the fence below it; the line is bare all the same"),
        ("```\n@\n```", Miss(Flaw::CodeFence, 2), "a fence"),
        ("Here's how:\n`@`", Miss(Flaw::InlineCode, 2), "the seed's own false positive"),
        ("    @", Miss(Flaw::IndentedCode, 1), "indented code"),
        ("<!--\n@\n-->", Miss(Flaw::HtmlComment, 2), "a comment"),
        ("> @", Miss(Flaw::Quote, 1), "a quote"),
        ("- @", Miss(Flaw::ListItem, 1), "a list item"),
        ("<p>@</p>", Miss(Flaw::WithinLine, 1), "an element on the same line"),
        ("<loop-done> COMPLETE </loop-done>", Miss(Flaw::Altered, 1), "space within"),
        ("<loop-done>\nCOMPLETE\n</loop-done>", Miss(Flaw::OtherId, 1), "over three lines: not one line"),
        ("<loop-done>DONE</loop-done>", Miss(Flaw::OtherId, 1), "another value"),
        ("<Loop-Done>complete</Loop-Done>", Miss(Flaw::WrongCase, 1), "another case"),
        ("&lt;loop-done&gt;COMPLETE&lt;/loop-done&gt;", Absent, "entities"),
    ];
    for (text, verdict, why) in rows {
        let text = text.replace('@', "<loop-done>COMPLETE</loop-done>");
        assert_eq!(
            Is::from(find(&text, &[Signal::element("loop-done", "COMPLETE")])),
            *verdict,
            "{text:?}: {why}"
        );
    }
}
