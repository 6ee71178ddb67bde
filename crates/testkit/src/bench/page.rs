//! The results of a run: files in a folder, and sections of the page of the same name.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// `docs/performance/<name>.json`, readable.
pub(super) fn keep_json(folder: &Path, name: &str, value: &Value) {
    let text = serde_json::to_string_pretty(value).expect("it is JSON");
    keep(folder, &format!("{name}.json"), &format!("{text}\n"));
}

pub(super) fn keep(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).expect("a folder to write to");
    fs::write(folder.join(name), text).expect("room for a file");
}

/// Replaces a section of `docs/performance.md`, if the page has it.
pub(super) fn fill(folder: &Path, section: &str, text: &str) {
    let page = folder.with_extension("md");
    let Ok(old) = fs::read_to_string(&page) else {
        return;
    };
    let new = filled(&old, section, text)
        .unwrap_or_else(|| panic!("{} has no section {section}", page.display()));
    fs::write(&page, new).expect("room for the page");
}

/// The text between `<!-- section -->` and `<!-- /section -->`, replaced.
fn filled(page: &str, section: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("<!-- {section} -->\n"))?;
    let end = format!("<!-- /{section} -->");
    let (_, after) = rest.split_once(&end)?;
    Some(format!(
        "{before}<!-- {section} -->\n{}\n{end}{after}",
        text.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_section_is_replaced() {
        let page = "a\n<!-- rows -->\nold\n<!-- /rows -->\nb\n<!-- x -->\n";
        let new = "a\n<!-- rows -->\nnew\n<!-- /rows -->\nb\n<!-- x -->\n";
        assert_eq!(filled(page, "rows", "new\n"), Some(new.into()));
        assert_eq!(filled(new, "rows", "new\n"), Some(new.into()));
        assert_eq!(filled(page, "x", "new"), None);
        assert_eq!(filled(page, "y", "new"), None);
    }
}
