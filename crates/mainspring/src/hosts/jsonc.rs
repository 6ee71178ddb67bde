//! Edits a host's settings file: JSON that may have comments and trailing commas. What we do
//! not change keeps its bytes.
//!
//! Only commands use this: a hook reads no settings.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

/// Some Windows editors put it before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// We accept comments and trailing commas, and no other extension of JSON. The parser stops at
/// 512 levels; the file's size is limited where it is read.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The file's object. A file with nothing but space and comments counts as an empty object.
pub(crate) fn read(text: &str) -> Result<Map<String, Value>, String> {
    let (_, root) = parse(text)?;
    match root.value() {
        None => Ok(Map::new()),
        Some(value) => match value.to_serde_value() {
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) | None => Err(NO_OBJECT.into()),
        },
    }
}

/// The text with its object changed. The result is parsed again, so that we never write a file
/// that cannot be read.
pub(crate) fn edit(
    text: &str,
    change: impl FnOnce(&CstObject) -> Result<(), String>,
) -> Result<String, String> {
    let (mark, root) = parse(text)?;
    let object = root.object_value_or_create().ok_or(NO_OBJECT)?;
    change(&object)?;
    let edited = format!("{mark}{root}");
    read(&edited)?;
    Ok(edited)
}

const NO_OBJECT: &str = "it is not a JSON object";

fn parse(text: &str) -> Result<(&str, CstRootNode), String> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mark = &text[..text.len() - body.len()];
    let root = CstRootNode::parse(body, &OPTIONS)
        .map_err(|error| format!("it cannot be read as JSON: {error}"))?;
    Ok((mark, root))
}

/// The member of this name. If there are several, the last counts, as for other readers of
/// JSON.
pub(crate) fn member(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let mut members = object.properties().into_iter().rev();
    members.find(|member| member.decoded_name().as_deref() == Some(name))
}

/// The object of this name; it is created if it does not exist.
pub(crate) fn object_of(parent: &CstObject, name: &str) -> Result<CstObject, String> {
    let member = member(parent, name)
        .unwrap_or_else(|| parent.append(name, CstInputValue::Object(Vec::new())));
    let value = member.object_value();
    value.ok_or_else(|| format!("{name} is not an object"))
}

/// The list of this name; it is created if it does not exist.
pub(crate) fn list_of(parent: &CstObject, name: &str) -> Option<CstArray> {
    let member = member(parent, name)
        .unwrap_or_else(|| parent.append(name, CstInputValue::Array(Vec::new())));
    member.array_value()
}

/// Adds a text to an object. An object on one line stays on one line.
pub(crate) fn append_text(object: &CstObject, name: &str, text: &str) {
    let before = object.children();
    let in_one_line = !before.iter().any(CstNode::is_newline) && !object.properties().is_empty();
    let edge = |at: usize| before.get(at).filter(|node| node.is_whitespace());
    let edges = [edge(1), edge(before.len().saturating_sub(2))]
        .map(|node| node.map(ToString::to_string).unwrap_or_default());
    object.append(name, text.into());
    if in_one_line {
        join_lines(object, edges);
    }
}

/// The library puts every member on a line of its own; this joins the lines again.
fn join_lines(object: &CstObject, [first, last]: [String; 2]) {
    for node in object.children() {
        if let Some(newline) = node.as_newline() {
            newline.remove();
        }
    }
    let nodes = object.children();
    let end = nodes.len().saturating_sub(2);
    for (at, node) in nodes.iter().enumerate() {
        let Some(space) = node.as_whitespace() else {
            continue;
        };
        if at == 1 {
            space.set_value(first.clone());
        } else if at == end {
            space.set_value(last.clone());
        } else if nodes[at - 1].is_comma() {
            space.set_value(" ".into());
        }
    }
}

/// Removes a member or an element, with the comments on its line. A line break that only this
/// one needed is removed, too.
pub(crate) fn remove(node: impl Into<CstNode>) {
    let node = node.into();
    let container = node.parent();
    node.remove();
    let nodes = container.map(|container| container.children());
    let nodes = nodes.unwrap_or_default();
    let lines = nodes.iter().filter(|node| node.is_newline()).count();
    let tail: Vec<&CstNode> = nodes
        .iter()
        .rev()
        .skip(1)
        .take_while(|node| node.is_trivia())
        .collect();
    // A line comment needs its line break.
    let plain = !tail.iter().any(|node| node.is_comment());
    if lines == 1 && plain && tail.iter().any(|node| node.is_newline()) {
        for node in tail {
            node.clone().remove();
        }
    }
}

/// Is this member's object or list empty and without a comment? A comment in it or on its line
/// belongs to a person.
pub(crate) fn is_bare(member: &CstObjectProp) -> bool {
    let value = member.value();
    let empty = value.is_some_and(|value| value.children_exclude_trivia_and_tokens().is_empty());
    let node = CstNode::from(member.clone());
    let mut commented = has_comment(&node) || node.leading_comments_same_line().next().is_some();
    let mut to_comma = member.trailing_comma().is_some();
    for next in node.next_siblings() {
        commented |= next.is_comment();
        to_comma &= !next.is_comma();
        if !next.is_trivia() && !next.is_comma() || next.is_newline() && !to_comma {
            break;
        }
    }
    empty && !commented
}

pub(crate) fn has_comment(node: &CstNode) -> bool {
    let children = node.children();
    children
        .iter()
        .any(|child| child.is_comment() || has_comment(child))
}

/// A value in the library's type.
pub(crate) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(members.collect())
        }
    }
}
