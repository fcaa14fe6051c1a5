//! Programs of processes, mailboxes and mutexes.

use crate::history::{Histories, ProcessBody, place_text};
use crate::machine::NetMachine;
use crate::mailbox::Mailbox;
use crate::mutex::Mutex;
use crate::port_handle::PortHandle;
use crate::process::{BodyFactory, body_factory};
use crate::script::Script;
use crate::text::{self, TextError};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use whippet_model::{MachineConfig, MachineError, Name, Program};

/// The dependence relation between steps.
///
/// ```
/// use whippet_net::MailboxRelation;
/// assert_eq!("paper".parse(), Ok(MailboxRelation::Paper));
/// assert_eq!(MailboxRelation::default().to_string(), "ranked");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MailboxRelation {
    /// The relation by ranks of sends, receives and locks. Sound, and finer than the paper's.
    #[default]
    Ranked,
    /// The eleven theorems of the paper as printed, for comparison. Not sound.
    Paper,
}

impl std::fmt::Display for MailboxRelation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            MailboxRelation::Ranked => "ranked",
            MailboxRelation::Paper => "paper",
        })
    }
}

impl std::str::FromStr for MailboxRelation {
    type Err = String;

    fn from_str(text: &str) -> Result<MailboxRelation, String> {
        match text {
            "ranked" => Ok(MailboxRelation::Ranked),
            "paper" => Ok(MailboxRelation::Paper),
            other => Err(format!("unknown relation `{other}`: expected `ranked` or `paper`")),
        }
    }
}

/// The setup of a program, which declares its mailboxes, mutexes and processes.
///
/// ```
/// use whippet_net::{Net, NetBuilder};
/// fn set_up(net: &mut NetBuilder) {
///     let (door, pen) = (net.mailbox::<u32>("door"), net.mutex("pen"));
///     net.process("guest", async move || {
///         pen.lock().await.unlock().await;
///         door.send(1).await;
///     });
///     net.process("host", async move || assert_eq!(door.receive().await, 1));
/// }
/// let verdict = whippet_search::explore(Net::new("visit", set_up).into(), &Default::default(), &()).unwrap();
/// assert!(verdict.findings.is_empty());
/// ```
pub struct NetBuilder {
    histories: Histories,
    bodies: Vec<u32>,
    mailboxes: Vec<String>,
    mutexes: Vec<String>,
    ports: usize,
    failed: Option<MachineError>,
}

whippet_model::opaque_debug!(NetBuilder);

impl NetBuilder {
    /// Adds a mailbox with this label in reports.
    pub fn mailbox<T>(&mut self, label: impl Into<String>) -> Mailbox<T> {
        self.mailboxes.push(label.into());
        Mailbox::numbered(self.mailboxes.len() as u32 - 1)
    }

    /// Adds a mutex with this label in reports.
    pub fn mutex(&mut self, label: impl Into<String>) -> Mutex {
        self.mutexes.push(label.into());
        Mutex::numbered(self.mutexes.len() as u32 - 1)
    }

    /// Adds a process. To restore an earlier state, its function may be called again and given the same answers: it
    /// must behave the same each time.
    #[track_caller]
    pub fn process(&mut self, label: impl Into<String>, body: impl AsyncFn() + 'static) {
        let place = Some(place_text(Location::caller()));
        self.body(label.into(), place, ProcessBody::Async { factory: body_factory(body), suspended: None });
    }

    /// Adds a process that belongs to no line of the user's source.
    pub(crate) fn own_process(&mut self, label: &str, body: impl AsyncFn() + 'static) {
        self.body(label.into(), None, ProcessBody::Async { factory: body_factory(body), suspended: None });
    }

    /// Adds a process that has a port.
    pub(crate) fn rank(&mut self, label: String, place: &Location<'_>, body: impl FnOnce(PortHandle) -> BodyFactory) {
        let end = PortHandle::new(self.ports as u32, self.next_name());
        self.ports += 1;
        let body = ProcessBody::Async { factory: body(end), suspended: None };
        self.body(label, Some(place_text(place)), body);
    }

    fn next_name(&self) -> Name {
        Name::ROOT.child(self.bodies.len() as u32)
    }

    fn body(&mut self, label: String, place: Option<String>, body: ProcessBody) {
        let name = self.next_name();
        match self.histories.add(name, label, place, body) {
            Ok(body) => self.bodies.push(body),
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }
}

enum NetSource {
    /// A script, and the position of each process in a file; empty if there is no file.
    Script(Script, Vec<String>),
    NetBuilder(Box<dyn Fn(&mut NetBuilder) + Send + Sync>),
}

/// A program of processes that communicate through mailboxes and queue for mutexes.
///
/// ```
/// use whippet_net::Net;
/// use whippet_search::{Options, explore};
///
/// let net = Net::new("greeting", |net| {
///     let door = net.mailbox::<&str>("door");
///     net.process("guest", async move || door.send("hello").await);
///     net.process("host", async move || assert_eq!(door.receive().await, "hello"));
/// });
/// let verdict = explore(net.into(), &Options::default(), &()).unwrap();
/// assert_eq!(verdict.counters.executions, 1);
/// assert!(verdict.findings.is_empty());
/// ```
#[derive(Clone)]
pub struct Net {
    name: String,
    parameters: Vec<(String, String)>,
    relation: MailboxRelation,
    source: Arc<NetSource>,
    /// Set when a rank polled more often in a row than is explored.
    polled: Option<(u32, Arc<AtomicBool>)>,
}

impl Net {
    /// Creates a program whose processes are async functions.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("greeting", |net| {
    ///     let door = net.mailbox::<&str>("door");
    ///     net.process("guest", async move || door.send("hello").await);
    ///     net.process("host", async move || assert_eq!(door.receive().await, "hello"));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(verdict.findings.is_empty());
    /// ```
    pub fn new(name: impl Into<String>, set_up: impl Fn(&mut NetBuilder) + Send + Sync + 'static) -> Net {
        Net::of(name.into(), NetSource::NetBuilder(Box::new(set_up)))
    }

    /// Creates a program whose processes are lists of actions.
    ///
    /// ```
    /// use whippet_net::{Action::*, Net, Script};
    /// let script = Script::new(vec![vec![Receive(0), Wait(vec![0])], vec![Send(0)]]).unwrap();
    /// assert_eq!(whippet_net::interleavings(&Net::script("pair", script)).unwrap(), 2);
    /// ```
    pub fn script(name: impl Into<String>, script: Script) -> Net {
        Net::of(name.into(), NetSource::Script(script, Vec::new()))
    }

    /// Parses the text form. See [`crate::TextError`] for the errors.
    ///
    /// ```
    /// use whippet_net::Net;
    /// assert!(Net::parse("pair", "guest: S0\nhost: R0 W0").is_ok());
    /// let error = Net::parse("pair", "guest: S0\nhost: X").unwrap_err().to_string();
    /// assert!(error.contains("line 2"), "{error}");
    /// ```
    pub fn parse(name: impl Into<String>, source: &str) -> Result<Net, TextError> {
        Ok(Net::script(name, text::parse(source)?.0))
    }

    /// Parses the text of a file. In traces, the processes have the positions of their lines.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::parse_file("pair.net", "# nobody sends\nhost: R0 W0").unwrap();
    /// let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// assert_eq!(verdict.findings[0].trace.events[0].place.as_deref(), Some("pair.net:2"));
    /// ```
    pub fn parse_file(file: &str, source: &str) -> Result<Net, TextError> {
        let (script, lines) = text::parse(source)?;
        let places = lines.iter().map(|line| format!("{file}:{line}")).collect();
        Ok(Net::of(file.into(), NetSource::Script(script, places)))
    }

    fn of(name: String, source: NetSource) -> Net {
        Net {
            name,
            parameters: Vec::new(),
            relation: MailboxRelation::default(),
            source: Arc::new(source),
            polled: None,
        }
    }

    /// Returns the same program with another dependence relation.
    ///
    /// ```
    /// use whippet_net::{MailboxRelation, Net};
    /// use whippet_search::explore;
    /// let net = Net::parse("pair", "S0\nR0 W0").unwrap().with_relation(MailboxRelation::Paper);
    /// let verdict = explore(net.into(), &Default::default(), &()).unwrap();
    /// assert!(!verdict.notes.is_empty() || verdict.complete);
    /// ```
    #[must_use = "this makes another program"]
    pub fn with_relation(mut self, relation: MailboxRelation) -> Net {
        self.relation = relation;
        if relation != MailboxRelation::default() {
            self.parameters.push(("relation".into(), relation.to_string()));
        }
        self
    }

    /// Adds the limit on failed tests in a row, and the flag that is set when it is reached.
    pub(crate) fn with_poll_limit(mut self, limit: u32, reached: Arc<AtomicBool>) -> Net {
        self.polled = Some((limit, reached));
        self
    }

    pub(crate) fn with_parameter(mut self, name: &str, value: usize) -> Net {
        self.parameters.push((name.into(), value.to_string()));
        self
    }
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net").field("name", &self.name).field("parameters", &self.parameters).finish_non_exhaustive()
    }
}

impl Program for Net {
    type Machine = NetMachine;

    fn machine(&self, config: &MachineConfig) -> Result<NetMachine, MachineError> {
        let mut set_up = NetBuilder {
            histories: Histories::default(),
            bodies: Vec::new(),
            mailboxes: Vec::new(),
            mutexes: Vec::new(),
            ports: 0,
            failed: None,
        };
        match &*self.source {
            NetSource::NetBuilder(run) => run(&mut set_up),
            NetSource::Script(script, places) => {
                set_up.mailboxes.clone_from(&script.mailboxes);
                set_up.mutexes.clone_from(&script.mutexes);
                for (p, label) in script.names.iter().enumerate() {
                    set_up.body(label.clone(), places.get(p).cloned(), ProcessBody::Script(script.ops(p).into()));
                }
            }
        }
        if let Some(error) = set_up.failed {
            return Err(error);
        }
        let NetBuilder { mut histories, bodies, mailboxes, mutexes, ports, .. } = set_up;
        histories.budget.limit = config.memory;
        NetMachine::new(histories, &bodies, mailboxes, mutexes, ports, self.relation)
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        self.parameters.clone()
    }

    fn caveats(&self) -> Vec<String> {
        let mut caveats = Vec::new();
        if let Some((limit, reached)) = &self.polled
            && reached.load(Ordering::Relaxed)
        {
            caveats.push(format!(
                "a rank polled: executions in which the same tests fail more than {limit} times in a row are not explored; raise the limit with `World::polls`"
            ));
        }
        match self.relation {
            MailboxRelation::Ranked => {}
            MailboxRelation::Paper => caveats.push(
                "relation paper: Theorem 6 does not hold for waits and tests of several communications, so final states and deadlocks may be missed; the relation ranked misses none".into(),
            ),
        }
        caveats
    }

    fn refinements(&self) -> u64 {
        0
    }
}
