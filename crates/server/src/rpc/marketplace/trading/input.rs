//! Members that several requests have.

use bourse_protocols::{FeeSize, RequestedFee};
use bourse_wire::{Address, Amount, BPS_WHOLE, Error, ServiceName, Text, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

/// How much of which order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OrderDataInput")]
pub(crate) struct OrderData {
    /// The marketplace's own name for the order.
    pub(crate) order_id: Text<256>,
    /// How many units of it.
    pub(crate) quantity: Amount,
    /// The token, to make sure that the order is for it.
    pub(crate) token_id: Option<TokenId>,
}

/// A share for somebody else.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AdditionalFeeInput")]
pub(crate) struct AdditionalFee {
    /// How much, in basis points of the whole price: at most 10000.
    amount: Option<Amount>,
    /// How much, in base units of the currency: in place of `amount`.
    amount_in_base_units: Option<Amount>,
    /// Who gets it.
    receiver: Address,
}

/// The fees as the protocols take them.
pub(crate) fn fees_of(given: Option<Vec<AdditionalFee>>) -> Result<Vec<RequestedFee>, Error> {
    let given = given.unwrap_or_default();
    given.iter().enumerate().map(|(index, fee)| fee.read(index)).collect()
}

impl AdditionalFee {
    /// An amount never means two things: what is large is no amount of the currency by itself.
    fn read(&self, index: usize) -> Result<RequestedFee, Error> {
        let refuse = |reason: String| Err(Error::invalid(&format!("additionalFees[{index}].amount"), reason));
        let size = match (self.amount, self.amount_in_base_units) {
            (Some(_), Some(_)) => return refuse("cannot be together with `amountInBaseUnits`".to_owned()),
            (None, None) => return refuse("is required".to_owned()),
            (None, Some(units)) => FeeSize::Units(units),
            (Some(amount), None) => match u64::try_from(amount.value()) {
                Ok(bps) if bps <= BPS_WHOLE => FeeSize::Bps(bps),
                _ => {
                    return refuse(format!(
                        "{amount} basis points where {BPS_WHOLE} are the whole price: an amount of the currency \
                         goes into `amountInBaseUnits`"
                    ));
                }
            },
        };
        Ok(RequestedFee { size, receiver: self.receiver })
    }
}

/// Whether a wallet is of the kind that makes approvals by itself, in the same transaction. A word that is no kind of
/// wallet is refused: approvals would be asked for that nobody wants, or left out that somebody needs.
pub(crate) fn batches(wallet: Option<&Text<64>>, service: &ServiceName) -> Result<bool, Error> {
    match wallet.map(Text::as_str) {
        None | Some("unknown") => Ok(false),
        Some("sequence" | "service") => Ok(true),
        Some(word) if word == service.as_str() => Ok(true),
        Some(word) => {
            let own = Some(service.as_str()).filter(|own| *own != "sequence");
            let own = own.map_or_else(String::new, |own| format!(", {own}"));
            let reason = format!("`{word}` is none of unknown, service, sequence{own}");
            Err(Error::invalid("walletType", reason))
        }
    }
}
