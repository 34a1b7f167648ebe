//! Callers who go away.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Goes on with something so many times, and says whether it came to its end.
pub async fn given_up_after(polls: u32, work: impl Future) -> bool {
    let mut work = pin!(work);
    let mut left = polls;
    poll_fn(|context| {
        if work.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        left = left.saturating_sub(1);
        if left == 0 { Poll::Ready(false) } else { Poll::Pending }
    })
    .await
}
