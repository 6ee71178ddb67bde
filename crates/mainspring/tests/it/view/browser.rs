//! The page in a real browser.

use mainspring_testkit::browser::{Browser, Scheme};
use mainspring_testkit::view::View;
use serde_json::json;

use super::{held_twice, key, view};
use crate::env::TestEnv;

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// A browser; or nothing, which it then says.
fn browser() -> Option<Browser> {
    let browser = Browser::start();
    if browser.is_none() {
        eprintln!("skipped: MAINSPRING_SKIP_BROWSER is set");
    }
    browser
}

/// A project with something on every page: machines, a claim, a plan with two reviews.
fn full() -> TestEnv {
    let env = held_twice();
    let plan = env.project().join(".taskie/plans/demo");
    std::fs::create_dir_all(&plan).unwrap();
    std::fs::write(plan.join("plan.md"), "# Plan\n").unwrap();
    env.run(&["plan", "init", "demo"]).ok();
    std::fs::write(env.project().join(".agent-claim.json"), claim("fix")).unwrap();
    let review = |iteration: u32, verdict: &str| {
        let past = json!({
            "at": 1_760_000_000_000_u64, "plan": "demo", "review": "plan",
            "file": format!("plan-review-{iteration}.md"), "iteration": iteration, "model": "opus",
            "result": { "reviewed": verdict }, "took": 47_000, "cost": 120_000 * iteration,
        });
        format!("{past}\n")
    };
    let reviews = review(1, "fail") + &review(2, "pass");
    std::fs::write(env.project_state().join("reviews.jsonl"), reviews).unwrap();
    env
}

fn claim(branch: &str) -> String {
    let claim = json!({
        "schema_version": 1, "item_id": "", "issue_number": 42, "branch": branch,
        "agent_id": "ada-1", "phase": "merged_detected", "summary": branch, "status": branch,
        "pr_number": 7,
    });
    claim.to_string()
}

/// Every page of the project.
fn pages(env: &TestEnv) -> Vec<String> {
    let key = key(env);
    vec![
        String::new(),
        "timeline".into(),
        "timeline?text=nowhere".into(),
        format!("decision?project={key}&seq=2"),
        format!("project?project={key}"),
        format!("machine?project={key}&machine=pulse"),
        format!("machine?project={key}&machine=review"),
        format!("plan?project={key}&plan=demo"),
        format!("claim?project={key}"),
        "decision?project=gone&seq=1".into(),
    ]
}

fn open(browser: &Browser, view: &View, page: &str) {
    browser.open(&format!("{}{page}", view.address));
}

#[test]
fn every_page_passes_the_accessibility_check_light_dark_and_narrow_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = full();
    let view = view(&env);
    for page in pages(&env) {
        open(&browser, &view, &page);
        for (width, scheme) in [
            (1200, Scheme::Light),
            (1200, Scheme::Dark),
            (360, Scheme::Light),
        ] {
            browser.look(width, 800, scheme);
            let found = browser.accessibility();
            assert!(found.is_empty(), "{page} {width} {scheme:?}: {found:#?}");
            // Nothing is wider than the window.
            let wide = browser.script("return document.documentElement.scrollWidth > innerWidth");
            assert_eq!(wide, false, "{page} at {width}");
        }
    }
}

#[test]
fn light_and_dark_are_two_looks_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = full();
    let view = view(&env);
    open(&browser, &view, "");
    let ground = || browser.script("return getComputedStyle(document.body).backgroundColor");
    browser.look(1200, 800, Scheme::Light);
    let light = ground();
    browser.look(1200, 800, Scheme::Dark);
    assert_ne!(light, ground());
}

#[test]
fn a_new_decision_appears_by_itself_and_leaves_the_reader_alone_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = held_twice();
    let view = view(&env);
    open(&browser, &view, "timeline");
    browser.wait("document.getElementById('live').dataset.state === 'on'");
    browser.wait("document.querySelectorAll('.row').length === 3");
    // The reader stands on a row, and has begun to type a filter.
    browser.script("document.querySelector('input[name=text]').value = 'half a wo'");
    browser.script("document.querySelector('.row').focus()");
    let stands = "return document.activeElement.getAttribute('href')";
    let before = browser.script(stands);
    env.run(&["observe"]).ok();
    browser.wait("document.querySelectorAll('.row').length === 4");
    assert!(browser.text().contains("mainspring observe"));
    assert_eq!(browser.script(stands), before, "the focus stayed");
    let typed = browser.script("return document.querySelector('input[name=text]').value");
    assert_eq!(typed, "half a wo");
}

#[test]
fn the_title_counts_what_needs_the_person_as_it_changes_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = held_twice();
    let view = view(&env);
    open(&browser, &view, "");
    browser.wait("document.title === 'Overview · Mainspring'");
    browser.wait("document.getElementById('live').dataset.state === 'on'");
    std::fs::write(env.project().join(".agent-claim.json"), claim("fix")).unwrap();
    browser.wait("document.title === '(1) Overview · Mainspring'");
    browser.wait("document.body.innerText.includes('1 thing needs you')");
}

#[test]
fn the_page_says_when_it_is_no_longer_connected_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = held_twice();
    let view = view(&env);
    open(&browser, &view, "");
    browser.wait("document.getElementById('live').dataset.state === 'on'");
    drop(view);
    browser.wait("document.getElementById('live').textContent.includes('not connected')");
}

#[test]
fn pause_and_resume_are_buttons_for_mouse_and_keyboard_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = held_twice();
    let view = view(&env);
    open(&browser, &view, &format!("project?project={}", key(&env)));
    browser.click("#pause-");
    browser.wait("document.getElementById('resume-')");
    assert!(env.run(&["status"]).ok().contains("everything is paused"));
    browser.script("document.getElementById('resume-').focus()");
    browser.keys(ENTER);
    browser.wait("document.getElementById('pause-')");
    assert!(!env.run(&["status"]).ok().contains("paused"));
    // One machine alone.
    browser.click("#pause-pulse");
    browser.wait("document.getElementById('resume-pulse')");
    let status = env.run(&["status"]).ok();
    assert!(
        status.contains("paused until") && !status.contains("everything"),
        "{status}"
    );
    assert!(browser.text().contains("Done."));
}

#[test]
fn what_a_button_could_not_do_is_said_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = held_twice();
    let view = view(&env);
    open(&browser, &view, &format!("project?project={}", key(&env)));
    browser.click("#pause-");
    browser.wait("document.getElementById('resume-')");
    // In another terminal, the person has switched everything off by a file.
    std::fs::write(env.project().join(".mainspring-off"), "").unwrap();
    browser.click("#resume-");
    browser.wait("document.getElementById('said').textContent.includes('.mainspring-off')");
}

#[test]
fn the_buttons_of_an_agents_page_cannot_be_pressed_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = held_twice();
    let view = View::start(env.command().env("CLAUDE_CODE_SESSION_ID", "s"));
    open(&browser, &view, &format!("project?project={}", key(&env)));
    let enabled = browser
        .script("return document.querySelectorAll('.press :enabled:not([type=hidden])').length");
    assert_eq!(enabled, 0);
    // Even if its script is changed in the browser.
    browser.script("for (const one of document.querySelectorAll('.press *')) one.disabled = false");
    browser.click("#pause-");
    browser.wait("document.getElementById('said').textContent.includes('an agent cannot')");
    assert!(!env.run(&["status"]).ok().contains("paused"));
}

#[test]
fn everything_is_reached_by_keyboard_alone_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = full();
    let view = view(&env);
    open(&browser, &view, "");
    // The first stop is the way past the navigation.
    browser.keys(TAB);
    let focused = "return document.activeElement.textContent";
    assert_eq!(browser.script(focused), "Skip to the content");
    browser.keys(ENTER);
    browser.wait("location.hash === '#main'");
    let stops = "[...document.querySelectorAll('main a[href], main button, main select, main input:not([type=hidden])')]";
    let count = browser.script(&format!("return {stops}.length"));
    let count = count.as_u64().unwrap();
    assert!(count > 5, "{count}");
    for index in 0..count {
        browser.keys(TAB);
        let at = browser.script(&format!("return {stops}.indexOf(document.activeElement)"));
        assert_eq!(at, index, "{}", browser.text());
        let ring = browser.script("return getComputedStyle(document.activeElement).outlineStyle");
        assert_eq!(ring, "solid", "the focus is seen");
    }
    // The last one is the link to the timeline.
    browser.keys(ENTER);
    browser.wait("location.pathname.endsWith('/timeline')");
    // A row opens its explanation.
    browser.script("document.querySelector('.row').focus()");
    browser.keys(ENTER);
    browser.wait("location.pathname.endsWith('/decision')");
}

#[test]
fn hostile_names_and_titles_are_only_text_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = full();
    let evil = "<img src=x onerror=document.title='taken'><script>document.title='taken'</script>\u{202e}\"'`&";
    std::fs::write(env.project().join(".agent-claim.json"), claim(evil)).unwrap();
    let reviews = env.project_state().join("reviews.jsonl");
    let text = std::fs::read_to_string(&reviews).unwrap();
    std::fs::write(&reviews, text.replace("opus", "<b onclick=x>o</b>")).unwrap();
    env.agent("<svg-onload=alert(1)>", &["gate", "on"]).ok();
    let view = view(&env);
    let hostile = "timeline?text=%3Cscript%3Edocument.title%3D1%3C/script%3E&session=%22%3E%3Cb%3E";
    for page in pages(&env).into_iter().chain([hostile.to_owned()]) {
        open(&browser, &view, &page);
        browser.wait("document.getElementById('live').dataset.state === 'on'");
        let made = browser.script(
            "return document.querySelectorAll('main img, main script, main [onerror], main [onload], main [onclick], main b b').length",
        );
        assert_eq!(made, 0, "{page}");
        let title = browser.script("return document.title");
        assert!(
            title.as_str().unwrap().ends_with("Mainspring"),
            "{page}: {title}"
        );
        let raw = browser.script("return document.body.innerText.includes('\\u202e')");
        assert_eq!(raw, false, "{page}");
    }
    open(&browser, &view, &format!("claim?project={}", key(&env)));
    assert!(
        browser
            .text()
            .contains("<script>document.title='taken'</script>")
    );
}

#[test]
fn another_sites_page_learns_nothing_and_presses_nothing_in_a_browser() {
    let Some(browser) = browser() else { return };
    let env = held_twice();
    let view = view(&env);
    // The hostile site even knows the token.
    browser.open("data:text/html,<title>elsewhere</title>");
    let target = serde_json::Value::from(view.address.as_str());
    let form = format!("project={}&span=30m", key(&env));
    let tried = browser.script(&format!(
        "return Promise.all([
            fetch({target}).then(() => 'read', () => 'refused'),
            fetch({target} + 'pause', {{ method: 'POST', mode: 'no-cors', body: new URLSearchParams('{form}') }}).then(() => 'sent', () => 'refused'),
        ])"
    ));
    assert_eq!(tried[0], "refused", "{tried}");
    assert!(!env.run(&["status"]).ok().contains("paused"));
}
