//! File names made from text that comes from outside.

use std::borrow::Cow;

use crate::digest;

/// Makes a file name from a text: the text itself if it is plain, otherwise its digest. So no id
/// can leave the directory or collide with another.
pub fn file_name(id: &str) -> Cow<'_, str> {
    let plain = !id.is_empty()
        && id.len() <= 100
        && !id.starts_with(['.', '#'])
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if plain {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(format!("#{}", digest::of(&[id.as_bytes()]).0))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_id_leaves_its_directory(id in ".{0,300}") {
            let name = file_name(&id);
            let path = Path::new("/root/dir").join(name.as_ref());
            prop_assert_eq!(path.parent(), Some(Path::new("/root/dir")));
            prop_assert!(name.len() <= 100 && !name.starts_with('.'));
        }
    }

    #[test]
    fn hostile_ids_are_hashed_and_plain_ones_kept() {
        assert_eq!(file_name("390b8429-0c35"), "390b8429-0c35");
        for hostile in [
            "..",
            "../x",
            "a/b",
            "",
            ".hidden",
            "a\0b",
            "#0",
            "é",
            &"x".repeat(101),
        ] {
            assert!(file_name(hostile).starts_with('#'), "{hostile:?}");
        }
    }
}
