//! The processes that this command has started: none of them stays behind, however it ends.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time that tests get to stop after they were asked to, before they are killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The interval between calls of `tick`.
const TICK: Duration = Duration::from_millis(200);

/// The processes that are running, by their ids. A process leaves the map when it is waited for, so the id of a process
/// in the map is not used again.
static RUNNING: Mutex<BTreeMap<u32, Child>> = Mutex::new(BTreeMap::new());

/// The time at which all tests were asked to stop.
static STOPPED: Mutex<Option<Instant>> = Mutex::new(None);

fn running() -> MutexGuard<'static, BTreeMap<u32, Child>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records that all tests were asked to stop. Those that do not are killed after a while.
pub(crate) fn stop() {
    STOPPED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
}

fn stopped() -> Option<Instant> {
    *STOPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns `true` if all tests were asked to stop.
pub(crate) fn is_stopped() -> bool {
    stopped().is_some()
}

/// Kills all processes, removes a directory and ends this process with `code`.
pub(crate) fn kill_all_and_exit(directory: Option<&Path>, code: i32) -> ! {
    // The lock is held to the end, so that no other process starts.
    let mut running = running();
    for child in running.values_mut() {
        kill(child);
    }
    if let Some(directory) = directory {
        let _ = fs::remove_dir_all(directory);
    }
    std::process::exit(code)
}

/// Kills a process, and the processes that it started.
fn kill(child: &mut Child) {
    kill_group(child);
    // It may have ended already.
    let _ = child.kill().and_then(|()| child.wait());
}

/// Kills the processes that belong to a process that was not waited for.
fn kill_group(child: &Child) {
    #[cfg(unix)]
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: the call has no requirements. If there is a group of this number, it is that of the child.
        unsafe { libc::killpg(group, libc::SIGKILL) };
    }
    #[cfg(not(unix))]
    let _ = child;
}

/// Returns `true` if a process of this id exists.
pub(crate) fn is_alive(id: u32) -> bool {
    #[cfg(unix)]
    return libc::pid_t::try_from(id).is_ok_and(|id| {
        // SAFETY: signal 0 only asks whether the process exists.
        let found = unsafe { libc::kill(id, 0) };
        found == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
    });
    #[cfg(not(unix))]
    return id > 0;
}

/// Makes the operating system kill the process that `command` starts when the thread that starts it ends, so that a
/// test does not outlive this process even if that is killed.
fn die_with_this_thread(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let parent = std::process::id();
        let ask = move || {
            // SAFETY: the call only sets an attribute of the process.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            // This process may have been killed before the call.
            let gone = std::os::unix::process::parent_id() != parent;
            if gone { Err(io::Error::from_raw_os_error(libc::ESRCH)) } else { Ok(()) }
        };
        // SAFETY: the function calls nothing that is not allowed between `fork` and `exec`: it does not allocate.
        unsafe { command.pre_exec(ask) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// Runs a command to its end and returns its output. It is killed after `limit`, or if it does not stop when all tests
/// are asked to: then the reason is returned, too. Calls `tick` with the id of the process about five times a second; the
/// process is also killed for the reason that `tick` returns.
pub(crate) fn output(
    command: &mut Command,
    limit: Option<Duration>,
    tick: &mut dyn FnMut(u32) -> Option<String>,
) -> io::Result<(Output, Option<String>)> {
    // Only this process receives Ctrl-C. It asks the tests to stop, and they report their findings so far.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    die_with_this_thread(command);
    let memories = [whippet_protocol::STDOUT, whippet_protocol::STDERR].map(file_in_memory);
    let [stdout, stderr] = memories
        .each_ref()
        .map(|memory| memory.as_ref().and_then(|file| file.try_clone().ok()).map_or_else(Stdio::piped, Stdio::from));
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    let (id, mut stdout, mut stderr) = start(command)?;
    let [out_memory, err_memory] = memories;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (read, ended) = std::thread::scope(|scope| {
        let output = scope.spawn(|| stdout.as_mut().map_or(Ok(0), |stdout| stdout.read_to_end(&mut out)));
        let errors = scope.spawn(|| stderr.as_mut().map_or(Ok(0), |stderr| stderr.read_to_end(&mut err)));
        let ended = wait(id, limit, tick);
        let output = output.join().expect("reading does not panic");
        (output.and(errors.join().expect("reading does not panic")), ended)
    });
    let (status, killed) = ended?;
    if stdout.is_none() {
        read_memory(out_memory, &mut out)?;
    }
    if stderr.is_none() {
        read_memory(err_memory, &mut err)?;
    }
    read.map(|_| (Output { status, stdout: out, stderr: err }, killed))
}

/// Appends what a process has written to a file in memory.
fn read_memory(memory: Option<fs::File>, to: &mut Vec<u8>) -> io::Result<()> {
    if let Some(mut memory) = memory {
        memory.rewind()?;
        memory.read_to_end(to)?;
    }
    Ok(())
}

/// Runs a command to its end with the terminal of this process. Ctrl-C ends both.
pub(crate) fn foreground(command: &mut Command) -> io::Result<ExitStatus> {
    die_with_this_thread(command);
    command.status()
}

/// Creates a file in memory, in which a process can read what it has printed itself. Returns `None` where this is not
/// possible: then the report of a finding does not show what each step has printed.
fn file_in_memory(name: &str) -> Option<fs::File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::FromRawFd;
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: the name is a valid string that ends with a zero.
        let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: the call has just created this file, and nothing else owns it.
        (file >= 0).then(|| unsafe { fs::File::from_raw_fd(file) })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        None
    }
}

type Pipes = (u32, Option<std::process::ChildStdout>, Option<std::process::ChildStderr>);

fn start(command: &mut Command) -> io::Result<Pipes> {
    let mut running = running();
    let mut child = command.spawn()?;
    let id = child.id();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    running.insert(id, child);
    Ok((id, stdout, stderr))
}

/// Waits for a process that is in [`RUNNING`].
fn wait(
    id: u32,
    limit: Option<Duration>,
    tick: &mut dyn FnMut(u32) -> Option<String>,
) -> io::Result<(ExitStatus, Option<String>)> {
    let (start, mut ticked) = (Instant::now(), Instant::now());
    let mut killed = None;
    loop {
        // Findings are confirmed meanwhile, in other processes.
        let told = if ticked.elapsed() >= TICK { tick(id) } else { None };
        if ticked.elapsed() >= TICK {
            ticked = Instant::now();
        }
        {
            let mut running = running();
            let child = running.get_mut(&id).expect("only this function removes it");
            if has_ended(child)? {
                // What the test has started must not stay behind, nor keep its output open.
                kill_group(child);
                let status = child.wait()?;
                running.remove(&id);
                return Ok((status, killed));
            }
            let late = limit.filter(|&limit| start.elapsed() > limit);
            let deaf = stopped().is_some_and(|at| at.elapsed() > PATIENCE);
            if killed.is_none() && (told.is_some() || late.is_some() || deaf) {
                killed = Some(match (told, late) {
                    (Some(reason), _) => reason,
                    (None, Some(limit)) => {
                        format!("its process did not end within {} s and was killed", limit.as_secs())
                    }
                    (None, None) => "its process did not stop on request and was killed".into(),
                });
                kill_group(child);
                // It may have ended already.
                let _ = child.kill();
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns `true` if a child has ended. It is not waited for, so that its id stays in use.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    loop {
        // SAFETY: an all-zero value is valid for this plain struct, which the call fills in.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the pointer is valid, and the id is that of a child that was not waited for.
        let answer = unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut info, flags) };
        if answer == 0 {
            // SAFETY: `waitid` has filled in the fields of an ended child, or left them zero.
            return Ok(unsafe { info.si_pid() } != 0);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    child.try_wait().map(|status| status.is_some())
}
