//! Pages of a list.

use serde_json::json;

use super::{Failure, Object, Resolved};
use crate::github::graphql::execute::Arguments;

/// GitHub's largest page.
const PAGE_LIMIT: u64 = 100;

/// The page of `all` that the arguments ask for.
pub(super) fn page(
    type_name: &'static str,
    field: &str,
    all: &[Resolved],
    arguments: &Arguments,
) -> Resolved {
    page_with(type_name, field, all, arguments, Vec::new())
}

/// The same, with further fields beside `nodes`.
///
/// Like GitHub, it requires `first` or `last`, of at most 100, unless only the total is asked for.
pub(super) fn page_with(
    type_name: &'static str,
    field: &str,
    all: &[Resolved],
    arguments: &Arguments,
    further: Vec<(&'static str, Resolved)>,
) -> Resolved {
    let total = all.len();
    let mut fields = vec![("totalCount", json!(total).into())];
    fields.extend(further);
    match bounds(field, total, arguments) {
        Ok((start, end)) => {
            fields.push(("nodes", Resolved::List(all[start..end].to_vec())));
            fields.push(("pageInfo", page_info(start, end, total).into()));
        }
        Err(failure) => {
            fields.push(("nodes", Resolved::Refused(failure.clone())));
            fields.push(("pageInfo", Resolved::Refused(failure)));
        }
    }
    Object::Record(type_name, fields).into()
}

/// Where the page starts, and where the next one would.
fn bounds(field: &str, total: usize, arguments: &Arguments) -> Result<(usize, usize), Failure> {
    let after = arguments
        .text("after")
        .and_then(index_of)
        .map_or(0, |index| index + 1);
    let before = arguments
        .text("before")
        .and_then(index_of)
        .unwrap_or(total)
        .min(total);
    let (start, end) = match (arguments.number("first"), arguments.number("last")) {
        (None, None) => {
            return Err(Failure {
                kind: "MISSING_PAGINATION_BOUNDARIES",
                message: format!(
                    "You must provide a `first` or `last` value to properly paginate the `{field}` connection."
                ),
            });
        }
        (Some(count), _) | (_, Some(count)) if count > PAGE_LIMIT => {
            return Err(Failure {
                kind: "EXCESSIVE_PAGINATION",
                message: format!(
                    "Requesting {count} records on the `{field}` connection exceeds the `first` limit of \
                     {PAGE_LIMIT} records."
                ),
            });
        }
        (Some(first), _) => (after, before.min(after.saturating_add(to_usize(first)))),
        (None, Some(last)) => (after.max(before.saturating_sub(to_usize(last))), before),
    };
    Ok((start.min(end), end))
}

fn page_info(start: usize, end: usize, total: usize) -> Object {
    let cursor = |index: usize| {
        let shown = (start < end).then(|| cursor_of(index));
        Resolved::from(json!(shown))
    };
    Object::Record(
        "PageInfo",
        vec![
            ("hasNextPage", (end < total).into()),
            ("hasPreviousPage", (start > 0).into()),
            ("startCursor", cursor(start)),
            ("endCursor", cursor(end.saturating_sub(1))),
        ],
    )
}

fn cursor_of(index: usize) -> String {
    format!("cursor:{index}")
}

fn index_of(cursor: &str) -> Option<usize> {
    cursor.strip_prefix("cursor:")?.parse().ok()
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
