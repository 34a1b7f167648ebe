//! What chains state: blocks taken and undone, histories that catch up, and that it all comes out as if only the blocks
//! that count had ever been read.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod apart;
mod attributions;
mod balance_changes;
#[path = "../support/database.rs"]
mod database;
mod followers;
mod following;
mod history;
mod leases;
mod orders;
#[path = "../support/projects.rs"]
mod projects;
#[path = "../support/random.rs"]
mod random;
mod random_blocks;
mod random_words;
mod rules;
mod signed;
mod stage;
