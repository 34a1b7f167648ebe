//! What may happen.

use bourse_wire::Address;

/// Something that happens. What it is about is named, so that it can be read when a test fails.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    List(Wish),
    Offer(Wish),
    Buy {
        who: Address,
        picks: Vec<(String, u64)>,
        fees: Vec<u64>,
    },
    Sell {
        who: Address,
        pick: (String, u64),
        token: u64,
        fees: Vec<u64>,
    },
    Cancel {
        id: String,
    },
    /// All orders of somebody at once, or those of a collection.
    EndAll {
        who: Address,
        collection: Option<Address>,
    },
    /// Somebody lets the marketplace move their tokens, or does not any more.
    Approve {
        who: Address,
        collection: Address,
        is_approved: bool,
    },
    /// The same for one token.
    ApproveOne {
        token: u64,
        is_approved: bool,
    },
    /// Somebody lets the marketplace take so much of a currency.
    Allow {
        who: Address,
        currency: Address,
        amount: u64,
    },
    Give {
        from: Address,
        to: Address,
        collection: Address,
        token: u64,
        units: u64,
    },
    Pay {
        from: Address,
        to: Address,
        currency: Address,
        amount: u64,
    },
    Fund {
        who: Address,
        currency: Address,
        amount: u64,
    },
    Mint {
        who: Address,
        collection: Address,
        token: u64,
        units: u64,
    },
    Burn {
        who: Address,
        collection: Address,
        token: u64,
        units: u64,
    },
    /// A collection changes its royalty, or that of a token.
    Royalty {
        collection: Address,
        token: Option<u64>,
        bps: u64,
    },
    /// The marketplace changes what it pays for a collection that tells no royalty.
    CustomRoyalty {
        recipient: Address,
        bps: u64,
    },
    /// A collection tells no royalty any more, or does again.
    Silence {
        is_silent: bool,
    },
    /// The marketplace changes its own share.
    Fees {
        bps: u64,
    },
    /// Time passes until an order ends that is about to.
    Expire,
    Reorganise {
        depth: u64,
    },
    /// The server is killed, and started after so many blocks were replaced.
    Restart {
        depth: u64,
    },
}

impl Deed {
    /// Whether orders that were over may be open again after it.
    pub(super) fn replaces_blocks(&self) -> bool {
        matches!(self, Self::Reorganise { .. } | Self::Restart { .. })
    }
}

/// An order that somebody wants to make.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) who: Address,
    pub(super) collection: Address,
    /// None is any.
    pub(super) token: Option<u64>,
    pub(super) units: u64,
    /// Whether all of them together or none.
    pub(super) is_whole: bool,
    pub(super) currency: Address,
    pub(super) price: u64,
    /// None is the next century.
    pub(super) seconds: Option<u64>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// It is on the chain, or in the service.
    Done,
    /// The service said why not, before there was anything to send.
    Refused(String),
    /// An order ended between the answer and the chain.
    Late,
    /// There is nothing that it could be done to.
    Nothing,
}
