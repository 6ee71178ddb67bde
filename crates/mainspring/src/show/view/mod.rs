//! `mainspring view`: the page. What needs you, what runs, and why, for everything on this
//! computer.
//!
//! It reads what the other views read, and writes nothing but what its two buttons write, which are
//! `pause` and `resume`. The server, its limits and who may use it: [`http`], [`access`],
//! [`server`]. What is shown: [`site`] and [`super::model`]. How it looks: [`page`].

mod access;
mod buttons;
mod http;
mod live;
mod page;
mod route;
mod server;
mod site;

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use mainspring_platform::identity;
use serde_json::json;

use self::access::Access;
use self::site::Site;
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::output;

/// Serve a page for your browser, and print its address: what needs you, what runs, and why, for
/// all projects.
///
/// The page is served on this computer only, at an address with a random token, until Ctrl-C. It
/// updates itself. Pause and resume are buttons; everything else only shows.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring view                  prints the address to open\n  mainspring view --port 7878      for a tunnel: ssh -L 7878:127.0.0.1:7878 HOST"
)]
pub(crate) struct Args {
    /// The port to use; default: any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(|error| {
        CliError::busy(format!("port {} cannot be used: {error}", args.port))
            .hint("`mainspring view` without `--port` takes a free one")
    })?;
    let port = listener.local_addr().map_err(CliError::new)?.port();
    let token = identity::random_id().map_err(CliError::new)?;
    let access = Access::new(token, port);
    let address = access.address();
    let site = Site::new(cmd.env.clone(), cmd.state()?, cmd.actor(), access);
    let read_only = site.may("pause").is_err();
    let text = if args.json {
        crate::command::json(&json!({ "address": address, "read_only": read_only }))?
    } else {
        greeting(&address, read_only)
    };
    output::stdout(&text, cmd.paint).map_err(CliError::new)?;
    server::serve(&listener, &Arc::new(site));
    Ok(String::new())
}

fn greeting(address: &str, read_only: bool) -> String {
    let buttons = if read_only {
        "An agent started this page, so its buttons do nothing.\n"
    } else {
        ""
    };
    format!(
        "Open this address in a browser on this computer:\n\n  {address}\n\n{buttons}\
         Who has the address can see what your agents do, and pause them. Ctrl-C ends the page.\n"
    )
}
