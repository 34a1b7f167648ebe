//! What happens without the service: on the chain, and to the server.

use alloy_primitives::{U256, Uint};
use alloy_sol_types::sol;
use bourse_wire::Address;

use super::Trader;
use super::deed::{Deed, Outcome};
use super::rules::Question;
use crate::anvil::{
    Multi, alloy_address, approveCall, burnCall, mintCall, ownerOfCall, setApprovalForAllCall,
    setDefaultRoyaltyCall, setSilentCall, setTokenRoyaltyCall, transferCall, transferFromCall,
};
use crate::instance::within;
use crate::process::WAIT_MAX;

sol! {
    interface Many {
        function burn(address from, uint256 tokenId, uint256 amount);
    }
}

/// How soon an order must end for somebody to wait for it, in seconds.
const PATIENCE: u64 = 8;

impl Trader {
    /// Has something happen that the service is not asked about.
    pub(super) fn happen(&mut self, deed: &Deed) -> Outcome {
        let market = &self.scene.stage.market;
        let anvil = &market.anvil;
        match *deed {
            Deed::EndAll { who, collection } => {
                return said(self.rules.end_all(&self.scene, who, collection));
            }
            Deed::Approve { who, collection, is_approved: approved } => {
                let operator = alloy_address(self.scene.venue.mover);
                anvil.send(who, collection, &setApprovalForAllCall { operator, approved });
            }
            Deed::ApproveOne { token, is_approved } => return self.approve_token(token, is_approved),
            Deed::Allow { who, currency, amount } => {
                let spender = alloy_address(self.scene.spender);
                // The one currency lets nobody replace an allowance by another.
                anvil.send(who, currency, &approveCall { spender, amount: U256::ZERO });
                anvil.send(who, currency, &approveCall { spender, amount: U256::from(amount) });
            }
            Deed::Pay { from, to, currency, amount } => {
                let call = transferCall { to: alloy_address(to), amount: U256::from(amount) };
                anvil.send(from, currency, &call);
            }
            Deed::Fund { who, currency, amount } => {
                let call = mintCall { to: alloy_address(who), tokenId: U256::from(amount) };
                anvil.send(who, currency, &call);
            }
            Deed::Give { .. } | Deed::Mint { .. } | Deed::Burn { .. } => self.move_tokens(deed),
            Deed::Royalty { collection, token, bps } => self.set_royalty(collection, token, bps),
            Deed::CustomRoyalty { recipient, bps } => {
                return said(self.rules.set_custom_royalty(&self.scene, recipient, bps));
            }
            Deed::Silence { is_silent } => {
                anvil.send(market.artist(), self.scene.multiples, &setSilentCall { isSilent: is_silent });
            }
            Deed::Fees { bps } => return said(self.rules.change_fees(&self.scene, bps)),
            Deed::Expire => return self.expire(),
            Deed::Reorganise { depth } => self.reorganise(depth),
            Deed::Restart { depth } => {
                self.scene.stage.market.kill();
                if depth > 0 {
                    self.reorganise(depth);
                }
                self.scene.stage.market.start();
            }
            Deed::List(_) | Deed::Offer(_) | Deed::Buy { .. } | Deed::Sell { .. } | Deed::Cancel { .. } => {
                unreachable!("the service is asked about {deed:?}")
            }
        }
        Outcome::Done
    }

    fn move_tokens(&mut self, deed: &Deed) {
        let anvil = &self.scene.stage.market.anvil;
        let (singles, multiples) = (self.scene.singles, self.scene.multiples);
        let [id, amount] = match *deed {
            Deed::Give { token, units, .. }
            | Deed::Mint { token, units, .. }
            | Deed::Burn { token, units, .. } => [token, units].map(U256::from),
            _ => unreachable!("{deed:?} moves nothing"),
        };
        match *deed {
            Deed::Give { from, to, collection, .. } if collection == singles => {
                let call = transferFromCall { from: alloy_address(from), to: alloy_address(to), tokenId: id };
                anvil.send(from, singles, &call);
            }
            Deed::Give { from, to, .. } => {
                let (raw, to) = (alloy_address(from), alloy_address(to));
                let data = alloy_primitives::Bytes::new();
                let call = Multi::safeTransferFromCall { from: raw, to, tokenId: id, amount, data };
                anvil.send(from, multiples, &call);
            }
            Deed::Mint { who, collection, .. } if collection == singles => {
                anvil.send(who, singles, &mintCall { to: alloy_address(who), tokenId: id });
                self.singles += 1;
            }
            Deed::Mint { who, .. } => {
                let call = Multi::mintCall { to: alloy_address(who), tokenId: id, amount };
                anvil.send(who, multiples, &call);
            }
            Deed::Burn { who, collection, .. } if collection == singles => {
                anvil.send(who, singles, &burnCall { tokenId: id });
            }
            Deed::Burn { who, .. } => {
                anvil.send(who, multiples, &Many::burnCall { from: alloy_address(who), tokenId: id, amount });
            }
            _ => {}
        }
    }

    /// The owner of a token lets the marketplace move that one.
    fn approve_token(&self, token: u64, is_approved: bool) -> Outcome {
        let question = Question::new(self.scene.singles, &ownerOfCall { tokenId: U256::from(token) });
        // One that was burnt, or that the chain took back, is nobody's.
        if self.scene.ask(&[question])[0].is_none() {
            return Outcome::Nothing;
        }
        let anvil = &self.scene.stage.market.anvil;
        let owner = anvil.ask(self.scene.singles, &ownerOfCall { tokenId: U256::from(token) });
        let owner = Address::from_bytes(owner.into_array());
        let spender = if is_approved { self.scene.venue.mover } else { Address::ZERO };
        let call = approveCall { spender: alloy_address(spender), amount: U256::from(token) };
        anvil.send(owner, self.scene.singles, &call);
        Outcome::Done
    }

    fn set_royalty(&self, collection: Address, token: Option<u64>, bps: u64) {
        let market = &self.scene.stage.market;
        let (recipient, fee) = (alloy_address(market.artist()), Uint::from(bps));
        match token {
            Some(token) => {
                let call = setTokenRoyaltyCall { tokenId: U256::from(token), recipient, fee };
                market.anvil.send(market.artist(), collection, &call);
            }
            None => {
                market.anvil.send(market.artist(), collection, &setDefaultRoyaltyCall { recipient, fee });
            }
        }
    }

    /// Waits for the end of an order, when one is about to end. The clock of the service is that of the machine, as is the
    /// node's: neither can be put forward alone.
    fn expire(&self) -> Outcome {
        let now = super::now();
        let active =
            self.orders.iter().filter(|order| self.seen.get(&order.id).is_some_and(super::Ours::is_active));
        let ends = active.map(|order| order.expiry).filter(|end| *end > now && *end <= now + PATIENCE);
        let Some(end) = ends.min() else { return Outcome::Nothing };
        within(WAIT_MAX, "an order ends", || super::now() >= end);
        Outcome::Done
    }

    /// Replaces blocks by others, and makes one more, so that the server is seen to have followed.
    fn reorganise(&mut self, depth: u64) {
        let anvil = &self.scene.stage.market.anvil;
        anvil.reorganise(depth);
        anvil.mine(1);
        self.forget_logs();
    }
}

/// Whether there was such a thing.
fn said(is_there: bool) -> Outcome {
    if is_there { Outcome::Done } else { Outcome::Nothing }
}
