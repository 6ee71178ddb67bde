//! A test file that no module declares would never run.

use std::fs;
use std::path::Path;

#[test]
fn every_file_here_is_declared_in_main() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = fs::read_to_string(dir.join("main.rs")).unwrap();
    for entry in fs::read_dir(&dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        if module != "main" {
            assert!(
                main.lines().any(|line| line == format!("mod {module};")),
                "{name} is not declared in main.rs"
            );
        }
    }
}
