//! The words of the published clients. Inside, an error is one [`Code`]; each service tells it in the number, name and
//! status that the published client of that service knows, so that what clients do about an error works.
//!
//! A table here has what a service calls differently; everything else goes by the words of the table in `error.rs`.
//! Where a client has no word for something, the table says which of its words is nearest. Three go by our own words
//! everywhere, as no client has one that fits: `Overloaded`, `StorageFull` and `StorageUnavailable` say when to come back,
//! and a status that asks for it; and limits of requests and units at `Builder`, whose client has no word for a limit.

use crate::error::Code;

/// What an error is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its number, by which clients tell errors apart.
    pub number: i32,
    /// Its name.
    pub name: &'static str,
    /// The HTTP status that goes with it.
    pub status: u16,
}

/// In whose words an error is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Our own: at plain addresses, in services that have no published client, and among servers.
    House,
    /// The client of orders.
    Marketplace,
    /// The clients of balances, of one network and of several.
    Indexer,
    /// The client of metadata and of hosted collections.
    Metadata,
    /// The client of audiences.
    Builder,
    /// The client that storefronts ask what they show.
    MarketplaceService,
    /// The client of charts.
    Api,
}

/// Declares what a dialect calls differently: code, number, name, and HTTP status.
macro_rules! words {
    ($($dialect:ident { $($code:ident = $number:literal, $name:literal, $status:literal;)* })*) => {
        impl Dialect {
            /// What this dialect calls differently than the house.
            fn own(self, code: Code) -> Option<Word> {
                match (self, code) {
                    $($((Self::$dialect, Code::$code) => Some(Word { number: $number, name: $name, status: $status }),)*)*
                    _ => None,
                }
            }
        }
    };
}

words! {
    Marketplace {
        ProjectNotFound = 1008, "ProjectNotFound", 401;
        Timeout = 1900, "Timeout", 408;
        NotFound = 2000, "NotFound", 400;
        // Its InvalidChain is for keys that may not use a chain.
        ChainNotFound = 2001, "InvalidArgument", 400;
    }
    Indexer {
        ProjectNotFound = 1100, "ProjectNotFound", 401;
        AccessKeyMismatch = 1102, "AccessKeyMismatch", 409;
        QuotaRateLimit = 1201, "RateLimit", 429;
        Timeout = 1900, "Timeout", 408;
        NotFound = 3000, "NotFound", 400;
        ChainNotFound = 2001, "InvalidArgument", 400;
        ChainUnavailable = 2002, "Unavailable", 400;
    }
    // Its 1007 and 1008 mean something else, and it knows of keys and quotas nothing at all.
    Metadata {
        RateLimited = 2005, "RateLimited", 429;
        AccessKeyNotFound = 1000, "Unauthorized", 401;
        AccessKeyMismatch = 1001, "PermissionDenied", 403;
        InvalidOrigin = 1001, "PermissionDenied", 403;
        InvalidService = 1001, "PermissionDenied", 403;
        QuotaExceeded = 2005, "RateLimited", 429;
        QuotaRateLimit = 2005, "RateLimited", 429;
        AtLeastOneKey = 1004, "RequestConflict", 409;
    }
    Builder {
        AccessKeyNotFound = 1000, "Unauthorized", 401;
        AccessKeyMismatch = 1001, "PermissionDenied", 403;
        InvalidOrigin = 1001, "PermissionDenied", 403;
        InvalidService = 1001, "PermissionDenied", 403;
        AtLeastOneKey = 1004, "RequestConflict", 409;
        ChainNotFound = 2001, "InvalidArgument", 400;
    }
    // As Builder, with some words more.
    MarketplaceService {
        AccessKeyNotFound = 1000, "Unauthorized", 401;
        AccessKeyMismatch = 1001, "PermissionDenied", 403;
        InvalidOrigin = 1001, "PermissionDenied", 403;
        InvalidService = 1001, "PermissionDenied", 403;
        AtLeastOneKey = 1004, "RequestConflict", 409;
        QuotaExceeded = 3005, "SubscriptionLimit", 402;
        ChainNotFound = 3007, "InvalidNetwork", 400;
    }
    Api {
        ProjectNotFound = 1008, "ProjectNotFound", 401;
        AccessKeyMismatch = 1102, "AccessKeyMismatch", 409;
        Timeout = 1900, "Timeout", 408;
        InvalidArgument = 2000, "InvalidArgument", 400;
        NotFound = 3000, "NotFound", 400;
        ChainNotFound = 3008, "UnsupportedNetwork", 422;
    }
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 7] = [
        Self::House,
        Self::Marketplace,
        Self::Indexer,
        Self::Metadata,
        Self::Builder,
        Self::MarketplaceService,
        Self::Api,
    ];

    /// What this dialect calls an error.
    pub fn word(self, code: Code) -> Word {
        self.own(code).unwrap_or_else(|| code.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers and names that every published client has.
    const COMMON: [Known; 11] = [
        (-2, "WebrpcBadRoute"),
        (-3, "WebrpcBadMethod"),
        (-4, "WebrpcBadRequest"),
        (-5, "WebrpcBadResponse"),
        (-6, "WebrpcServerPanic"),
        (-7, "WebrpcInternalError"),
        (1000, "Unauthorized"),
        (1001, "PermissionDenied"),
        (1002, "SessionExpired"),
        (1003, "MethodNotFound"),
        (1004, "RequestConflict"),
    ];

    /// A number with a name.
    type Known = (i32, &'static str);

    const MARKETPLACE: &[Known] = &[
        (1007, "RateLimited"),
        (1008, "ProjectNotFound"),
        (1101, "AccessKeyNotFound"),
        (1102, "AccessKeyMismatch"),
        (1103, "InvalidOrigin"),
        (1104, "InvalidService"),
        (1106, "InvalidChain"),
        (1200, "QuotaExceeded"),
        (1201, "QuotaRateLimit"),
        (1302, "AtLeastOneKey"),
        (1900, "Timeout"),
        (2000, "NotFound"),
        (2001, "InvalidArgument"),
        (9999, "NotImplemented"),
    ];
    const INDEXER: &[Known] = &[
        (1007, "RateLimited"),
        (1100, "ProjectNotFound"),
        (1101, "AccessKeyNotFound"),
        (1102, "AccessKeyMismatch"),
        (1103, "InvalidOrigin"),
        (1104, "InvalidService"),
        (1200, "QuotaExceeded"),
        (1201, "RateLimit"),
        (1302, "AtLeastOneKey"),
        (1900, "Timeout"),
        (2001, "InvalidArgument"),
        (2002, "Unavailable"),
        (2003, "QueryFailed"),
        (2004, "ResourceExhausted"),
        (3000, "NotFound"),
        (3003, "MetadataCallFailed"),
    ];
    const METADATA: &[Known] = &[
        (1005, "Fail"),
        (1007, "TaskFailed"),
        (1008, "Deprecated"),
        (2000, "Timeout"),
        (2001, "InvalidArgument"),
        (2002, "RequiredArgument"),
        (2003, "QueryFailed"),
        (2004, "ValidationFailed"),
        (2005, "RateLimited"),
        (3000, "NotFound"),
        (3002, "ProjectNotFound"),
        (3003, "ChainNotFound"),
        (4001, "TokenDirectoryDisabled"),
    ];
    const BUILDER: &[Known] = &[
        (1005, "ServiceDisabled"),
        (2000, "Timeout"),
        (2001, "InvalidArgument"),
        (3000, "NotFound"),
        (3001, "UserNotFound"),
        (3002, "ProjectNotFound"),
        (4001, "AlreadyCollaborator"),
    ];
    const MARKETPLACE_SERVICE: &[Known] = &[
        (2000, "Timeout"),
        (2001, "InvalidArgument"),
        (3000, "NotFound"),
        (3002, "ProjectNotFound"),
        (3005, "SubscriptionLimit"),
        (3007, "InvalidNetwork"),
        (4001, "AlreadyCollaborator"),
    ];
    const API: &[Known] = &[
        (1007, "RateLimited"),
        (1008, "ProjectNotFound"),
        (1101, "AccessKeyNotFound"),
        (1102, "AccessKeyMismatch"),
        (1103, "InvalidOrigin"),
        (1104, "InvalidService"),
        (1200, "QuotaExceeded"),
        (1201, "QuotaRateLimit"),
        (1302, "AtLeastOneKey"),
        (1900, "Timeout"),
        (2000, "InvalidArgument"),
        (2002, "Unavailable"),
        (2003, "QueryFailed"),
        (3000, "NotFound"),
        (3008, "UnsupportedNetwork"),
    ];

    /// What else the client of a dialect has, as it was published; `crates/bourse/tests/clients` asks the clients themselves.
    fn published(dialect: Dialect) -> &'static [Known] {
        match dialect {
            Dialect::House => &[],
            Dialect::Marketplace => MARKETPLACE,
            Dialect::Indexer => INDEXER,
            Dialect::Metadata => METADATA,
            Dialect::Builder => BUILDER,
            Dialect::MarketplaceService => MARKETPLACE_SERVICE,
            Dialect::Api => API,
        }
    }

    /// The words of our own that a dialect has to use.
    fn kept(dialect: Dialect) -> Vec<Code> {
        let mut kept = vec![Code::Overloaded, Code::StorageFull, Code::StorageUnavailable];
        if matches!(dialect, Dialect::Builder | Dialect::MarketplaceService) {
            kept.extend([Code::RateLimited, Code::QuotaRateLimit]);
        }
        if dialect != Dialect::Indexer {
            kept.push(Code::ChainUnavailable);
        }
        if dialect == Dialect::Builder {
            kept.push(Code::QuotaExceeded);
        }
        kept
    }

    #[test]
    fn every_error_of_every_service_is_one_that_its_client_defines() {
        for dialect in Dialect::ALL.into_iter().filter(|&dialect| dialect != Dialect::House) {
            let defined: Vec<Known> = COMMON.iter().chain(published(dialect)).copied().collect();
            for code in Code::ALL {
                let Word { number, name, status } = dialect.word(code);
                if kept(dialect).contains(&code) {
                    assert!(
                        !defined.iter().any(|known| known.0 == number),
                        "{dialect:?} {code:?} means another"
                    );
                    assert_eq!(dialect.word(code), code.word(), "{dialect:?} {code:?}");
                } else {
                    assert!(
                        defined.contains(&(number, name)),
                        "{dialect:?} knows no {number} {name} for {code:?}"
                    );
                }
                assert!((400..600).contains(&status), "{dialect:?} {code:?}");
            }
        }
    }

    #[test]
    fn the_page_of_errors_has_what_each_calls_differently() {
        let told = |word: Word| format!("{} {} {}", word.number, word.name, word.status);
        let rows = Code::ALL.into_iter().filter_map(|code| {
            let cells = Dialect::ALL.map(|dialect| dialect.own(code).map(told).unwrap_or_default());
            let [_, cells @ ..] = cells;
            let Word { number, name, .. } = code.word();
            cells
                .iter()
                .any(|cell| !cell.is_empty())
                .then(|| format!("| {number} {name} | {} |", cells.join(" | ")))
        });
        let page = include_str!("../../../docs/errors.md");
        let (_, table) = page.split_once("| Analytics |\n").unwrap();
        let listed: Vec<&str> = table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
        assert_eq!(listed, rows.collect::<Vec<_>>());
    }

    #[test]
    fn a_word_that_is_the_same_is_not_written_twice() {
        for dialect in Dialect::ALL {
            for code in Code::ALL {
                assert_ne!(dialect.own(code), Some(code.word()), "{dialect:?} {code:?}");
            }
        }
    }
}
