//! What the operations share that turn orders into transactions.

pub(crate) mod creating;
mod desk;
mod input;
mod orders;
mod rehearse;
mod step;

pub(crate) use desk::{Desk, Next, VenueRequest, refused};
pub(crate) use input::{AdditionalFee, OrderData, batches, fees_of};
pub(crate) use orders::{
    ChosenOrder, FillRequest, check_holds, ids_of, not_found, over, read_chosen, read_one,
};
pub(crate) use rehearse::{ApprovalStep, ELSEWHERE, Handout, Simulation};
pub(crate) use step::{Answer, FillAnswer, Step, StepId};

/// Orders that one request may name: more would not fit into a block.
pub(crate) const ORDERS_MAX: usize = 50;
