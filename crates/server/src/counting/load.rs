//! From stored pieces to what is counted.

use bourse_analytics::{Chunk, Corrupt, Key, Wallets};
use bourse_store::Counts;

use super::CountingError;

/// Pieces from which on it is worth decoding them on several threads.
const THREADS_CHUNKS_MIN: usize = 256;

/// Decodes pieces: those of wallets go where they belong, the others are returned.
pub(super) async fn decode(counts: &mut Counts, wallets: &mut Wallets) -> Result<Vec<Chunk>, CountingError> {
    let mut others = Vec::with_capacity(counts.chunks.len());
    for chunk in std::mem::take(&mut counts.chunks) {
        let key = Key::from_columns(chunk.key).ok_or(Corrupt::NAME)?;
        if matches!(key, Key::Wallets { .. }) {
            wallets.load(key, &chunk.body)?;
        } else {
            others.push((key, chunk.body));
        }
    }
    if others.len() < THREADS_CHUNKS_MIN {
        return Ok(decode_all(&others)?);
    }
    // Long enough to be in the way of requests.
    let decoded = tokio::task::spawn_blocking(move || decode_on_threads(&others)).await;
    Ok(decoded.map_err(|_| CountingError::Interrupted)??)
}

fn decode_all(chunks: &[(Key, Vec<u8>)]) -> Result<Vec<Chunk>, Corrupt> {
    chunks.iter().map(|(key, body)| Chunk::decode(*key, body)).collect()
}

fn decode_on_threads(chunks: &[(Key, Vec<u8>)]) -> Result<Vec<Chunk>, Corrupt> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let parts = chunks.chunks(chunks.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || decode_all(part))).collect();
        let mut decoded = Vec::with_capacity(chunks.len());
        for part in running {
            decoded.extend(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(decoded)
    })
}
