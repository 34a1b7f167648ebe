//! The interface itself: record types, enums, errors and how request bodies are read.
//!
//! Nothing here does I/O or knows the time. A value that exists is valid: addresses, token ids, amounts,
//! project ids and days are types whose only way in is a checked parse.

mod activity;
mod address;
mod asset;
mod audience;
mod chain;
mod collection;
mod contract;
mod currency;
mod day;
mod decimal;
mod dialect;
mod enums;
mod error;
mod event_filter;
mod lenient;
mod order;
mod page;
mod project;
mod rate;
mod shape;
mod single_pass;
mod stable_number;
mod stored;
mod storefront;
mod text;
mod timestamp;
mod token;

pub use activity::ActivityFacts;
pub use address::Address;
pub use asset::{Asset, AssetInput};
pub use audience::{Audience, AudienceContract, Contact, ContactInput, ContractSource, Email};
pub use chain::{ChainId, ChainRef};
pub use collection::{
    Collection, CollectionBaseUris, CollectionInput, CollectionMetadata, ContractCollection,
};
pub use contract::{ContractInfo, ContractInfoExtensions};
pub use currency::{Currency, DatedRate};
pub use day::Day;
pub use decimal::{Amount, TokenId};
pub use dialect::{Dialect, Word};
pub use enums::{
    ActivityAction, ContractType, Marketplace, MetadataStatus, OrderSide, OrderStatus, ServiceName,
    TaskStatus,
};
pub use error::{Code, Error};
pub use event_filter::EventFilter;
pub use lenient::{LenientError, from_slice, from_slice_exact, from_value, take_member};
pub use order::{BPS_WHOLE, FeeEntry, NoNative, OrderFacts, OrderFactsError, OrderInput, OrderKey};
pub use page::{Page, PageInput};
pub use project::{IdError, ProjectId, RecordId};
pub use rate::ExchangeRate;
pub use shape::{JSON_DEPTH_LIMIT, JsonError, check_shape, parse_json};
pub use single_pass::from_slice_single_pass;
pub use stable_number::{CollectionNumbers, stable_number};
pub use stored::{HOSTED, STORED_EXTRA_BYTES, is_hosted, write_stored};
pub use storefront::{
    EcosystemWallet, EmbeddedWallet, FilterCondition, FilterExclusion, FilterSettings, FooterLink,
    MarketCollectionTerms, ShopCollectionTerms, Storefront, StorefrontPage, StorefrontSettings,
    StorefrontSite, StorefrontSocials, StorefrontWallets, WalletKind, WalletProvider,
};
pub use text::Text;
pub use timestamp::Timestamp;
pub use token::{TokenInput, TokenMetadata};

/// A free-form JSON object, kept with its numbers and its member order as written.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
