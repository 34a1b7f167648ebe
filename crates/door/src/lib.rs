//! Connections at the front door: who has a place, what each of them is doing as far as time is concerned, and what nobody
//! reads of the bodies that they send. Who is taken in, and what is served, is for others to say.

mod activity;
mod guests;
mod unread;

pub use activity::{Activity, NotedBody, NotedStream, Overdue, Patience, Stopwatch, TICK, ticks};
pub use guests::{Capacity, Full, Guests, Place};
pub use unread::Unread;
