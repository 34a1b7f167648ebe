//! The HTTP service: routes, credentials, limits, one file per operation.
