//! Languages in which hooks are usually written, on an event that we leave at once.

use super::{Case, Start, nothing};

pub(super) const BASH: Case = Case {
    name: "bash and jq",
    about: "a script of one line that reads one field of the same event",
    start: Start::Scale {
        program: "bash",
        args: &["-c", r#"[ "$(jq -r .stop_hook_active)" = false ]"#],
        needs: &["jq"],
    },
    says: "",
    prepare: |world| world.stop("Finished the work."),
    reset: nothing,
};

pub(super) const PYTHON: Case = Case {
    name: "python",
    about: "a script of two lines that reads the same event",
    start: Start::Scale {
        program: "python3",
        args: &[
            "-c",
            "import json, sys\nprint('hello', json.load(sys.stdin)['cwd'])",
        ],
        needs: &[],
    },
    says: "hello",
    prepare: |world| world.stop("Finished the work."),
    reset: nothing,
};
