//! Sending to addresses that mean no good: what is refused at once, and what only when it is known where a name leads.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::web::{EveryNameIsHere, Server, ok};
use bourse_chain::fetch::{GetError, Poster, Rules};

/// Longer than any machine needs for what a test sends.
const TIMEOUT: Duration = Duration::from_mins(1);

#[tokio::test]
async fn where_a_name_leads_is_found_out_each_time_that_something_is_sent() {
    let inside = Server::start(|_, _| ok("secret")).await;
    let rules = Rules {
        plain_http: true,
        accept: "*/*",
        allowed_hosts: vec![format!("own.example:{}", inside.port)],
        body_bytes_max: 1,
        timeout: TIMEOUT,
        connect_timeout: TIMEOUT,
    };
    let lookup = Arc::new(EveryNameIsHere::default());
    let poster = Poster::new(rules, Arc::clone(&lookup) as _, "bourse/test").unwrap();
    // Nobody knows yet that this name is the machine's.
    let url = poster.address(&format!("http://name.example:{}/", inside.port)).unwrap();
    for count in 1..=2 {
        let refused = poster.post(&url, &[], "{}").await;
        assert_eq!(refused, Err(GetError::Refused("the host's address is of this machine".to_owned())));
        assert_eq!((lookup.0.load(Ordering::SeqCst), inside.asked()), (count, 0));
    }
    for known in ["localhost", "127.0.0.1"] {
        let refused = poster.address(&format!("http://{known}:{}/", inside.port));
        assert!(matches!(refused, Err(GetError::Refused(_))), "{known}");
    }
    let own = poster.address(&format!("http://own.example:{}/", inside.port)).unwrap();
    assert_eq!((poster.post(&own, &[], "{}").await, inside.asked()), (Ok(()), 1));
}
