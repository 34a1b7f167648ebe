//! Enumerations of the interface, with the small number each is stored as.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The service's own name (`service.name`), which appears in some enum values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceName(String);

impl ServiceName {
    /// The name as configured.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What follows the service's name in an enum value; the literal word `service` stands for any name.
    fn strip<'a>(&self, word: &'a str) -> Option<&'a str> {
        word.strip_prefix(self.0.as_str()).or_else(|| word.strip_prefix("service"))
    }
}

/// Declares [`Marketplace`]: every value with its word, in the order of the numbers that they are stored as.
macro_rules! marketplaces {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// A marketplace whose orders we keep.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Marketplace {
            $($(#[$doc])* $variant,)*
        }

        impl Marketplace {
            /// Every marketplace, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its word; of the service's own two only the ending.
            fn ending(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

marketplaces! {
    /// Not known.
    Unknown = "unknown",
    /// The service's own first contract.
    OwnV1 = "_marketplace_v1",
    /// The service's own second contract.
    OwnV2 = "_marketplace_v2",
    /// Blur.
    Blur = "blur",
    /// 0x.
    Zerox = "zerox",
    /// OpenSea.
    Opensea = "opensea",
    /// LooksRare.
    LooksRare = "looks_rare",
    /// X2Y2.
    X2y2 = "x2y2",
    /// Alienswap.
    Alienswap = "alienswap",
    /// Limit Break's Payment Processor.
    PaymentProcessor = "payment_processor",
    /// Mintify.
    Mintify = "mintify",
    /// Magic Eden.
    MagicEden = "magic_eden",
}

impl Marketplace {
    /// The marketplace of an enum value; `None` for a word that is none.
    pub fn parse(word: &str, service: &ServiceName) -> Option<Self> {
        let is_it = |kind: &Self| {
            kind.ending() == if kind.is_own() { service.strip(word).unwrap_or("") } else { word }
        };
        Self::ALL.iter().copied().find(is_it)
    }

    /// The enum value.
    pub fn word(self, service: &ServiceName) -> String {
        let text = self.ending();
        if self.is_own() { format!("{}{text}", service.as_str()) } else { text.to_owned() }
    }

    /// The enum value that tells where its orders come from.
    pub fn source_word(self, service: &ServiceName) -> String {
        match self {
            Self::Unknown => "unknown".to_owned(),
            own if own.is_own() => own.word(service),
            _ => "external".to_owned(),
        }
    }

    /// Whether it is one of the service's own two.
    pub fn is_own(self) -> bool {
        matches!(self, Self::OwnV1 | Self::OwnV2)
    }

    /// Whether its listings need two permissions: that tokens may be moved, and that whoever moves them does so for it.
    pub fn has_grants(self) -> bool {
        self == Self::LooksRare
    }

    /// Whether its orders are filled whole or not at all, whatever they are for.
    pub fn fills_whole(self) -> bool {
        matches!(self, Self::LooksRare | Self::X2y2)
    }

    /// The small number it is stored as.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The marketplace stored as this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// A word that is none of an enumeration's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{word}` is none of {expected}")]
pub struct EnumError {
    word: String,
    expected: String,
}

macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
        #[repr(u8)]
        #[serde(try_from = "String", into = "&'static str")]
        #[schemars(inline)]
        pub enum $name {
            $($(#[$variant_doc])* #[schemars(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every value, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The enum value.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The small number it is stored as.
            pub fn number(self) -> u8 {
                self as u8
            }

            /// The value stored as this number.
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }
        }

        impl FromStr for $name {
            type Err = EnumError;

            fn from_str(word: &str) -> Result<Self, EnumError> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(EnumError {
                        word: word.chars().take(64).collect(),
                        expected: [$($word,)*].join(", "),
                    }),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = EnumError;

            fn try_from(word: String) -> Result<Self, EnumError> {
                word.parse()
            }
        }

        impl From<$name> for &'static str {
            fn from(value: $name) -> &'static str {
                value.word()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.word())
            }
        }
    };
}

word_enum!(
    /// Whether what is said of a token or a contract has been fetched.
    MetadataStatus {
        /// Nothing has been fetched yet, or nothing could be.
        #[default]
        NotAvailable = "NOT_AVAILABLE",
        /// What is there is being fetched anew.
        Refreshing = "REFRESHING",
        /// It has been fetched.
        Available = "AVAILABLE",
    }
);

word_enum!(
    /// How far a task is.
    TaskStatus {
        /// Some of it is still to be done.
        #[default]
        Queued = "QUEUED",
        /// It waits for somebody.
        Paused = "PAUSED",
        /// Nothing of it could be done.
        Failed = "FAILED",
        /// It is done, or as much of it as could be.
        Completed = "COMPLETED",
    }
);

word_enum!(
    /// Which side of the book an order is on.
    OrderSide {
        /// Not said.
        #[default]
        Unknown = "unknown",
        /// The maker sells.
        Listing = "listing",
        /// The maker buys.
        Offer = "offer",
    }
);

word_enum!(
    /// What state an order is in.
    OrderStatus {
        /// Not said.
        #[default]
        Unknown = "unknown",
        /// It can be filled.
        Active = "active",
        /// Its maker lacks the tokens, the currency or the approval.
        Inactive = "inactive",
        /// Its time is over.
        Expired = "expired",
        /// Its maker took it back.
        Cancelled = "cancelled",
        /// Nothing of it remains.
        Filled = "filled",
        /// The decimals of its currency or token are not known.
        DecimalsMissing = "decimals_missing",
    }
);

word_enum!(
    /// What happened to a token or an order.
    ActivityAction {
        /// Not known.
        #[default]
        Unknown = "unknown",
        /// It was listed for sale.
        Listing = "listing",
        /// An offer was made for it.
        Offer = "offer",
        /// It was made.
        Mint = "mint",
        /// It was sold.
        Sale = "sale",
        /// A listing was taken back.
        ListingCancel = "listingCancel",
        /// An offer was taken back.
        OfferCancel = "offerCancel",
        /// It changed hands without a sale.
        Transfer = "transfer",
    }
);

word_enum!(
    /// The standard a contract follows.
    ContractType {
        /// Not known.
        #[default]
        Unknown = "UNKNOWN",
        /// Fungible.
        Erc20 = "ERC20",
        /// One holder a token.
        Erc721 = "ERC721",
        /// Many holders a token.
        Erc1155 = "ERC1155",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_marketplaces_carry_the_service_name() {
        let service = ServiceName::new("sequence");
        for (kind, word) in [(Marketplace::OwnV2, "sequence_marketplace_v2"), (Marketplace::Blur, "blur")] {
            assert_eq!(kind.word(&service), word);
            assert_eq!(Marketplace::parse(word, &service), Some(kind));
            assert_eq!(Marketplace::from_number(kind.number()), Some(kind));
        }
        assert_eq!(Marketplace::parse("service_marketplace_v1", &service), Some(Marketplace::OwnV1));
        for word in ["bourse_marketplace_v1", "_marketplace_v1", "service", "", "Blur"] {
            assert_eq!(Marketplace::parse(word, &service), None, "{word}");
        }
    }

    #[test]
    fn numbers_and_words_agree() {
        for status in OrderStatus::ALL {
            assert_eq!(OrderStatus::from_number(status.number()), Some(*status));
            assert_eq!(status.word().parse(), Ok(*status));
        }
        assert!("Active".parse::<OrderStatus>().is_err());
    }
}
