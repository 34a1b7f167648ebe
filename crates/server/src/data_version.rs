//! What a write answers with so that other servers can be told to answer with no less: the header `Data-Version`, which names
//! the versions of the collections that were written.
//!
//! It is sealed with the secret that all servers of an installation share, so that nobody can name a version that was never
//! committed: whatever is named is stored, and to be had by reading once.

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bourse_store::{CollectionKey, Mark};
use bourse_wire::{Address, ChainId, Code, Error};

use crate::auth::{SEAL_BYTES, TokenSigner};

/// The versions that were written, in an answer; the versions to be read at least, in a request.
pub(crate) const DATA_VERSION: HeaderName = HeaderName::from_static("data-version");

/// Collections of which versions are named at most.
const COLLECTIONS_MAX: usize = 32;
/// Chain, address, version and stamp.
const ENTRY_BYTES: usize = 8 + 20 + 8 + 8;

type Written = (CollectionKey, Mark);

/// The versions that a request has committed.
#[derive(Default)]
pub(crate) struct WrittenVersions(Mutex<Vec<Written>>);

impl WrittenVersions {
    pub(crate) fn note(&self, collection: CollectionKey, mark: Mark) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((collection, mark));
    }

    /// The header; `None` where nothing was written, or more collections than it can name.
    pub(crate) fn header(&self, signer: &TokenSigner) -> Option<HeaderValue> {
        let written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if written.is_empty() || written.len() > COLLECTIONS_MAX {
            return None;
        }
        let mut bytes: Vec<u8> = written.iter().flat_map(entry).collect();
        bytes.extend(signer.seal(&bytes));
        HeaderValue::try_from(URL_SAFE_NO_PAD.encode(bytes)).ok()
    }
}

fn entry((collection, mark): &Written) -> impl Iterator<Item = u8> {
    let chain = collection.chain.0.to_be_bytes();
    let [version, stamp] = [mark.version, mark.stamp].map(u64::to_be_bytes);
    chain.into_iter().chain(*collection.address.bytes()).chain(version).chain(stamp)
}

/// The versions that a request wants to read at least. It may send back what several writes were answered with, in several
/// headers or between commas.
pub(crate) fn wanted(headers: &HeaderMap, signer: &TokenSigner) -> Result<Vec<Written>, Error> {
    let mut wanted = Vec::new();
    for header in headers.get_all(DATA_VERSION) {
        for text in header.to_str().map_err(|_| unreadable())?.split(',') {
            wanted.extend(read(text.trim(), signer).ok_or_else(unreadable)?);
            if wanted.len() > COLLECTIONS_MAX {
                let message =
                    format!("the Data-Version header names more than {COLLECTIONS_MAX} collections");
                return Err(Error::new(Code::BadRequest, message));
            }
        }
    }
    Ok(wanted)
}

fn unreadable() -> Error {
    let message = "the Data-Version header is not one that this service gave out: send back what writes were answered with, \
                   or leave it out";
    Error::new(Code::BadRequest, message)
}

fn read(text: &str, signer: &TokenSigner) -> Option<Vec<Written>> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (bytes, seal) = bytes.split_last_chunk::<SEAL_BYTES>()?;
    let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    if !rest.is_empty() || !signer.is_sealed(bytes, seal) {
        return None;
    }
    entries.iter().map(|entry| read_entry(entry)).collect()
}

fn read_entry(mut entry: &[u8]) -> Option<Written> {
    let (chain, address) = (number(&mut entry)?, *entry.split_first_chunk::<20>()?.0);
    entry = entry.get(address.len()..)?;
    let (version, stamp) = (number(&mut entry)?, number(&mut entry)?);
    let collection = CollectionKey { chain: ChainId(chain), address: Address::from_bytes(address) };
    Some((collection, Mark { version, stamp }))
}

fn number(entry: &mut &[u8]) -> Option<u64> {
    let (first, rest) = entry.split_first_chunk()?;
    *entry = rest;
    Some(u64::from_be_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(number: u8) -> Written {
        let collection = CollectionKey { chain: ChainId(137), address: Address::from_bytes([number; 20]) };
        (collection, Mark { version: u64::from(number) << 40, stamp: u64::MAX - u64::from(number) })
    }

    fn header(numbers: impl IntoIterator<Item = u8>, signer: &TokenSigner) -> Option<HeaderValue> {
        let all = WrittenVersions::default();
        for (collection, mark) in numbers.into_iter().map(written) {
            all.note(collection, mark);
        }
        all.header(signer)
    }

    fn headers(values: &[HeaderValue]) -> HeaderMap {
        values.iter().map(|value| (DATA_VERSION, value.clone())).collect()
    }

    #[test]
    fn what_was_written_comes_back() {
        let signer = TokenSigner::new(&[7; 32]);
        let [one, two] = [header([1, 2], &signer).unwrap(), header([3], &signer).unwrap()];
        let all: Vec<Written> = [1, 2, 3].map(written).to_vec();
        assert_eq!(wanted(&headers(&[one.clone(), two.clone()]), &signer).unwrap(), all);
        let joined = format!("{}, {}", one.to_str().unwrap(), two.to_str().unwrap());
        assert_eq!(wanted(&headers(&[joined.parse().unwrap()]), &signer).unwrap(), all);
        assert_eq!(wanted(&HeaderMap::new(), &signer).unwrap(), []);
    }

    #[test]
    fn a_header_names_so_many_collections_and_no_more() {
        let signer = TokenSigner::new(&[7; 32]);
        assert_eq!(header([], &signer), None);
        let most = header(0..32, &signer).unwrap();
        assert!(most.len() < 2_000, "{} bytes", most.len());
        assert_eq!(wanted(&headers(std::slice::from_ref(&most)), &signer).unwrap().len(), 32);
        assert_eq!(header(0..33, &signer), None);
        let refused = wanted(&headers(&[most, header([40], &signer).unwrap()]), &signer).unwrap_err();
        assert!(refused.message.contains("more than 32"), "{}", refused.message);
    }

    #[test]
    fn what_no_server_gave_out_is_refused() {
        let signer = TokenSigner::new(&[7; 32]);
        let good = header([1], &signer).unwrap().to_str().unwrap().to_owned();
        let is_refused = |text: &str| {
            let refused = wanted(&headers(&[HeaderValue::from_bytes(text.as_bytes()).unwrap()]), &signer);
            refused.is_err_and(|error| error.code == Code::BadRequest)
        };
        assert!(!is_refused(&good));
        for place in 0..good.len() {
            let mut other = good.clone();
            let letter = if &good[place..=place] == "A" { "Q" } else { "A" };
            other.replace_range(place..=place, letter);
            assert!(is_refused(&other), "{other}");
        }
        let truncated = &good[..good.len() - 4];
        let nothing = URL_SAFE_NO_PAD.encode([0; SEAL_BYTES]);
        for text in ["", "1", "é", "not base64!", truncated, &nothing, &format!("{good},")] {
            assert!(is_refused(text), "{text}");
        }
        let elsewhere = header([1], &TokenSigner::new(&[8; 32])).unwrap();
        assert!(is_refused(elsewhere.to_str().unwrap()));
    }
}
