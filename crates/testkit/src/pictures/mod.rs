//! The pictures in the documents: the page in a real browser, and a held stop in the real client.

mod screen;
pub(crate) mod stage;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use self::stage::Stage;
use crate::browser::{Browser, Scheme};
use crate::claude::{Claude, Hook};
use crate::clients::workspace;
use crate::model::{Model, Request, Script, Turn};
use crate::view::View;

/// Take the pictures that stand in the documents
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to put them
    #[arg(long, value_name = "FOLDER", default_value = "docs/pictures")]
    write: PathBuf,
    /// The folder with a built `mainspring`
    #[arg(long, value_name = "FOLDER")]
    built: PathBuf,
    /// Every page light, dark and narrow, and not only what the documents show
    #[arg(long)]
    all: bool,
}

/// A window's width and height, and what its reader prefers.
#[derive(Debug, Clone, Copy)]
struct Look {
    name: &'static str,
    width: u32,
    height: u32,
    scheme: Scheme,
}

const LIGHT: Look = Look {
    name: "",
    width: 1000,
    height: 640,
    scheme: Scheme::Light,
};
const DARK: Look = Look {
    name: "-dark",
    scheme: Scheme::Dark,
    ..LIGHT
};
const NARROW: Look = Look {
    name: "-narrow",
    width: 380,
    ..LIGHT
};

pub fn run(args: &Args) -> ExitCode {
    let folder = workspace().join(&args.write);
    fs::create_dir_all(&folder).expect("the folder can be made");
    let mainspring = args.built.join("mainspring");
    let mainspring = mainspring.canonicalize().expect("mainspring is built");
    let save = |name: String, picture: Vec<u8>| {
        fs::write(folder.join(format!("{name}.png")), picture).expect("room for a picture");
    };
    let browser = Browser::start().expect("a browser");
    let stage = Stage::new(&mainspring);
    stage.fill();
    let view = View::start(&mut stage.command("shop"));
    for (name, page) in pages(&stage) {
        let looks = match (args.all, name) {
            (true, _) | (_, "overview") => &[LIGHT, DARK, NARROW][..],
            (false, _) => &[LIGHT][..],
        };
        for look in looks {
            let height = if name == "machine" { 900 } else { look.height };
            browser.look(look.width, height, look.scheme);
            browser.open(&format!("{}{page}", view.address));
            browser.wait("document.getElementById('live').dataset.state === 'on'");
            browser.wait("[...document.querySelectorAll('time')].every((one) => one.title)");
            save(format!("{name}{}", look.name), browser.screenshot());
        }
    }
    drop(view);
    save("held-stop".into(), held_stop(&browser, &mainspring));
    ExitCode::SUCCESS
}

fn pages(stage: &Stage) -> Vec<(&'static str, String)> {
    let (shop, api) = (stage.key("shop"), stage.key("api"));
    vec![
        ("overview", String::new()),
        ("timeline", "timeline".into()),
        ("decision", format!("decision?project={shop}&seq=4")),
        ("project", format!("project?project={api}")),
        ("machine", format!("machine?project={api}&machine=loop")),
        ("plan", format!("plan?project={api}&plan=checkout")),
        ("claim", format!("claim?project={shop}")),
    ]
}

/// The real client in a terminal, held once by the gate.
fn held_stop(browser: &Browser, mainspring: &std::path::Path) -> Vec<u8> {
    let token = |words: &'static str| {
        Turn::decide(move |request: &Request| {
            Turn::say(format!("{words}\n\nTASKMASTER_DONE::{}", request.session()))
        })
    };
    let model = Model::play(Script::new([
        Turn::say("I renamed the module and fixed two of the three callers."),
        token("I went through the checklist: the third caller is fixed, and all tests pass."),
    ]));
    let claude = Claude::new(&model).expect("the real client is installed");
    let claude = claude
        .in_repository()
        .hooks(["SessionStart", "Stop"], &Hook::exec(mainspring, ["hook"]))
        .setting("env", json!({}));
    let gate = claude
        .command(mainspring)
        .args(["gate", "on", "--project"])
        .output();
    assert!(gate.expect("mainspring runs").status.success());
    let terminal = claude.interactive();
    terminal.enter("rename the module billing to invoices");
    terminal.wait_for("let go after 1 held stop");
    terminal.wait_for("? for shortcuts");
    // The browser's font has no sign for a corner of the client's; the folder is a temporary one.
    let project = claude.project().display().to_string();
    let shown = terminal
        .coloured()
        .replace('⎿', "└")
        .replace(&project, "~/shop");
    let html = screen::html(&shown);
    browser.look(1180, 516, Scheme::Dark);
    browser.open("about:blank");
    let html = serde_json::Value::from(html);
    browser.script(&format!("document.documentElement.innerHTML = {html}"));
    browser.screenshot()
}
