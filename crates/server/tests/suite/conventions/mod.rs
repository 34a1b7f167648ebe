//! What holds for every operation.

mod bounds;
mod browsers;
mod input;
mod limits;
mod metering;
mod pages;
mod shape;
