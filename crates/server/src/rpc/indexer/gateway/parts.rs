//! Answers of several chains, each with its own page.

use std::collections::BTreeMap;
use std::future::Future;

use bourse_wire::ChainId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PagePlan};
use crate::rpc::indexer::rows::separate;
use crate::rpc::indexer::walk::Effort;

/// Places on the chains that have more.
pub(super) type Places<P> = BTreeMap<u64, P>;

/// What is asked of each chain.
pub(super) trait OfEachChain: Sync {
    /// A place in what a chain answers.
    type Place: Clone + Serialize + DeserializeOwned + Send + Sync;

    /// Appends what a chain answers, as the members of its part: so many results at most, from where the page begins. Tells where
    /// the next page begins when there is one. The effort is that of the whole call.
    fn write(
        &self,
        call: &Call,
        chain: ChainId,
        page: (&Begin<Self::Place>, usize),
        part: (&mut Vec<u8>, &mut Effort),
    ) -> impl Future<Output = Result<Option<Self::Place>, Failure>> + Send;
}

/// Appends the part of each chain as a JSON array, and the page. What one chain refuses keeps nobody from what the others
/// answer.
pub(super) async fn write_parts<A: OfEachChain>(
    call: &Call,
    chains: &[ChainId],
    asked: &A,
    page: &PagePlan<Places<A::Place>>,
    answer: &mut Vec<u8>,
) -> Result<(), Failure> {
    answer.push(b'[');
    let (first, mut next, mut effort) = (answer.len(), Places::new(), Effort::of(call));
    for chain in chains {
        let begin = match &page.begin {
            Begin::Skip(count) => Begin::Skip(*count),
            Begin::After(places) => match places.get(&chain.0) {
                Some(place) => Begin::After(place.clone()),
                None => continue,
            },
        };
        separate(answer, first);
        let mut part = Vec::new();
        match asked.write(call, *chain, (&begin, page.limit()), (&mut part, &mut effort)).await {
            Ok(more) => {
                next.extend(more.map(|place| (chain.0, place)));
                answer.extend_from_slice(format!(r#"{{"chainId":{chain},"#).as_bytes());
                answer.append(&mut part);
            }
            Err(Failure::Refused(error)) => {
                answer.extend_from_slice(format!(r#"{{"chainId":{chain},"errorReason":"#).as_bytes());
                serde_json::to_writer(&mut *answer, &error.message)?;
                answer.extend_from_slice(b",\"results\":[]");
            }
            Err(failure) => return Err(failure),
        }
        answer.push(b'}');
    }
    answer.push(b']');
    Ok(page.write(answer, Some(next).filter(|next| !next.is_empty()))?)
}
