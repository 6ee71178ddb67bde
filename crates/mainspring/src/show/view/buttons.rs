//! Pause and resume. They run the commands of the same names, in the project's folder.

use super::http::{Response, Status};
use super::route::{Press, to};
use super::site::Site;
use crate::command::{CommandContext, Result, TypedIn};
use crate::output::Paint;
use crate::people::brake::{self, PauseArgs, ResumeArgs};
use crate::timestamp;

type Pressed = std::result::Result<Response, (Status, String)>;

pub(super) fn pause(site: &Site, press: &Press) -> Pressed {
    let span = timestamp::span(&press.span).map_err(|problem| (Status::BadRequest, problem))?;
    let args = PauseArgs {
        span,
        machine: press.machine,
    };
    run(site, "pause", press, |cmd| brake::pause(&args, cmd))
}

pub(super) fn resume(site: &Site, press: &Press) -> Pressed {
    let args = ResumeArgs {
        machine: press.machine,
    };
    run(site, "resume", press, |cmd| brake::resume(&args, cmd))
}

/// Runs a command for a project that the page shows. Afterwards the browser goes to its page.
fn run(
    site: &Site,
    command: &str,
    press: &Press,
    button: impl FnOnce(&CommandContext) -> Result,
) -> Pressed {
    site.may(command).map_err(|denied| {
        (
            Status::Forbidden,
            format!("{denied}. An agent started this page"),
        )
    })?;
    let mut projects = site.projects().into_iter();
    let Some(project) = projects.find(|project| project.key == press.project) else {
        return Err((Status::NotFound, "there is no such project".into()));
    };
    let cmd = CommandContext {
        env: site.env.afresh(),
        cwd: project.root,
        paint: Paint::Plain,
        width: None,
        typed_in: TypedIn::Shell,
        typed: String::new(),
    };
    match button(&cmd) {
        Ok(_) => Ok(Response::see(to("project", &[("project", &project.key)]))),
        Err(error) => Err((Status::Conflict, error.cause)),
    }
}
