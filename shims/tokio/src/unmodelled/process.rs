//! Child processes. Commands can be built, but not started.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

/// Shim of `tokio::process::Command`.
#[derive(Debug)]
pub struct Command {
    command: std::process::Command,
    kill_on_drop: bool,
}

/// Defines methods that configure a command as the one of `std` does.
macro_rules! configures {
    ($($name:ident$(<$($generic:ident: $bound:path),*>)?($($argument:ident: $kind:ty),*);)*) => {$(
        pub fn $name$(<$($generic: $bound),*>)?(&mut self, $($argument: $kind),*) -> &mut Command {
            self.command.$name($($argument),*);
            self
        }
    )*};
}

impl From<std::process::Command> for Command {
    fn from(command: std::process::Command) -> Command {
        Command { command, kill_on_drop: false }
    }
}

impl Command {
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        std::process::Command::new(program).into()
    }
    configures! {
        arg<S: AsRef<OsStr>>(argument: S);
        env<K: AsRef<OsStr>, V: AsRef<OsStr>>(key: K, value: V);
        env_remove<K: AsRef<OsStr>>(key: K);
        env_clear();
        current_dir<P: AsRef<Path>>(directory: P);
        stdin<T: Into<Stdio>>(input: T);
        stdout<T: Into<Stdio>>(output: T);
        stderr<T: Into<Stdio>>(output: T);
    }
    pub fn args<S: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = S>) -> &mut Command {
        self.command.args(arguments);
        self
    }
    pub fn envs<K, V>(&mut self, variables: impl IntoIterator<Item = (K, V)>) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.command.envs(variables);
        self
    }
    pub fn as_std(&self) -> &std::process::Command {
        &self.command
    }
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.command
    }
    pub fn into_std(self) -> std::process::Command {
        self.command
    }
    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Command {
        self.kill_on_drop = kill;
        self
    }
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        super::not_modelled("process::Command::spawn", std::panic::Location::caller())
    }
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        Command::run_to_output()
    }
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        Command::run_to_status()
    }
    opens! {
        "process::Command::output": fn run_to_output() -> io::Result<Output>;
        "process::Command::status": fn run_to_status() -> io::Result<ExitStatus>;
    }
}

types! { ChildStdin ChildStdout ChildStderr }
writes! { ChildStdin }
reads! { ChildStdout, ChildStderr }
descriptors! { ChildStdin ChildStdout ChildStderr }

/// Shim of `tokio::process::Child`. It has no values.
#[derive(Debug)]
pub struct Child {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    nothing: super::Never,
}

impl Child {
    pub fn id(&self) -> Option<u32> {
        match self.nothing {}
    }
    pub fn start_kill(&mut self) -> io::Result<()> {
        match self.nothing {}
    }
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self.nothing {}
    }
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self.nothing {}
    }
    pub async fn wait_with_output(self) -> io::Result<Output> {
        match self.nothing {}
    }
    pub async fn kill(&mut self) -> io::Result<()> {
        match self.nothing {}
    }
}
