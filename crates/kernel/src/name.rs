//! The names of the machines.

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($($variant:ident $name:literal,)*) => {
        /// Every machine's name, in the fixed order in which reasons are given and effects run. A
        /// later machine's effect waits until the earlier machines let the agent go.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Name { $($variant,)* }

        impl Name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

names! {
    Gate "gate",
    Loop "loop",
    Check "check",
    Review "review",
    Claim "claim",
    Tasks "tasks",
    Pulse "pulse",
}

impl Name {
    /// May this machine start its programs only in a project that a person trusts? `pulse` starts
    /// only ourselves, to ask for our version.
    pub const fn needs_trust(self) -> bool {
        !matches!(self, Self::Pulse)
    }
}

impl core::fmt::Display for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}
