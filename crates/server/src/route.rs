//! One operation: everything that routing, permissions, metering, metrics and documentation derive from.

use std::sync::Arc;

use axum::body::Bytes;
use bourse_wire::{ChainId, Code, Dialect, Error, ProjectId};
use futures_util::future::BoxFuture;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::streams::Subscription;

/// A group of operations, and the unit of quota and permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Token and contract metadata.
    Metadata,
    /// Hosted collections.
    Collections,
    /// Listings, offers and purchases.
    Marketplace,
    /// Audiences.
    Builder,
    /// Charts.
    Analytics,
    /// Who holds what.
    Indexer,
    /// The same on several chains at once.
    IndexerGateway,
    /// Getting data in.
    Ingest,
    /// What is followed.
    Admin,
    /// What storefronts look like, and what they show.
    Storefront,
}

impl Service {
    /// Every service.
    pub const ALL: [Self; 10] = [
        Self::Metadata,
        Self::Collections,
        Self::Marketplace,
        Self::Builder,
        Self::Analytics,
        Self::Indexer,
        Self::IndexerGateway,
        Self::Ingest,
        Self::Admin,
        Self::Storefront,
    ];

    /// The name in the path.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "Metadata",
            Self::Collections => "Collections",
            Self::Marketplace => "Marketplace",
            Self::Builder => "Builder",
            Self::Analytics => "Analytics",
            Self::Indexer => "Indexer",
            Self::IndexerGateway => "IndexerGateway",
            Self::Ingest => "Ingest",
            Self::Admin => "Admin",
            // As those call it who ask.
            Self::Storefront => "MarketplaceService",
        }
    }

    /// The name in quotas, permissions and charts.
    pub fn short(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Collections => "collections",
            Self::Marketplace => "marketplace",
            Self::Builder => "builder",
            Self::Analytics => "analytics",
            Self::Indexer => "indexer",
            Self::IndexerGateway => "gateway",
            Self::Ingest => "ingest",
            Self::Admin => "admin",
            Self::Storefront => "storefront",
        }
    }

    /// Whether a key that was made for the service of a short name is good for this one. A storefront that may read the
    /// marketplace is told what it shows.
    pub(crate) fn takes_key_of(self, name: &str) -> bool {
        name == self.short() || self == Self::Storefront && name == Self::Marketplace.short()
    }

    /// In whose words its errors are told.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Metadata | Self::Collections => Dialect::Metadata,
            Self::Marketplace => Dialect::Marketplace,
            Self::Builder => Dialect::Builder,
            Self::Storefront => Dialect::MarketplaceService,
            Self::Analytics => Dialect::Api,
            Self::Indexer | Self::IndexerGateway => Dialect::Indexer,
            Self::Ingest | Self::Admin => Dialect::House,
        }
    }

    /// The service of a short name.
    pub fn from_short(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.short() == name)
    }
}

/// What a caller must present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Nothing.
    None,
    /// A public access key; a secret token serves as well.
    AccessKey,
    /// A public access key that was made for this very service; a secret token serves as well. The handler tells such a
    /// key from others.
    ServiceKey,
    /// A secret token.
    SecretToken,
}

/// What a call of an operation does to what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It leaves everything as it is.
    Reads,
    /// It changes something, or has it changed later.
    Writes,
}

/// One operation.
pub struct Route {
    /// The service it belongs to.
    pub service: Service,
    /// Its name.
    pub name: &'static str,
    /// Whether it changes anything.
    pub effect: Effect,
    /// What a caller must present.
    pub credential: Credential,
    /// Compute units a call costs.
    pub cost: u64,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// A body to try it with against the demo, as JSON.
    pub example: &'static str,
    /// Whether it answers with a table too.
    pub is_tabular: bool,
    pub(crate) schemas: fn(&mut SchemaGenerator) -> (Schema, Schema),
    pub(crate) handler: Handler,
}

type Answer = BoxFuture<'static, Result<Vec<u8>, Failure>>;
type Opening = BoxFuture<'static, Result<Subscription, Failure>>;

pub(crate) enum Handler {
    /// Answers anybody with the same bytes.
    Constant(&'static str),
    /// Answers anybody of the service itself, which asks nobody; the chain is that of the path.
    Open(fn(&App, Option<ChainId>) -> Result<Vec<u8>, Failure>),
    /// Answers a project.
    Scoped(Arc<dyn Fn(Call, Bytes) -> Answer + Send + Sync>),
    /// Opens a stream for a project.
    Streaming(Arc<dyn Fn(Call, Bytes) -> Opening + Send + Sync>),
}

impl Handler {
    /// Answers a call.
    pub(crate) async fn answer(&self, call: Call, body: Bytes) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Constant(json) => Ok(json.as_bytes().to_vec()),
            Self::Open(answer) => answer(&call.app, call.network),
            Self::Scoped(handler) => handler(call, body).await,
            Self::Streaming(_) => {
                let message = "this answers with a stream: call it over HTTP";
                Err(Error::new(Code::BadRequest, message).into())
            }
        }
    }
}

/// A request body.
pub(crate) trait Request: DeserializeOwned + JsonSchema + Send + 'static {
    /// The project that the body names, which must be the credential's own.
    fn claimed_project(&self) -> Option<ProjectId>;

    /// Reads a body.
    fn read(body: &[u8], depth_max: usize) -> Result<Self, bourse_wire::Error> {
        bourse_wire::from_slice(body, depth_max)
    }
}

/// Implements [`Request`]: `request!(Body)` for a body that names no project, `request!(Body, project_id)` for one that
/// may, `request!(exact Body)` for one that is read often and refuses unknown members at every level.
macro_rules! request {
    (exact $body:ty) => {
        impl $crate::route::Request for $body {
            fn claimed_project(&self) -> Option<bourse_wire::ProjectId> {
                None
            }

            fn read(body: &[u8], depth_max: usize) -> Result<Self, bourse_wire::Error> {
                bourse_wire::from_slice_exact(body, depth_max)
            }
        }
    };
    ($body:ty) => {
        impl $crate::route::Request for $body {
            fn claimed_project(&self) -> Option<bourse_wire::ProjectId> {
                None
            }
        }
    };
    ($body:ty, $member:ident) => {
        impl $crate::route::Request for $body {
            fn claimed_project(&self) -> Option<bourse_wire::ProjectId> {
                self.$member
            }
        }
    };
}
pub(crate) use request;

/// What every operation says of itself.
struct Declaration {
    service: Service,
    name: &'static str,
    effect: Effect,
    credential: Credential,
    summary: &'static str,
}

/// The constructors of operations. There is one for each effect, so that none can be declared without it.
impl Service {
    /// An operation that reads, and whose answer is a record.
    pub(crate) fn reads<Q, A, F>(
        self,
        name: &'static str,
        credential: Credential,
        summary: &'static str,
        handle: fn(Call, Q) -> F,
    ) -> Route
    where
        Q: Request,
        A: Serialize + JsonSchema,
        F: Future<Output = Result<A, Failure>> + Send + 'static,
    {
        let declaration = Declaration { service: self, name, effect: Effect::Reads, credential, summary };
        Route::new::<Q, A>(&declaration, handler_of_record(handle))
    }

    /// An operation that writes, and whose answer is a record.
    pub(crate) fn writes<Q, A, F>(
        self,
        name: &'static str,
        credential: Credential,
        summary: &'static str,
        handle: fn(Call, Q) -> F,
    ) -> Route
    where
        Q: Request,
        A: Serialize + JsonSchema,
        F: Future<Output = Result<A, Failure>> + Send + 'static,
    {
        let declaration = Declaration { service: self, name, effect: Effect::Writes, credential, summary };
        Route::new::<Q, A>(&declaration, handler_of_record(handle))
    }

    /// An operation that reads, and puts the JSON of its answer together itself; `A` documents its shape.
    pub(crate) fn reads_raw<Q, A, H, F>(
        self,
        name: &'static str,
        credential: Credential,
        summary: &'static str,
        handle: H,
    ) -> Route
    where
        Q: Request,
        A: JsonSchema,
        H: Fn(Call, Q) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Vec<u8>, Failure>> + Send + 'static,
    {
        let declaration = Declaration { service: self, name, effect: Effect::Reads, credential, summary };
        Route::new::<Q, A>(&declaration, handler(handle))
    }

    /// An operation that answers with a stream of records, one in each line; `A` is what is in a line.
    pub(crate) fn streams<Q, A, F>(
        self,
        name: &'static str,
        credential: Credential,
        summary: &'static str,
        handle: fn(Call, Q) -> F,
    ) -> Route
    where
        Q: Request,
        A: JsonSchema,
        F: Future<Output = Result<Subscription, Failure>> + Send + 'static,
    {
        let declaration = Declaration { service: self, name, effect: Effect::Reads, credential, summary };
        let opens = move |call: Call, body: Bytes| -> Opening {
            Box::pin(async move {
                let request: Q = call.read(&body)?;
                handle(call, request).await
            })
        };
        Route::new::<Q, A>(&declaration, Handler::Streaming(Arc::new(opens)))
    }
}

fn handler_of_record<Q, A, F>(handle: fn(Call, Q) -> F) -> Handler
where
    Q: Request,
    A: Serialize,
    F: Future<Output = Result<A, Failure>> + Send + 'static,
{
    handler(move |call, request| {
        let answer = handle(call, request);
        async move { Ok(serde_json::to_vec(&answer.await?)?) }
    })
}

fn handler<Q, H, F>(handle: H) -> Handler
where
    Q: Request,
    H: Fn(Call, Q) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Vec<u8>, Failure>> + Send + 'static,
{
    let handle = Arc::new(handle);
    Handler::Scoped(Arc::new(move |call: Call, body: Bytes| {
        let handle = Arc::clone(&handle);
        Box::pin(async move {
            let request: Q = call.read(&body)?;
            drop(body);
            handle(call, request).await
        })
    }))
}

impl Route {
    fn new<Q: Request, A: JsonSchema>(declaration: &Declaration, handler: Handler) -> Self {
        let Declaration { service, name, effect, credential, summary } = *declaration;
        let schemas = |generator: &mut SchemaGenerator| {
            (generator.subschema_for::<Q>(), generator.subschema_for::<A>())
        };
        Self {
            service,
            name,
            effect,
            credential,
            cost: 1,
            summary,
            example: "{}",
            is_tabular: false,
            schemas,
            handler,
        }
    }

    /// The operation by which a client finds out that the service is there.
    pub(crate) fn ping(service: Service) -> Self {
        #[derive(Serialize, JsonSchema)]
        #[schemars(rename = "PingAnswer")]
        struct Answer {
            /// Always true.
            status: bool,
        }
        let handler = Handler::Constant(r#"{"status":true}"#);
        Self::for_anybody::<Answer>(service, "Ping", "Whether the service is there.", handler)
    }

    /// An operation that takes no body and no credential, and costs nothing.
    pub(crate) fn for_anybody<A: JsonSchema>(
        service: Service,
        name: &'static str,
        summary: &'static str,
        handler: Handler,
    ) -> Self {
        Self {
            service,
            name,
            effect: Effect::Reads,
            credential: Credential::None,
            cost: 0,
            summary,
            example: "{}",
            is_tabular: false,
            schemas: |generator| (schemars::json_schema!({"type": "object"}), generator.subschema_for::<A>()),
            handler,
        }
    }

    /// The same operation, with a body to try it with.
    pub(crate) fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// The same operation, which also answers with a table.
    pub(crate) fn tabular(self) -> Self {
        Self { is_tabular: true, ..self }
    }

    /// Whether it answers with a stream.
    pub fn is_streaming(&self) -> bool {
        matches!(self.handler, Handler::Streaming(_))
    }

    /// Whether somebody may call it who may look at a project but not change it: it only reads, or anybody may who has
    /// read the project's public key in a page.
    pub fn is_for_viewers(&self) -> bool {
        match self.credential {
            Credential::None | Credential::AccessKey => true,
            Credential::ServiceKey | Credential::SecretToken => self.effect == Effect::Reads,
        }
    }

    /// The path, without a network.
    pub fn path(&self) -> String {
        format!("/rpc/{}/{}", self.service.name(), self.name)
    }
}
