//! Finds programs on the PATH.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::system::program::{file_names, is_second_name, second_name};

/// The program that a shell with this PATH would start by this name. Relative folders are skipped:
/// they depend on the current directory, which may be a repository.
pub fn find(search_path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| file_names(name).map(move |file| folder.join(file)))
        .find(|candidate| candidate.is_file())
}

/// The PATH without its relative folders, for a child.
pub fn absolute_folders(search_path: &OsStr) -> OsString {
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    // Folders that were split from a PATH can be joined again.
    std::env::join_paths(folders).unwrap_or_default()
}

/// Gives a program a second name, in the same folder.
pub fn link(program: &Path, name: &Path) -> io::Result<()> {
    second_name(program, name)
}

/// Is this file a second name of the program? On Windows, where it is no symlink, a newer program
/// leaves its second name with the older one.
pub fn is_link(program: &Path, name: &Path) -> bool {
    is_second_name(program, name)
}

/// The name of the program that has this file.
pub fn name(file: &Path) -> Option<&str> {
    let name = file.file_name()?.to_str()?;
    let ending = std::env::consts::EXE_SUFFIX;
    let start = name.len().checked_sub(ending.len());
    Some(match start.and_then(|at| name.split_at_checked(at)) {
        Some((start, end)) if end.eq_ignore_ascii_case(ending) => start,
        Some(_) | None => name,
    })
}

/// Is this a path, and not a name to look up?
pub fn is_path(program: &str) -> bool {
    program.contains(std::path::is_separator)
}

/// The name of the file that has this program.
pub fn file_name(program: &str) -> String {
    format!("{program}{}", std::env::consts::EXE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use std::fs::{File, create_dir};

    use super::*;

    #[test]
    fn the_first_absolute_folder_that_has_it_counts() {
        let temp = tempfile::tempdir().unwrap();
        let [one, two, three] = ["one", "two", "three"].map(|name| temp.path().join(name));
        for folder in [&one, &two, &three] {
            create_dir(folder).unwrap();
        }
        // A folder of that name is not a program.
        create_dir(one.join("tool")).unwrap();
        File::create(two.join("tool")).unwrap();
        File::create(three.join("tool")).unwrap();
        let search = std::env::join_paths([&one, &two, &three]).unwrap();
        assert_eq!(find(&search, "tool"), Some(two.join("tool")));
        assert_eq!(find(&search, "other"), None);
    }

    #[test]
    fn a_relative_folder_is_passed_over() {
        // Tests run in their crate's folder, where the relative path finds this file.
        assert!(PathBuf::from("src/lib.rs").is_file());
        assert_eq!(find("src:./src:".as_ref(), "lib.rs"), None);
        assert_eq!(absolute_folders(".:/a::b:/c".as_ref()), "/a:/c");
        assert_eq!(absolute_folders(".".as_ref()), "");
    }
}
