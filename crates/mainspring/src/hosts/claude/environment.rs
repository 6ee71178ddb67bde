//! The variables that Claude Code reads and a reviewer needs: how it signs in, which models it
//! uses, how it behaves. Variables that the host sets for one session are not among them.

use crate::children::child_env::{Names, VendorEnv};

pub(crate) const VENDOR: VendorEnv = VendorEnv {
    family: &[
        "CLAUDE*",
        "ANTHROPIC_*",
        // It sets these for every child.
        "COREPACK_ENABLE_AUTO_PIN",
        "NoDefaultCurrentDirectoryInExePath",
    ],
    always: ALWAYS,
    providers: &[
        ("CLAUDE_CODE_USE_BEDROCK", AWS),
        ("CLAUDE_CODE_USE_VERTEX", GOOGLE),
        ("CLAUDE_CODE_USE_FOUNDRY", AZURE),
    ],
};

const ALWAYS: Names = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_BETAS",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_CUSTOM_MODEL_OPTION*",
    "ANTHROPIC_DEFAULT_*",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "API_TIMEOUT_MS",
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_OUTPUT_LENGTH",
    "BASH_MAX_TIMEOUT_MS",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_DISABLE_*",
    "CLAUDE_CODE_EXTRA_BODY",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_PROXY_RESOLVES_HOSTS",
    "CLAUDE_CODE_SHELL",
    "CLAUDE_CODE_SKIP_*_AUTH",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_TMPDIR",
    "CLAUDE_CODE_USE_*",
    "CLAUDE_CONFIG_DIR",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_PROMPT_CACHING*",
    "DISABLE_TELEMETRY",
    // It says that root is in a sandbox and may skip permissions.
    "IS_SANDBOX",
    "MAX_THINKING_TOKENS",
    "NODE_EXTRA_CA_CERTS",
    "USE_BUILTIN_RIPGREP",
];

const AWS: Names = &[
    "AWS_*",
    "ANTHROPIC_BEDROCK_*",
    "ANTHROPIC_SMALL_FAST_MODEL_AWS_REGION",
];

const GOOGLE: Names = &[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_*",
    "GCLOUD_PROJECT",
    "GCE_METADATA_HOST",
    "CLOUDSDK_*",
    "CLOUD_ML_REGION",
    "VERTEX_REGION_*",
    "ANTHROPIC_VERTEX_*",
];

const AZURE: Names = &["AZURE_*", "ANTHROPIC_FOUNDRY_*"];
