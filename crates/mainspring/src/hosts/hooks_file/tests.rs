use pretty_assertions::assert_eq;

use super::*;
use crate::hosts::HOSTS;

fn caller() -> Caller {
    Caller::Own {
        program: "/opt/my tools/mainspring".into(),
        hook: "/opt/my tools/mainspring-hook".into(),
    }
}

fn register(host: &crate::hosts::HostSpec, text: &str) -> String {
    register_with(host, text, Hooks::File, false)
}

fn register_with(host: &crate::hosts::HostSpec, text: &str, hooks: Hooks, guard: bool) -> String {
    let wish = Wish {
        caller: &caller(),
        hooks,
        guard,
        variables: &[],
        status_line: false,
        replace: false,
    };
    (host.installation.register)(host, text, &wish).unwrap()
}

/// The hosts that have such a file, and no plugin of ours.
fn hosts() -> impl Iterator<Item = &'static &'static crate::hosts::HostSpec> {
    let has_hooks = |host: &&&crate::hosts::HostSpec| host.look("{}").is_ok();
    HOSTS.iter().filter(has_hooks)
}

/// What a person may have in such a file.
const THEIRS: &[&str] = &[
    "",
    "{}\n",
    "{\n  // mine\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n",
    "{\n  \"version\": 1,\n  \"hooks\": {\n    \"Stop\": [{ \"type\": \"command\", \"bash\": \"say done\" }]\n  }\n}\n",
];

#[test]
fn every_host_registers_once_and_leaves_what_is_not_ours() {
    for host in hosts() {
        let name = host.agent.name;
        for theirs in THEIRS {
            let once = register(host, theirs);
            let twice = register(host, &once);
            assert_eq!(once, twice, "{name}");
            let found = host.look(&once).unwrap();
            let events: Vec<&str> = found.handlers.iter().map(|one| &*one.event).collect();
            let stop = host.reading.name_of(crate::hosts::reading::Means::Stop);
            assert!(events.contains(&stop), "{name}: {events:?}");
            assert_eq!(found.stop_timeout, Some(3000), "{name}");
            assert!(!found.empty, "{name}");
            let out = (host.installation.unregister)(host, &once, &[]).unwrap();
            let left = host.look(&out).unwrap();
            assert_eq!(left.handlers, [], "{name}");
            assert_eq!(
                out.contains("say done"),
                theirs.contains("say done"),
                "{name}"
            );
            assert_eq!(left.empty, !theirs.contains("say done"), "{name}: {out}");
        }
    }
}

#[test]
fn every_host_can_call_us_before_a_tool_and_stop_doing_so() {
    for host in hosts() {
        let name = host.agent.name;
        let before_tool = host
            .reading
            .name_of(crate::hosts::reading::Means::BeforeTool);
        for theirs in THEIRS {
            let plain = register(host, theirs);
            let guarded = register_with(host, &plain, Hooks::File, true);
            assert_eq!(
                register_with(host, &guarded, Hooks::File, true),
                guarded,
                "{name}"
            );
            let found = host.look(&guarded).unwrap();
            let guard = found.guard.unwrap();
            assert_eq!(guard.event, before_tool, "{name}");
            assert_eq!(guard.timeout, Some(GUARD_TIMEOUT), "{name}");
            let usual = host.look(&plain).unwrap();
            assert_eq!(found.handlers, usual.handlers, "{name}");
            assert_eq!(usual.guard, None, "{name}");
            assert_eq!(register(host, &guarded), plain, "{name}");
            let alone = register_with(host, theirs, Hooks::Plugin, true);
            let found = host.look(&alone).unwrap();
            assert_eq!(found.handlers, [], "{name}");
            assert!(found.guard.is_some(), "{name}");
            let out = (host.installation.unregister)(host, &alone, &[]).unwrap();
            assert_eq!(host.look(&out).unwrap().guard, None, "{name}");
        }
    }
}

/// A host that reads another unit, or drops a list of arguments, would hang or refuse everything.
#[test]
fn every_host_gets_its_own_unit_and_one_shell_line() {
    for (name, timeout) in [
        ("Codex", r#""timeout": 3000"#),
        ("Gemini CLI", r#""timeout": 3000000"#),
        ("Qwen Code", r#""timeout": 3000000"#),
        ("Copilot CLI", r#""timeoutSec": 3000"#),
    ] {
        let host = HOSTS.iter().find(|host| host.agent.name == name).unwrap();
        let text = register(host, "");
        assert!(text.contains(timeout), "{name}: {text}");
        assert!(
            text.contains("'/opt/my tools/mainspring-hook'"),
            "{name}: {text}"
        );
        assert!(!text.contains("args"), "{name}: {text}");
        assert!(!text.contains("claim watch"), "{name}: {text}");
    }
}

/// A trial of a registration is recognised as the host's own stop.
#[test]
fn a_trial_is_its_hosts_stop() {
    let env = crate::env::Environment::given(&[], mainspring_kernel::Millis(0));
    for host in hosts() {
        let stop = host.trial_stop(std::path::Path::new("/p"));
        let known = crate::hosts::DecodeAs::Named;
        let payload = crate::hosts::decode(&env, stop.into_bytes(), known, None).unwrap();
        assert_eq!(payload.host.program, host.program);
        assert_eq!(
            payload.wire_name,
            host.reading.name_of(crate::hosts::reading::Means::Stop)
        );
        let is_stop = matches!(payload.event.kind, mainspring_kernel::Kind::Stop { .. });
        assert!(is_stop, "{}", host.program);
    }
}
