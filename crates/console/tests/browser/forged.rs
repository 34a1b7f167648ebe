//! What other sites' pages and other people's browsers try.

use std::io::Write as _;
use std::net::TcpListener;

use crate::browser::Browser;
use crate::http::Exchange;
use crate::service::on_sqlite;
use crate::site::Site;

/// Answers one request with a page of another site.
fn other_site(page: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(8) {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = std::io::Read::read(&mut stream, &mut request);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
            let _ = write!(stream, "{head}content-length: {}\r\n\r\n{page}", page.len());
        }
    });
    port
}

#[test]
fn a_form_of_another_site_is_refused() {
    let Some(site) = on_sqlite() else { return };
    let browser = site.administrator();
    let project = site.create_project(&browser, "Harbour");
    // Even with the right word in it, which another site cannot know.
    let word = browser.run("return document.querySelector('[name=form_token]').value");
    let action = site.url(&format!("{project}/rename"));
    for word in [word.as_str().unwrap(), "wrong", ""] {
        let port = other_site(format!(
            "<form method=post action='{action}'><input name=form_token value='{word}'><input name=name value=Stolen>\
            </form><script>document.forms[0].submit()</script>"
        ));
        browser.go(&format!("http://localhost:{port}/"));
        browser.wait_for("o");
        browser.go(&site.url(&project));
        assert_eq!(browser.text_of("h1"), "Harbour");
    }
    // The console does not show itself in another site's frame.
    let port = other_site(format!("<p>frame</p><iframe src='{}'></iframe>", site.url("/console/sign-in")));
    browser.go(&format!("http://127.0.0.1:{port}/"));
    let shown = browser.run(
        "try { return document.querySelector('iframe').contentDocument?.body?.innerText ?? 'blocked' } catch { return 'blocked' }",
    );
    assert!(!shown.as_str().unwrap().contains("Password"), "{shown}");
}

/// The status of the projects' page for whoever has this cookie.
fn status_with(site: &Site, cookie: &str) -> u16 {
    let mut exchange = Exchange::open(site.port).unwrap();
    let request = format!(
        "GET /console/projects HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncookie: bourse_console={cookie}\r\n\r\n"
    );
    exchange.send(&request).unwrap();
    exchange.answer().unwrap().status
}

#[test]
fn a_session_that_somebody_else_chose_is_worth_nothing() {
    let Some(site) = on_sqlite() else { return };
    let browser = Browser::open();
    browser.go(&site.first_link);
    let before = browser.cookie("bourse_console_guest").unwrap();
    // Somebody who can set cookies makes the guest's a session's, and knows it.
    browser.run(&format!("document.cookie = 'bourse_console={before}; path=/console'"));
    Site::join(&browser, &site.first_link, "administrator@example.com");
    let after = browser.cookie("bourse_console").unwrap();
    assert_ne!(before, after, "signing in makes a new session");
    assert_eq!((status_with(&site, &before), status_with(&site, &after)), (303, 200));
    Site::sign_out(&browser);
    assert_eq!(status_with(&site, &after), 303, "it ended with signing out");
}
