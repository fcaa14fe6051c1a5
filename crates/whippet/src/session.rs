//! The settings of this process: from `cargo whippet`, or from environment variables.

use crate::{CheckError, Checker};
use std::sync::OnceLock;
use std::time::Duration;
use whippet_protocol::{Session, Settings};

/// Returns the session of this process.
pub(crate) fn session() -> Result<&'static Session, CheckError> {
    static SESSION: OnceLock<Result<Session, String>> = OnceLock::new();
    let session = SESSION.get_or_init(|| Session::of_this_process().map_err(|error| error.to_string()));
    session.as_ref().map_err(|why| CheckError::Environment { why: why.clone() })
}

impl Checker {
    /// Returns the checker with these settings, which override its own.
    pub(crate) fn with_settings(&self, given: &Settings) -> Result<Checker, CheckError> {
        let unknown = |error: whippet_search::UnknownName| CheckError::Environment { why: error.to_string() };
        let mut checker = self.clone();
        let options = &mut checker.options;
        if let Some(name) = &given.reduction {
            options.reduction = name.parse().map_err(unknown)?;
        }
        if let Some(name) = &given.order {
            options.order = name.parse().map_err(unknown)?;
        }
        options.sleep |= given.sleep_sets;
        options.seed = given.seed.unwrap_or(options.seed);
        options.samples = given.samples.unwrap_or(options.samples);
        options.limits.executions = given.limit_executions.or(options.limits.executions);
        options.limits.time = given.limit_seconds.map(Duration::from_secs_f64).or(options.limits.time);
        options.limits.steps = given.limit_steps.unwrap_or(options.limits.steps);
        options.jobs = given.workers.unwrap_or(options.jobs);
        options.first_bug |= given.first_bug;
        options.undeliverable_is_error |= given.unreceived;
        if given.once {
            options.limits.executions = Some(1);
            checker.partial = true;
        }
        Ok(checker)
    }
}

/// Returns the name by which the test harness knows the running test, where `body` is the type of the test's body.
///
/// The harness gives the name to the thread, but a harness with one thread runs tests on the main thread. Then the name
/// is that of the function in which the body is a closure.
pub(crate) fn test_name<B>() -> Option<String> {
    let thread = std::thread::current();
    if let Some(name) = thread.name().filter(|&name| name != "main") {
        return Some(name.to_owned());
    }
    let path = std::any::type_name::<B>().strip_suffix("::{{closure}}")?;
    path.split_once("::").map(|(_, name)| name.to_owned())
}
