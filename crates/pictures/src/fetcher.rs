//! Fetching pictures from their hosts.

use std::sync::Arc;
use std::time::Duration;

use bourse_chain::fetch::{Gateways, Getter, Link, Rules, SystemLookup};
use bourse_server::settings::Settings;

use crate::picture::Picture;
use crate::{NoPicture, PictureResult};

/// What hosts are asked for: what small copies are made of, first.
const ACCEPT: &str = "image/webp, image/png, image/jpeg, image/gif, image/svg+xml, */*;q=0.5";

/// What it takes to fetch.
pub(crate) struct Fetcher {
    getter: Getter,
    gateways: Gateways,
    timeout: Duration,
}

impl Fetcher {
    pub(crate) fn new(settings: &Settings) -> Option<Self> {
        let timeout = Duration::from_millis(settings.console.image_timeout_ms);
        let fetch = settings.metadata.fetch().ok()?;
        let rules = Rules {
            accept: ACCEPT,
            body_bytes_max: settings.console.image_bytes_max,
            timeout,
            ..fetch.rules
        };
        match Getter::new(rules, Arc::new(SystemLookup)) {
            Ok(getter) => Some(Self { getter, gateways: fetch.gateways, timeout }),
            Err(error) => {
                tracing::error!(%error, "pictures cannot be fetched");
                None
            }
        }
    }

    /// The first picture among the addresses of a link.
    pub(crate) async fn fetch(&self, link: Link) -> PictureResult {
        let work = async {
            let mut reason = "the link leads nowhere".to_owned();
            for url in link.urls(&self.gateways) {
                match self.getter.get(url).await {
                    Ok(content) => return Picture::new(content),
                    Err(error) => reason = error.to_string(),
                }
            }
            Err(NoPicture::Unusable(reason))
        };
        let too_slow = || Err(NoPicture::Unusable("it took too long".to_owned()));
        tokio::time::timeout(self.timeout, work).await.unwrap_or_else(|_| too_slow())
    }
}
