//! The clients that are fetched only on request.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::clients;
use crate::hosts::HostClient;

/// It has no login here: it talks to a model of the person's own.
pub(super) fn droid(client: &mut HostClient, model: &str) {
    for (name, value) in [
        ("FACTORY_AIRGAP_ENABLED", "true"),
        ("FACTORY_API_KEY", "fk-dummy"),
        ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
        ("DROID_DISABLE_SOUNDS", "1"),
        ("FACTORY_API_BASE_URL", model),
    ] {
        client.set(name, value);
    }
    client.edit(".factory/settings.json", |settings| {
        *settings = json!({
            "customModels": [{
                "model": "fake-model", "id": "custom:fake-0", "displayName": "fake",
                "baseUrl": format!("{model}/v1"), "apiKey": "dummy",
                "provider": "generic-chat-completion-api", "maxOutputTokens": 4000,
            }],
            "sessionDefaultSettings": {"model": "custom:fake-0"},
            "cloudSessionSync": false,
            "enableDroidShield": false,
        });
    });
}

pub(super) fn grok(client: &mut HostClient, model: &str) {
    let url = format!("{model}/v1");
    client.set("GROK_HOME", client.home.join(".grok"));
    for (name, value) in [
        ("FAKE_KEY", "dummy"),
        ("XAI_API_KEY", "dummy"),
        ("GROK_DISABLE_AUTOUPDATER", "1"),
        ("GROK_XAI_API_BASE_URL", &url),
        ("GROK_MODELS_BASE_URL", &url),
    ] {
        client.set(name, value);
    }
    let config = format!(
        "[models]\ndefault = \"fake\"\n[model.fake]\nmodel = \"fake-model\"\nbase_url = \
         \"{url}\"\nname = \"fake\"\nenv_key = \"FAKE_KEY\"\ncontext_window = 100000\n"
    );
    client.put(Path::new(".grok/config.toml"), &config);
}

/// Offline it would wait for minutes for the package that plugins may use, so that is brought.
pub(super) fn opencode(client: &mut HostClient, model: &str) {
    for name in [
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_SHARE",
    ] {
        client.set(name, "1");
    }
    client.edit(".config/opencode/opencode.json", |settings| {
        *settings = json!({
            "model": "fake/fake-model", "small_model": "fake/fake-model",
            "autoupdate": false, "share": "disabled",
            "provider": {"fake": {
                "npm": "@ai-sdk/openai-compatible", "name": "fake",
                "options": {"baseURL": format!("{model}/v1"), "apiKey": "dummy"},
                "models": {"fake-model": {
                    "name": "fake-model", "limit": {"context": 100_000, "output": 8000},
                }},
            }},
            "permission": {"bash": "allow", "edit": "allow"},
        });
    });
    let version = clients::pinned_version("ocplugin");
    client.edit(".config/opencode/package.json", |package| {
        *package = json!({"dependencies": {"@opencode-ai/plugin": version}});
    });
    let brought = clients::place("ocplugin");
    let folder = client.home.join(".config/opencode");
    let _ = std::fs::copy(
        brought.join("package-lock.json"),
        folder.join("package-lock.json"),
    );
    symlink(brought.join("node_modules"), folder.join("node_modules")).expect("the home is ours");
}

pub(super) fn pi(client: &mut HostClient, model: &str) {
    client.set("PI_OFFLINE", "1");
    client.edit(".pi/agent/models.json", |models| {
        *models = json!({"providers": {"fake": {
            "baseUrl": format!("{model}/v1"), "api": "openai-completions", "apiKey": "dummy",
            "models": [{"id": "fake-model"}],
        }}});
    });
}
