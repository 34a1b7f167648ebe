//! Runs the service.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bourse_console::{first_link, with_console};
use bourse_pictures::Pictures;
use bourse_server::settings::{LogFormat, Settings};
use bourse_server::{App, Background, Backstage, Chains, Clock, Entrance, make_private_directory};
use bourse_shop::{Languages, with_shops};
use futures_util::future::BoxFuture;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::context::CommandError;
use crate::data_lock::DataLock;
use crate::output;

pub(crate) async fn run(settings: Settings) -> Result<(), CommandError> {
    start_logging(&settings)?;
    serve(open(settings).await?).await
}

/// A service whose requests wait until they are answered.
pub(crate) struct OpenService {
    listener: TcpListener,
    app: Arc<App>,
    languages: Languages,
    _lock: DataLock,
}

/// Opens the store and the socket; from here on requests wait rather than fail.
pub(crate) async fn open(settings: Settings) -> Result<OpenService, CommandError> {
    open_asking(settings, None).await
}

/// The same, where contracts may be asked through somebody else than the nodes.
pub(crate) async fn open_asking(
    settings: Settings,
    chains: Option<Arc<dyn Chains>>,
) -> Result<OpenService, CommandError> {
    let address = settings.server.listen;
    let languages = Languages::read(&settings.shop.languages)?;
    make_private_directory(&settings.storage.data).map_err(CommandError::io("making the data directory"))?;
    let lock = DataLock::shared(&settings.storage.data)?;
    let coins = settings.networks.native_coins();
    let app = App::open_with(settings, Clock::system(), chains).await?;
    if !coins.is_empty() {
        app.add_currencies(coins).await?;
    }
    let listener =
        TcpListener::bind(address).await.map_err(CommandError::io(format!("listening on {address}")))?;
    Ok(OpenService { listener, app, languages, _lock: lock })
}

impl OpenService {
    /// The application that is served.
    pub(crate) fn app(&self) -> Arc<App> {
        Arc::clone(&self.app)
    }
}

/// Answers requests until told to stop, finishes those under way, and stores what was metered.
pub(crate) async fn serve(opened: OpenService) -> Result<(), CommandError> {
    serve_beside(opened, std::future::ready(Ok(()))).await
}

/// The same with other work meanwhile; where that fails, the service ends.
pub(crate) async fn serve_beside(
    opened: OpenService,
    work: impl Future<Output = Result<(), CommandError>>,
) -> Result<(), CommandError> {
    let OpenService { listener, app, languages, _lock } = opened;
    let address = listener.local_addr().map_err(CommandError::io("reading the address"))?;
    print_start(&app, address);
    print_first_link(&app, address).await?;
    let stop = stop_after_drain(StopSignals::listen()?, Arc::clone(&app));
    let background = Background::start(&app);
    let entrance = entrance(app, languages);
    let mut serving = std::pin::pin!(bourse_server::serve(listener, entrance, stop));
    let worked = tokio::select! {
        () = &mut serving => None,
        worked = work => Some(worked),
    };
    if matches!(worked, Some(Ok(()))) {
        serving.await;
    }
    background.stop().await;
    worked.unwrap_or(Ok(()))
}

/// The service with all pages beside it. They share their pictures.
fn entrance(app: Arc<App>, languages: Languages) -> Entrance {
    let pictures = Pictures::new(Backstage::new(Arc::clone(&app)));
    let service = bourse_server::service(Arc::clone(&app));
    with_shops(with_console(service, Arc::clone(&app), pictures.clone()), app, pictures, languages)
}

/// Logs to standard error, as the settings say.
pub(crate) fn start_logging(settings: &Settings) -> Result<(), CommandError> {
    let filter = EnvFilter::try_new(&settings.log.level)
        .map_err(|error| CommandError::Other(format!("log.level: {error}")))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match settings.log.format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().init(),
    }
    Ok(())
}

fn print_start(app: &App, address: SocketAddr) {
    let settings = app.settings();
    let limits = &settings.limits;
    let none_or = |number: u64| if number == 0 { "none".to_owned() } else { number.to_string() };
    tracing::info!(
        %address,
        version = env!("CARGO_PKG_VERSION"),
        engine = app.store().engine_name(),
        data = %settings.storage.data.display(),
        "listening"
    );
    tracing::info!(
        body_bytes_max = limits.body_bytes_max,
        upload_bytes_max = limits.upload_bytes_max,
        batch_contracts_max = limits.batch_contracts_max,
        batch_tokens_max = limits.batch_tokens_max,
        ingest_records_max = limits.ingest_records_max,
        page_size_max = limits.page_size_max,
        request_timeout_ms = limits.request_timeout_ms,
        concurrent_requests_max = limits.concurrent_requests_max,
        rate_per_minute = none_or(limits.rate_per_minute.into()),
        "limits"
    );
}

/// As long as nobody can sign in, tells how the first administrator is made.
async fn print_first_link(app: &App, address: SocketAddr) -> Result<(), CommandError> {
    let Some(path) = first_link(app).await? else { return Ok(()) };
    let settings = app.settings();
    // The port that the system chose, where the settings leave that to it.
    let url = match settings.server.listen.port() {
        0 if settings.server.public_url.is_empty() => format!("http://{address}"),
        _ => settings.public_url(),
    };
    let text = format!(
        "Create the first administrator of the console (works once, within three days):\n  {url}{path}\n"
    );
    output::print(false, &serde_json::Value::Null, || text)
}

/// The signals that ask the process to stop.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// Listens from now on. Whoever sees the service answer can stop it.
    fn listen() -> Result<Self, CommandError> {
        let listen = |kind| signal(kind).map_err(CommandError::io("listening for signals"));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Over when the service is to take no more connections: some time after it was told to stop, which it says meanwhile, or when
/// it is told again.
fn stop_after_drain(mut signals: StopSignals, app: Arc<App>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        signals.next().await;
        app.begin_to_stop().await;
        let drain = Duration::from_millis(app.settings().server.drain_ms);
        if !drain.is_zero() {
            tracing::info!(milliseconds = drain.as_millis(), "stopping, once others have taken over");
            let _ = tokio::time::timeout(drain, signals.next()).await;
        }
    })
}
