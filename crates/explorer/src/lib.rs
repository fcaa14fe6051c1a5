//! The explorer: a page in a browser on which a person walks through a program.
//!
//! [`Explorer::serve`] starts a server on the loopback interface. The page shows all choices that are enabled, takes
//! one, goes back to an earlier step, reverses a race, jumps to a finding, and shows the progress of a search that runs
//! in the background. It works on a live machine: [`whippet_search::Walker`].
//!
//! Nothing is kept on the server between two requests but the machine: a request names all steps to a configuration,
//! and so does the address of the page, which can therefore be shared.
//!
//! * `http.rs` is the server, and refuses what does not come from the page;
//! * `session.rs` answers the requests;
//! * `background.rs` runs the search, `tree.rs` keeps the executions that it has completed;
//! * `assets/` is the page. Its diagram is that of the report: [`whippet_report::assets`].

mod background;
mod http;
mod session;
mod tree;

use session::{Record, Session};
use std::fmt;
use std::io;
use std::sync::Arc;
use whippet_model::{Program, Schedule};
use whippet_search::Options;

/// The settings of an explorer.
///
/// ```
/// use std::sync::Arc;
/// use whippet_explorer::Explorer;
/// let program = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
/// let server = Explorer::new("ping").serve(Arc::new(program)).unwrap();
/// assert!(server.address().starts_with("http://127.0.0.1:"), "open this address in a browser");
/// ```
pub struct Explorer {
    title: String,
    options: Options,
    port: u16,
    record: Record,
}

impl fmt::Debug for Explorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explorer { title, options, port, .. } = self;
        f.debug_struct("Explorer").field("title", title).field("options", options).field("port", port).finish()
    }
}

/// The reason why an explorer cannot be started.
///
/// ```
/// use std::sync::Arc;
/// use whippet_explorer::Explorer;
/// let program = Arc::new(whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap());
/// let first = Explorer::new("ping").serve(program.clone()).unwrap();
/// let error = Explorer::new("ping").port(first.port()).serve(program).unwrap_err();
/// assert!(error.to_string().contains("is in use"), "{error}");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another process uses the port.
    #[error("port {0} is in use: choose another one, or none to get a free one")]
    InUse(u16),
    /// The port cannot be opened.
    #[error("cannot open port {port} on 127.0.0.1: {why}")]
    Port {
        /// The port.
        port: u16,
        /// The reason.
        why: io::Error,
    },
}

impl Explorer {
    /// Creates the settings of an explorer with this title: the default search, any free port.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Explorer {
        Explorer { title: title.into(), options: Options::default(), port: 0, record: Box::new(|_| {}) }
    }

    /// Sets the options of the search in the background, and the limits of the walk.
    ///
    /// ```
    /// use whippet_explorer::Explorer;
    /// use whippet_search::{Options, Reduction};
    /// let options = Options::new(Reduction::Exhaustive);
    /// let explorer = Explorer::new("all orders").options(options);
    /// assert!(format!("{explorer:?}").contains("Exhaustive"));
    /// ```
    #[must_use]
    pub fn options(mut self, options: Options) -> Explorer {
        self.options = options;
        self
    }

    /// Sets the port; 0 means any free one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Explorer {
        self.port = port;
        self
    }

    /// Sets a function that completes the schedules that the reader downloads: it can change the name and the settings
    /// of the program.
    ///
    /// ```
    /// # use whippet_explorer::Explorer;
    /// let explorer = Explorer::new("ping").record(|schedule| schedule.program = "examples/ping.net".into());
    /// # drop(explorer);
    /// ```
    #[must_use]
    pub fn record(mut self, record: impl Fn(&mut Schedule) + Send + Sync + 'static) -> Explorer {
        self.record = Box::new(record);
        self
    }

    /// Opens the port and starts the search. The server runs in threads of its own until the process ends.
    ///
    /// # Errors
    /// Returns an error if the port cannot be opened.
    pub fn serve<P: Program + Send + 'static>(self, program: Arc<P>) -> Result<Server, ServeError> {
        let Explorer { title, options, port, record } = self;
        let failed = |why: io::Error| match why.kind() {
            io::ErrorKind::AddrInUse => ServeError::InUse(port),
            _ => ServeError::Port { port, why },
        };
        let listener = http::listen(port).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let token = http::token();
        let server = Server { address: format!("http://127.0.0.1:{port}/{token}/"), port };
        let session = Session::new(program, options, title, record);
        http::serve(listener, token, Arc::new(move |request| session.answer(request))).map_err(failed)?;
        Ok(server)
    }
}

/// A running explorer.
///
/// ```
/// # use std::sync::Arc;
/// # use whippet_explorer::{Explorer, Server};
/// # let program = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
/// let server: Server = Explorer::new("ping").serve(Arc::new(program)).unwrap();
/// assert!(server.address().contains(&format!(":{}/", server.port())));
/// ```
#[derive(Clone, Debug)]
#[must_use = "show its address to the user"]
pub struct Server {
    address: String,
    port: u16,
}

impl Server {
    /// Returns the address of the page, with the token. Who knows it can run the program.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}
