//! The files of a crate as modules, with the paths that they name.

use std::path::Path;

#[derive(Debug)]
pub(super) struct Source {
    /// `machine::claim::file`; the crate itself has no name.
    pub(super) module: String,
    pub(super) lines: usize,
    pub(super) test_lines: usize,
    /// From the root of the crate.
    pub(super) paths: Vec<String>,
    /// The product's code, without comments.
    #[cfg(test)]
    pub(super) code: String,
}

/// Every file of a crate, except those that contain only tests.
pub(super) fn of_crate(path: &Path) -> Vec<Source> {
    let root = path.join("src");
    let mut sources = Vec::new();
    let mut tested = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                let module = module(path.strip_prefix(&root).expect("below the root"));
                tested.extend(test_modules(&text, &module));
                sources.push(read(module, &text));
            }
        }
    }
    for source in &mut sources {
        let of_tests = |name: &String| {
            source.module == *name || source.module.starts_with(&format!("{name}::"))
        };
        if tested.iter().any(of_tests) {
            source.test_lines += std::mem::take(&mut source.lines);
            source.paths.clear();
            #[cfg(test)]
            source.code.clear();
        }
    }
    sources.retain(|source| source.lines > 0 || source.test_lines > 0);
    let (product, tests): (Vec<_>, Vec<_>) = sources.into_iter().partition(|one| one.lines > 0);
    let mut product = product;
    let test_lines: usize = tests.iter().map(|one| one.test_lines).sum();
    if let Some(first) = product.first_mut() {
        first.test_lines += test_lines;
    }
    product.sort_by(|one, other| one.module.cmp(&other.module));
    product
}

fn module(file: &Path) -> String {
    let name = file.with_extension("");
    let names = name.iter().map(|name| name.to_string_lossy());
    let names: Vec<_> = names
        .filter(|name| !matches!(name.as_ref(), "mod" | "lib" | "main"))
        .collect();
    names.join("::")
}

/// The modules in files of their own that are declared for tests.
fn test_modules(text: &str, module: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut for_tests = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[cfg(") && line.contains("test") {
            for_tests = true;
        } else if !line.starts_with("#[") {
            let declared = line
                .split_once("mod ")
                .and_then(|(_, name)| name.strip_suffix(';'));
            if let Some(name) = declared.filter(|_| for_tests) {
                found.push(
                    [module, name]
                        .join("::")
                        .trim_start_matches("::")
                        .to_owned(),
                );
            }
            for_tests = false;
        }
    }
    found
}

fn read(module: String, text: &str) -> Source {
    let all = text.lines().count();
    let product = text
        .find("#[cfg(test)]\nmod tests {")
        .map_or(text, |end| &text[..end]);
    let lines = product.lines().count();
    let code: Vec<&str> = product
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect();
    let paths = paths(&code.join("\n"), &module);
    Source {
        module,
        lines,
        test_lines: all - lines,
        paths,
        #[cfg(test)]
        code: product
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// The paths that a text names, from the root of the crate.
fn paths(code: &str, module: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = ["crate::", "super::"]
        .iter()
        .filter_map(|word| rest.find(word))
        .min()
    {
        let inside = rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let (mut path, mut base) = (&rest[at..], module.to_owned());
        while let Some(further) = path.strip_prefix("super::") {
            base = base
                .rsplit_once("::")
                .map_or(String::new(), |(above, _)| above.to_owned());
            path = further;
        }
        if let Some(further) = path.strip_prefix("crate::") {
            base.clear();
            path = further;
        }
        rest = path;
        if !inside {
            expand(&base, path, &mut found);
        }
    }
    found
}

/// Expands the braces of a path. Returns how much of the text was read.
fn expand(base: &str, text: &str, found: &mut Vec<String>) -> usize {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .unwrap_or(text.len());
    let name = text[..end].trim_end_matches("::");
    let path = [base, name].join("::");
    let path = path.trim_start_matches("::").trim_end_matches("::");
    if !text[end..].starts_with('{') || !(end == 0 || text[..end].ends_with("::")) {
        found.push(path.to_owned());
        return end;
    }
    let mut at = end + 1;
    while let Some(next) = text[at..].chars().next() {
        match next {
            '}' => return at + 1,
            c if c.is_alphanumeric() || c == '_' || c == '{' => {
                at += expand(path, &text[at..], found);
            }
            c => at += c.len_utf8(),
        }
    }
    at
}
