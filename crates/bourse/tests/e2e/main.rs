//! The binary as its users meet it: started as a process, spoken to over HTTP, killed at any moment.
//!
//! `STORE` chooses the engine as in the tests of the store. Every process gets a database and a directory of its own,
//! an environment without settings and a free port, and is killed when its test ends, however it ends.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "seeds come from the environment or from the clock, tools are found there"
)]

mod administration;
mod analytics;
mod analytics_killed;
mod anvil;
mod backup;
mod backup_killed;
mod batched_calls;
mod bucket;
mod clients;
mod collections_of_a_network;
mod demo;
mod demo_on_chain;
mod demo_trades;
mod docs;
mod doctor;
mod durability;
mod durability_market;
mod durability_writers;
mod http;
mod import;
mod import_bad_lines;
mod import_killed;
mod import_memory;
mod instance;
mod known_network;
mod linked;
mod log;
mod market;
mod market_killed;
mod moving;
mod node_requests;
mod packaging;
mod primary_sale;
mod process;
mod random;
mod rates;
mod reorganisation;
mod royalties;
mod serve;
mod settings;
mod several_servers;
mod shared_collections;
mod shop;
mod subscription;
mod trade;
mod trade_money;
mod trade_several;
mod trader;
mod tried_steps;
mod upgrade;
mod venues;
