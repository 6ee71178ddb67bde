//! Which fields need which scopes of a classic token.
//!
//! GitHub checks this before it executes anything, and refuses the whole
//! document with one error for each field that the token does not cover.

use crate::github::state::{Grant, Token};

use super::error::GraphqlError;
use super::validate::Asked;

pub(crate) fn refused(token: &Token, asked: &[Asked]) -> Vec<GraphqlError> {
    let Grant::Scopes(granted) = &token.grant else {
        return Vec::new();
    };
    asked
        .iter()
        .filter_map(|asked| {
            let scope = needed(asked)?;
            let covered = granted.contains(scope) || (scope == "read:project" && granted.contains("project"));
            if covered {
                return None;
            }
            let granted: Vec<_> = granted.iter().map(|scope| format!("'{scope}'")).collect();
            let message = format!(
                "Your token has not been granted the required scopes to execute this query. \
                 The '{}' field requires one of the following scopes: ['{scope}'], but your token has only been \
                 granted the: [{}] scopes. Please modify your token's scopes at: https://github.com/settings/tokens.",
                asked.field,
                granted.join(", "),
            );
            Some(GraphqlError::refused("INSUFFICIENT_SCOPES", asked.place, message))
        })
        .collect()
}

fn needed(asked: &Asked) -> Option<&'static str> {
    match (asked.parent.as_str(), asked.field.as_str()) {
        ("Mutation", "updateProjectV2ItemFieldValue" | "clearProjectV2ItemFieldValue") => {
            Some("project")
        }
        (_, "projectV2") | ("ProjectV2" | "ProjectV2Item", _) => Some("read:project"),
        _ => None,
    }
}
