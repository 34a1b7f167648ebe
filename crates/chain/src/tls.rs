//! How connections to others are encrypted.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, Error, RootCertStore};

/// A configuration that trusts whom the machine trusts, read once.
pub fn config() -> Result<ClientConfig, Error> {
    static CONFIG: OnceLock<Result<ClientConfig, Error>> = OnceLock::new();
    CONFIG.get_or_init(load).clone()
}

fn load() -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, ignored) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        // Not an error: nodes and metadata may be reached without encryption.
        tracing::warn!(ignored, errors = ?found.errors, "found no certificates to trust; https will fail");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
