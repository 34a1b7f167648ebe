//! Where a picture is that a link does not hold itself: with its host, or among the files that were uploaded to this service. Those
//! are read where they are stored, without a request to ourselves.

use std::time::Duration;

use bourse_chain::fetch::Link;
use bourse_server::{Backstage, Failure, PublicFile};

use crate::picture::Picture;
use crate::{NoPicture, PictureResult};

/// Where a picture is.
pub(crate) enum Source {
    /// Where a link leads.
    Host(Link),
    /// Here.
    Own(PublicFile),
}

impl Source {
    /// Who has to work for it; nobody else where it is here.
    pub(crate) fn host(&self) -> &str {
        match self {
            Self::Host(link) => link.host(),
            Self::Own(_) => "",
        }
    }
}

/// The file at a path of this service, as anybody finds it. It is looked for whenever somebody asks, whatever is kept: another one
/// may have been uploaded, or what it belongs to may be a draft by now.
pub(crate) async fn find_own(backstage: &Backstage, path: &str) -> Result<Source, NoPicture> {
    backstage.public_file(path).await.map(Source::Own).map_err(unusable)
}

/// The picture in such a file, within the bounds of those that hosts have.
pub(crate) async fn read_own(backstage: &Backstage, file: &PublicFile) -> PictureResult {
    let bounds = &backstage.settings().console;
    let read = backstage.public_content(file, bounds.image_bytes_max);
    let read = tokio::time::timeout(Duration::from_millis(bounds.image_timeout_ms), read).await;
    let too_slow = |_| NoPicture::TooMany;
    Picture::new(read.map_err(too_slow)?.map_err(unusable)?)
}

fn unusable(failure: Failure) -> NoPicture {
    match failure {
        Failure::Refused(error) => NoPicture::Unusable(error.to_string()),
        Failure::Storage { source, .. } | Failure::Internal(source) => {
            // Whatever keeps the store from answering is told where the store is looked after, and not with each picture.
            tracing::debug!(error = %source, "an uploaded picture cannot be read");
            NoPicture::TooMany
        }
        Failure::HeldElsewhere(_) => NoPicture::Unusable("it is not here".to_owned()),
    }
}
