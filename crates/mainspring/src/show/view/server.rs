//! Answers requests: one thread per connection, at most [`MOST`] of them.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::http::{self, HTML, Method, Request, Response, Status, Unreadable};
use super::route::{Asset, Press, Route};
use super::site::Site;
use super::{buttons, live, page};

/// Connections at a time. Each open page holds one; more than this many is no person.
const MOST: usize = 64;

/// Answers until the process is ended.
pub(super) fn serve(listener: &TcpListener, site: &Arc<Site>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST {
            open.fetch_sub(1, Ordering::SeqCst);
            let busy = Response::text(Status::Busy, "too many pages are open");
            let _ = http::answer(&mut stream, &busy);
            continue;
        }
        let (site, open_in_thread) = (Arc::clone(site), Arc::clone(&open));
        let started = std::thread::Builder::new().spawn(move || {
            connection(&site, &mut stream);
            open_in_thread.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// If the other side leaves in between, there is nobody to tell.
fn connection(site: &Site, stream: &mut TcpStream) {
    let response = match http::read(stream) {
        Err(Unreadable::Gone) => return,
        Err(Unreadable::Bad(status)) => Response::text(status, "this is no request of the page"),
        Ok(request) => match site.access.admit(&request) {
            Err(refused) => Response::text(Status::Forbidden, refused.to_string()),
            Ok(path) => match (request.method, Route::parse(path, &request.query)) {
                (Method::Get, Some(Route::Events)) => {
                    let _ = live::stream(site, stream);
                    return;
                }
                (Method::Get, Some(route)) => get(site, &route),
                (Method::Get, None) => Response::text(Status::NotFound, "there is no such page"),
                (Method::Post, _) => post(site, path, &request),
            },
        },
    };
    let _ = http::answer(stream, &response);
}

fn get(site: &Site, route: &Route) -> Response {
    let (kind, body) = match route {
        Route::Asset(Asset::Style) => ("text/css; charset=utf-8", include_str!("assets/style.css")),
        Route::Asset(Asset::Script) => (
            "text/javascript; charset=utf-8",
            include_str!("assets/page.js"),
        ),
        Route::Asset(Asset::Icon) => ("image/svg+xml", include_str!("assets/icon.svg")),
        _ => {
            let (status, html) = page::render(site, route);
            return Response::new(status, HTML, html);
        }
    };
    Response::new(Status::Ok, kind, body)
}

fn post(site: &Site, path: &str, request: &Request) -> Response {
    let Some(press) = Press::parse(&request.body) else {
        return Response::text(Status::BadRequest, "the form is not one of this page's");
    };
    let pressed = match path {
        "pause" => buttons::pause(site, &press),
        "resume" => buttons::resume(site, &press),
        _ => return Response::text(Status::NotFound, "there is no such button"),
    };
    pressed.unwrap_or_else(|(status, sentence)| Response::text(status, sentence))
}
