//! From stored pieces to what is counted.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bourse_analytics::{Chunk, Corrupt, Key, Wallets};
use bourse_budget::{Refused, Share};
use bourse_store::{ChunkKey, Counts, Mark, ProjectScope, Store};

use super::CountingError;

/// Pieces from which on decoding them is left to another thread.
const BLOCKING_CHUNKS_MIN: usize = 256;

/// Reads everything of one kind, with the version that it is of. The share grows by what it takes.
pub(super) async fn read_all(
    store: &Store,
    scope: ProjectScope,
    kind: u8,
    share: &Arc<Share>,
) -> Result<(Mark, Vec<Chunk>), CountingError> {
    let (share, refused) = (Arc::clone(share), OnceLock::<Refused>::new());
    let decode = move |key: ChunkKey, body: &[u8]| {
        // The rest is read for nothing, but takes no memory.
        if let Some(refused) = refused.get() {
            return Err(CountingError::from(*refused));
        }
        let chunk = decode(key, body)?;
        share.take(chunk.bytes()).map_err(|why| *refused.get_or_init(|| why))?;
        Ok(chunk)
    };
    let (mark, chunks) = store.all_counts(scope, kind, decode).await?;
    Ok((mark, chunks.into_iter().collect::<Result<_, _>>()?))
}

/// Reads all wallets, with the version that they are of. Each piece is put in where it is read, so that they are never in
/// memory twice.
pub(super) async fn read_wallets(
    store: &Store,
    scope: ProjectScope,
    share: &Share,
) -> Result<(Mark, Wallets), CountingError> {
    let stored = store.counts_bytes(scope, vec![Key::WALLETS], false).await?;
    let stored = usize::try_from(stored).unwrap_or(usize::MAX);
    share.take(stored)?;
    let wallets = Arc::new(Mutex::new(Wallets::for_stored(stored)));
    let all = Arc::clone(&wallets);
    let load = move |key: ChunkKey, body: &[u8]| {
        let key = Key::from_columns(key).ok_or(Corrupt::NAME)?;
        all.lock().unwrap_or_else(PoisonError::into_inner).load(key, body)
    };
    let (mark, loaded) = store.all_counts(scope, Key::WALLETS, load).await?;
    loaded.into_iter().collect::<Result<(), Corrupt>>()?;
    Ok((mark, std::mem::take(&mut *wallets.lock().unwrap_or_else(PoisonError::into_inner))))
}

fn decode(key: ChunkKey, body: &[u8]) -> Result<Chunk, Corrupt> {
    Chunk::decode(Key::from_columns(key).ok_or(Corrupt::NAME)?, body)
}

/// Decodes pieces: those of wallets go where they belong, the others are returned.
pub(super) async fn decode_all(
    counts: &mut Counts,
    wallets: &mut Wallets,
) -> Result<Vec<Chunk>, CountingError> {
    let is_wallets = |chunk: &mut bourse_store::Chunk| chunk.key.0 == Key::WALLETS;
    for chunk in counts.chunks.extract_if(.., is_wallets) {
        wallets.load(Key::from_columns(chunk.key).ok_or(Corrupt::NAME)?, &chunk.body)?;
    }
    let others = std::mem::take(&mut counts.chunks);
    let are_many = others.len() >= BLOCKING_CHUNKS_MIN;
    let decode = move || others.iter().map(|chunk| decode(chunk.key, &chunk.body)).collect();
    let decoded: Result<Vec<Chunk>, Corrupt> = if are_many {
        // Long enough to be in the way of requests.
        tokio::task::spawn_blocking(decode).await.map_err(|_| CountingError::Interrupted)?
    } else {
        decode()
    };
    Ok(decoded?)
}
