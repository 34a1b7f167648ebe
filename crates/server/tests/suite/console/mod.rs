//! The console, page by page, without a browser's engine.

mod analytics;
mod audiences;
mod browser;
mod collections;
mod explorer;
mod hosted;
mod networks;
mod usage;
