//! Fetching from hosts that mean no good: where they lead, how much they send, how long they take.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::web::{EveryNameIsHere, Reply, Server, answer, ok, redirect};
use bourse_chain::fetch::{GetError, Getter, Rules};

const BODY_BYTES_MAX: usize = 100_000;
/// Longer than any machine needs for what a test fetches.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How long hosts are waited for that never come to an end.
const TIMEOUT_SHORT: Duration = Duration::from_millis(300);

/// Rules by which only this server may be asked, among those that are not public. Plain addresses are followed, so that
/// nothing is refused for that alone.
fn rules(allowed: &Server) -> Rules {
    Rules {
        plain_http: true,
        accept: "application/json, */*;q=0.5",
        allowed_hosts: vec![format!("127.0.0.1:{}", allowed.port)],
        body_bytes_max: BODY_BYTES_MAX,
        timeout: TIMEOUT,
        connect_timeout: TIMEOUT,
    }
}

async fn get_with(rules: Rules, url: &str) -> Result<Vec<u8>, GetError> {
    let getter = Getter::new(rules, Arc::new(EveryNameIsHere::default())).unwrap();
    getter.get(url.parse().unwrap()).await
}

async fn get(server: &Server, path: &str) -> Result<Vec<u8>, GetError> {
    get_with(rules(server), &format!("http://127.0.0.1:{}{path}", server.port)).await
}

fn is_refused(result: &Result<Vec<u8>, GetError>) -> bool {
    matches!(result, Err(GetError::Refused(_)))
}

#[tokio::test]
async fn what_is_there_comes_whatever_its_type_says() {
    let server = Server::start(|_, _| ok("hello")).await;
    assert_eq!(get(&server, "/").await.unwrap(), b"hello");
}

#[tokio::test]
async fn no_redirect_leads_to_where_one_may_not_go() {
    let inside = Server::start(|_, _| ok("secret")).await;
    let port = inside.port;
    let targets = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://localhost.:{port}/"),
        format!("http://anything.example:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://017700000001:{port}/"),
        format!("http://0177.0.0.1:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://127.0.0.1.:{port}/"),
        format!("http://①②⑦.⓪.⓪.①:{port}/"),
        format!("http://0:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[::ffff:7f00:1]:{port}/"),
        format!("http://[::127.0.0.1]:{port}/"),
        format!("http://[64:ff9b::7f00:1]:{port}/"),
        format!("http://[2002:7f00:1::]:{port}/"),
        format!("http://[::]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[fe80::1]/".to_owned(),
        "http://10.1.2.3/".to_owned(),
        "http://100.64.0.1/".to_owned(),
        format!("//127.0.0.1:{port}/"),
        format!(r"http://public.example:80\@127.0.0.1:{port}/"),
        format!("http://public.example@127.0.0.1:{port}/"),
        format!("http://public.example:80@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}#@public.example/"),
        "https://user:secret@public.example/".to_owned(),
        "https://public.example:22/".to_owned(),
        "http://public.example:25/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "ftp://public.example/".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
        "http://".to_owned(),
        "http://[::1".to_owned(),
    ];
    for target in targets {
        let to = target.clone();
        let server = Server::start(move |_, _| answer_raw_redirect(&to)).await;
        let result = get(&server, "/").await;
        assert!(is_refused(&result), "{target}: {result:?}");
        assert_eq!((server.asked(), inside.asked()), (1, 0), "{target}");
    }
}

/// A redirect with exactly these bytes.
fn answer_raw_redirect(to: &str) -> Reply {
    Reply::Bytes(
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .into_bytes(),
    )
}

#[tokio::test]
async fn the_same_addresses_are_refused_when_the_link_itself_names_them() {
    let inside = Server::start(|_, _| ok("secret")).await;
    let other = Server::start(|_, _| ok("allowed")).await;
    for host in ["127.0.0.1", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "name.example", "a@127.0.0.1"] {
        let result = get_with(rules(&other), &format!("http://{host}:{}/", inside.port)).await;
        assert!(is_refused(&result), "{host}: {result:?}");
    }
    let name = format!("http://u:p@127.0.0.1:{}/", other.port);
    assert!(is_refused(&get_with(rules(&other), &name).await), "not even where one may go");
    assert_eq!((inside.asked(), other.asked()), (0, 0));
}

#[tokio::test]
async fn every_hop_is_looked_up_once() {
    let server = Server::start(|path, _| if path == "/" { redirect("/there") } else { ok("here") }).await;
    let lookup = Arc::new(EveryNameIsHere::default());
    let allowed = Rules { allowed_hosts: vec![format!("name.example:{}", server.port)], ..rules(&server) };
    let getter = Getter::new(allowed, Arc::clone(&lookup) as _).unwrap();
    let url = format!("http://name.example:{}/", server.port).parse().unwrap();
    assert_eq!(getter.get(url).await.unwrap(), b"here");
    assert_eq!(lookup.0.load(Ordering::SeqCst), 2, "one connection, and one lookup, for each hop");
    let other = format!("http://name.example:{}/", server.port ^ 1).parse().unwrap();
    assert!(is_refused(&getter.get(other).await), "the same name, but not with that port");
}

#[tokio::test]
async fn plain_addresses_are_refused_unless_allowed() {
    let server = Server::start(|_, _| ok("x")).await;
    let strict = Rules { plain_http: false, ..rules(&server) };
    assert!(is_refused(&get_with(strict.clone(), "http://public.example/").await));
    let allowed = format!("http://127.0.0.1:{}/", server.port);
    assert!(get_with(strict, &allowed).await.is_ok());
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::start(|_, _| redirect("/again")).await;
    assert_eq!(get(&server, "/").await, Err(GetError::Redirects));
    assert_eq!(server.asked(), 6);
    let few = Server::start(|_, count| if count < 5 { redirect("/again") } else { ok("x") }).await;
    assert!(get(&few, "/").await.is_ok());
    let nowhere = Server::start(|_, _| answer("302 Found", &[], b"")).await;
    assert!(is_refused(&get(&nowhere, "/").await));
}

#[tokio::test]
async fn a_body_ends_at_the_limit() {
    let too_large = Err(GetError::TooLarge { bytes_max: BODY_BYTES_MAX });
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n".to_vec();
    for head in [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), chunked] {
        let endless = Server::start(move |_, _| Reply::Endless(head.clone())).await;
        assert_eq!(get(&endless, "/").await, too_large);
    }
    let claimed = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec();
    let claims = Server::start(move |_, _| Reply::Drip(claimed.clone())).await;
    let began = Instant::now();
    assert_eq!(get(&claims, "/").await, too_large);
    assert!(began.elapsed() < TIMEOUT, "refused before anything came");
    let exact = Server::start(|_, _| ok(&"x".repeat(BODY_BYTES_MAX))).await;
    assert_eq!(get(&exact, "/").await.unwrap().len(), BODY_BYTES_MAX);
}

#[tokio::test]
async fn time_ends_whatever_comes() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let servers = [
        Server::start(move |_, _| Reply::Drip(head.clone())).await,
        Server::start(|_, _| Reply::Drip(b"HTTP/1.1 200 OK\r\nX: ".to_vec())).await,
        Server::start(|_, _| Reply::Silence).await,
    ];
    for server in servers {
        let began = Instant::now();
        let rules = Rules { timeout: TIMEOUT_SHORT, ..rules(&server) };
        let got = get_with(rules, &format!("http://127.0.0.1:{}/", server.port)).await;
        assert_eq!(got, Err(GetError::TooSlow(TIMEOUT_SHORT)));
        assert!(began.elapsed() >= TIMEOUT_SHORT, "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn compressed_bodies_count_as_what_they_become() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let serve = async |encoding: &'static str, body: Vec<u8>| {
        Server::start(move |_, _| answer("200 OK", &[("Content-Encoding", encoding)], &body)).await
    };
    let bomb = gzip(&vec![0; 50_000_000]);
    assert!(bomb.len() < BODY_BYTES_MAX);
    let result = get(&serve("gzip", bomb.clone()).await, "/").await;
    assert_eq!(result, Err(GetError::TooLarge { bytes_max: BODY_BYTES_MAX }));
    assert_eq!(get(&serve("gzip", gzip(b"{}")).await, "/").await.unwrap(), b"{}");
    for (encoding, body) in [
        ("br", b"\x0b\x02\x80hello\x03".to_vec()),
        ("gzip, gzip", bomb.clone()),
        ("deflate", b"x".to_vec()),
        ("zstd", b"x".to_vec()),
        ("gzip", b"not gzip".to_vec()),
        ("gzip", bomb[..bomb.len() / 2].to_vec()),
    ] {
        let result = get(&serve(encoding, body).await, "/").await;
        let is_right = matches!(result, Err(GetError::Encoding(_) | GetError::TooLarge { .. }));
        assert!(is_right, "{encoding}: {result:?}");
    }
}

#[tokio::test]
async fn a_host_says_how_long_it_wants_to_be_left_alone() {
    let server = Server::start(|path, _| match path {
        "/busy" => answer("429 Too Many Requests", &[("Retry-After", "7")], b""),
        "/gone" => answer("404 Not Found", &[], b"{}"),
        _ => Reply::Bytes(b"nonsense\r\n\r\n".to_vec()),
    })
    .await;
    let busy = get(&server, "/busy").await.unwrap_err();
    assert_eq!(busy.retry_after(), Some(Duration::from_secs(7)));
    assert!(busy.is_of_host() && !busy.is_lasting());
    let gone = get(&server, "/gone").await.unwrap_err();
    assert_eq!(gone, GetError::Status { status: 404, retry_after: None });
    assert!(!gone.is_of_host() && !gone.is_lasting(), "it may come to be there");
    let nonsense = get(&server, "/").await.unwrap_err();
    assert!(matches!(nonsense, GetError::Unreachable(_)), "{nonsense:?}");
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_not_asked() {
    let proxy = Server::start(|_, _| ok("proxied")).await;
    let server = Server::start(|_, _| ok("direct")).await;
    let program = std::env::current_exe().unwrap();
    // Another process, as the environment belongs to the whole of this one.
    let mut command = std::process::Command::new(program);
    command.args(["--exact", "get::asked_through_a_proxy", "--ignored"]);
    for variable in ["http_proxy", "HTTP_PROXY", "ALL_PROXY"] {
        command.env(variable, format!("http://127.0.0.1:{}", proxy.port));
    }
    command.env("FETCH_FROM_PORT", server.port.to_string());
    let child = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert_eq!((server.asked(), proxy.asked()), (1, 0));
}

#[tokio::test]
#[ignore = "run by a_proxy_of_the_environment_is_not_asked, with an environment of its own"]
async fn asked_through_a_proxy() {
    let port = std::env::var("FETCH_FROM_PORT").unwrap();
    let rules = Rules {
        plain_http: true,
        accept: "application/json, */*;q=0.5",
        allowed_hosts: vec!["127.0.0.1".to_owned()],
        body_bytes_max: BODY_BYTES_MAX,
        timeout: TIMEOUT,
        connect_timeout: TIMEOUT,
    };
    assert_eq!(get_with(rules, &format!("http://127.0.0.1:{port}/")).await.unwrap(), b"direct");
}
