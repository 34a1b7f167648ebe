//! The allocator of the binary. It is a crate of its own because every request goes through it, and the binary's own
//! crate is not optimised when it is built to be tried.

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;
