//! Variables of a thread that each task has for itself: the states of random generators.
//!
//! All tasks run on one thread, and a search runs many executions on it. A generator in a `thread_local!` that is seeded
//! once, such as the keys of `std`'s hash maps, which are counted up with each map, would go on from one task to the
//! next, and from one execution to the next. So an execution would not repeat, and what a task draws would depend on
//! the order of tasks in a way that no footprint shows. Therefore each task begins with fresh variables, which are
//! exchanged when another task runs.
//!
//! `std` offers no way to such variables of other crates. But an executable has a table of symbols, which says where in the
//! memory of a thread each of them is. It is read when the first task begins. In an executable without this table, or elsewhere than on Linux, nothing is exchanged; what
//! differs between executions is then noticed as any other nondeterminism.

use crate::current::try_with_current;
use crate::execution::NONE;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The destructor of a variable of a thread.
pub type Destructor = unsafe extern "C" fn(*mut u8);

/// The variables of a task, while it does not run, and how much it has used of its random bytes.
#[derive(Default)]
pub(crate) struct OwnVariables {
    /// The number of random words that it has drawn.
    pub(crate) drawn: u64,
    /// The bytes of all variables, one after the other; `None` if they have their initial values.
    saved: Option<Box<[u8]>>,
    /// The destructors of the variables that have some, with their addresses.
    destructors: Vec<(Destructor, *mut u8)>,
}

impl OwnVariables {
    /// Drops the variables. Requires that no task runs on this thread, which is the one on which they were made.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.drawn = 0;
        if self.saved.is_some() {
            self.drop_values();
        }
    }

    #[cold]
    fn drop_values(&mut self) {
        let destructors = std::mem::take(&mut self.destructors);
        if !destructors.is_empty() {
            enter(self);
            for (destructor, variable) in destructors {
                // SAFETY: the variable has the value for which this destructor was registered.
                unsafe { destructor(variable) };
            }
            leave(self);
        }
        self.saved = None;
    }
}

/// Replaces the variables of this thread by those of a task, which goes on.
#[inline]
pub(crate) fn enter(own: &mut OwnVariables) {
    if let Some(found) = FOUND.get_or_init(symbols::variables) {
        found.write(own.saved.as_deref().unwrap_or(&found.initial));
        found.reset_counters();
    }
}

/// Stores the variables of a task, which is suspended, and gives those of the thread their initial values.
#[inline]
pub(crate) fn leave(own: &mut OwnVariables) {
    if let Some(Some(found)) = FOUND.get()
        && found.read(&mut own.saved)
    {
        found.write(&found.initial);
    }
}

/// Returns `true` if a task runs and `address` is in one of its own variables.
#[must_use]
pub fn is_variable(address: *mut u8) -> bool {
    let Some(Some(found)) = FOUND.get() else { return false };
    let here = here();
    let is_inside = |(offset, size): &(usize, usize)| address.addr().wrapping_sub(here.wrapping_add(*offset)) < *size;
    found.places.iter().any(is_inside) && try_with_current(|x| x.running() != NONE).unwrap_or(false)
}

/// Takes over the destructor of a variable of the running task: see [`is_variable`].
pub fn take_destructor(destructor: Destructor, variable: *mut u8) {
    try_with_current(|x| x.task().own.destructors.push((destructor, variable)));
}

static FOUND: OnceLock<Option<Variables>> = OnceLock::new();

/// The places of the variables in the memory of each thread.
#[derive(Debug)]
struct Variables {
    /// Their distances from [`HERE`], and their sizes.
    places: Vec<(usize, usize)>,
    /// Their initial bytes, one after the other.
    initial: Box<[u8]>,
    /// The statics from which such variables are seeded: addresses, sizes and initial values.
    counters: Vec<(usize, u64, u64)>,
}

thread_local! {
    /// A variable of which both the symbol and the address are known. The symbol is found by this name.
    static HERE: std::cell::Cell<u64> = const { std::cell::Cell::new(1) };
}

/// A static of which both the symbol and the address are known. The symbol is found by this name.
static ANCHOR: AtomicU64 = AtomicU64::new(1);

/// Returns the address of [`ANCHOR`].
fn anchor() -> usize {
    std::ptr::from_ref(&ANCHOR).expose_provenance()
}

/// Returns the address of [`HERE`].
fn here() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).expose_provenance())
}

impl Variables {
    /// Calls `work` with the address of each variable of this thread, and its range in the list of all bytes.
    #[inline]
    fn each(&self, mut work: impl FnMut(*mut u8, std::ops::Range<usize>)) {
        let (here, mut from) = (here(), 0);
        for &(offset, size) in &self.places {
            let variable = std::ptr::with_exposed_provenance_mut(here.wrapping_add(offset));
            work(variable, from..from + size);
            from += size;
        }
    }

    fn write(&self, bytes: &[u8]) {
        self.each(|variable, range| {
            let size = range.len();
            // SAFETY: the symbol says that the variable has this address and size. It belongs to this thread, which does
            // not use it now: no task runs, or it is being suspended. The bytes are the initial ones, or those that
            // a task left there.
            unsafe { bytes[range].as_ptr().copy_to_nonoverlapping(variable, size) };
        });
    }

    /// Gives the counters their initial values.
    #[inline]
    fn reset_counters(&self) {
        for &(counter, size, initial) in &self.counters {
            if size == 8 {
                let counter = std::ptr::with_exposed_provenance_mut(counter);
                // SAFETY: the symbol says that the static has this address and size, and it is an atomic.
                unsafe { AtomicU64::from_ptr(counter) }.store(initial, Ordering::Relaxed);
            } else {
                let counter = std::ptr::with_exposed_provenance_mut(counter);
                // SAFETY: as above.
                unsafe { AtomicU32::from_ptr(counter) }.store(initial as u32, Ordering::Relaxed);
            }
        }
    }

    /// Stores the bytes of the variables and returns `true`, unless they have their initial values and nothing was stored
    /// before.
    #[inline]
    fn read(&self, saved: &mut Option<Box<[u8]>>) -> bool {
        let mut changed = saved.is_some();
        self.each(|variable, range| {
            // SAFETY: as in `write`. Padding may be uninitialized, but memory of a thread begins as zeros or is copied from
            // the executable, and moving a value into it writes bytes.
            let now = unsafe { std::slice::from_raw_parts(variable.cast_const(), range.len()) };
            changed |= now != &self.initial[range];
        });
        if !changed {
            return false;
        }
        let saved = saved.get_or_insert_with(|| self.initial.clone());
        self.each(|variable, range| {
            // SAFETY: as above.
            let now = unsafe { std::slice::from_raw_parts(variable.cast_const(), range.len()) };
            saved[range].copy_from_slice(now);
        });
        true
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", not(miri))))]
mod symbols {
    pub(super) fn variables() -> Option<super::Variables> {
        None
    }
}

/// The symbols of the executable (ELF, 64 bits).
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", not(miri)))]
mod symbols {
    use super::Variables;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    /// Parts of the mangled names of the generators, in order. A part begins with its length, in both ways of mangling.
    const GENERATORS: [&[&str]; 5] = [
        &["3std", "6random", "11RandomState", "4KEYS"],
        &["4rand", "6thread", "14THREAD_RNG_KEY"],
        &["8fastrand", "3RNG"],
        &["12futures_util", "6random", "3RNG"],
        &["12tokio_stream", "4rand", "10THREAD_RNG"],
    ];

    /// The same for counters from which generators are seeded, with their sizes and initial values.
    const COUNTERS: [(&[&str], u64, u64); 2] = [
        (&["12futures_util", "6random", "9prng_seed", "7COUNTER"], 8, 0),
        (&["12tokio_stream", "4rand", "7COUNTER"], 4, 1),
    ];

    /// Parts of the names of [`super::HERE`] and [`super::ANCHOR`].
    const HERE: &[&str] = &["15whippet_runtime", "6system", "9variables", "4HERE"];
    const ANCHOR: &[&str] = &["15whippet_runtime", "6system", "9variables", "6ANCHOR"];

    /// A symbol table, and a program header of the kind for the memory of threads, by their numbers in ELF.
    const SYMTAB: u32 = 2;
    const TLS_SEGMENT: u32 = 7;
    /// The kinds of symbols of statics, and of those in the memory of threads.
    const OBJECT: u8 = 1;
    const TLS_SYMBOL: u8 = 6;
    /// More bytes than this are no variable of a generator.
    const LARGE: u64 = 1 << 12;

    pub(super) fn variables() -> Option<Variables> {
        let file = File::open("/proc/self/exe").ok()?;
        let head = bytes(&file, 0, 64)?;
        // ELF, 64 bits, little endian.
        if head[..6] != [0x7f, b'E', b'L', b'F', 2, 1] {
            return None;
        }
        let image = Image::read(&file, &head)?;
        let (number, size) = (u64::from(half(&head, 60)), u64::from(half(&head, 58)));
        let sections = bytes(&file, long(&head, 40), number.checked_mul(size)?)?;
        let section = |k: usize| sections.chunks_exact(size as usize).nth(k);
        let table = (0..number as usize).filter_map(section).find(|section| word(section, 4) == SYMTAB)?;
        let names = section(word(table, 40) as usize)?;
        let symbols = bytes(&file, long(table, 24), long(table, 32))?;
        let names = (long(names, 24), long(names, 32));
        let (mut here, mut anchor) = (None, None);
        let mut found: Vec<(u64, u64)> = Vec::new();
        let mut counters: Vec<(u64, u64, u64)> = Vec::new();
        for symbol in symbols.chunks_exact(24) {
            let (kind, at, size) = (symbol[4] & 15, long(symbol, 8), long(symbol, 16));
            // Most symbols are functions or large: their names need not be read.
            if kind == TLS_SYMBOL && size <= LARGE {
                let name = name(&file, names, word(symbol, 0))?;
                if has(&name, HERE) && here.replace(at).is_some() {
                    // Another version of this crate: its symbol cannot be told from the one of this.
                    return None;
                }
                if GENERATORS.iter().any(|parts| has(&name, parts)) {
                    found.push((at, size));
                }
            } else if kind == OBJECT && (size == 8 || size == 4) {
                let name = name(&file, names, word(symbol, 0))?;
                if has(&name, ANCHOR) {
                    anchor = Some(at);
                }
                let counter = COUNTERS.iter().find(|(parts, of, _)| *of == size && has(&name, parts));
                counters.extend(counter.map(|(_, _, initial)| (at, size, *initial)));
            }
        }
        let here = here?;
        found.sort_unstable();
        found.dedup();
        let places = found.iter().map(|&(at, size)| (at.wrapping_sub(here) as usize, size as usize)).collect();
        let initial: Option<Vec<Vec<u8>>> = found.iter().map(|&(at, size)| image.bytes(at, size)).collect();
        let base = anchor.map(|anchor| super::anchor().wrapping_sub(anchor as usize));
        let counters = base.iter().flat_map(|base| {
            counters.iter().map(|&(at, size, initial)| (base.wrapping_add(at as usize), size, initial))
        });
        Some(Variables { places, initial: initial?.concat().into(), counters: counters.collect() })
    }

    /// The memory of a thread as it is at its start.
    struct Image {
        /// The part that is not zeros.
        begins: Vec<u8>,
        size: u64,
    }

    impl Image {
        fn read(file: &File, head: &[u8]) -> Option<Image> {
            let (number, size) = (u64::from(half(head, 56)), u64::from(half(head, 54)));
            let headers = bytes(file, long(head, 32), number.checked_mul(size)?)?;
            let segment = headers.chunks_exact(size as usize).find(|header| word(header, 0) == TLS_SEGMENT)?;
            Some(Image { begins: bytes(file, long(segment, 8), long(segment, 32))?, size: long(segment, 40) })
        }

        fn bytes(&self, at: u64, size: u64) -> Option<Vec<u8>> {
            let end = at.checked_add(size).filter(|end| *end <= self.size)?;
            Some((at..end).map(|at| self.begins.get(at as usize).copied().unwrap_or(0)).collect())
        }
    }

    /// The longest beginning of a name that is read.
    const NAME: u64 = 512;

    /// Reads the name of a symbol from the table at `names`, a place in the file and a size.
    fn name(file: &File, names: (u64, u64), at: u32) -> Option<String> {
        let left = names.1.checked_sub(u64::from(at))?;
        let text = bytes(file, names.0 + u64::from(at), left.min(NAME))?;
        let text = text.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// Returns `true` if the parts are in the name, in this order.
    fn has(name: &str, parts: &[&str]) -> bool {
        let mut rest = Some(name);
        parts.iter().all(|part| {
            rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, rest)| rest);
            rest.is_some()
        })
    }

    fn bytes(file: &File, at: u64, size: u64) -> Option<Vec<u8>> {
        // A table of symbols may be large, but not as large as this.
        let mut bytes = vec![0; usize::try_from(size).ok().filter(|size| *size < 1 << 32)?];
        file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    }

    fn half(bytes: &[u8], at: usize) -> u16 {
        u16::from_le_bytes([bytes[at], bytes[at + 1]])
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from(half(bytes, at)) | u32::from(half(bytes, at + 2)) << 16
    }

    fn long(bytes: &[u8], at: usize) -> u64 {
        u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::hash::{BuildHasher, RandomState};

        #[test]
        fn the_keys_of_hash_maps_are_found() {
            let found = variables().expect("a table of symbols");
            assert_eq!(found.initial.len(), found.places.iter().map(|(_, size)| size).sum::<usize>());
            std::thread::spawn(move || {
                let _ = RandomState::new();
                let mut saved = None;
                assert!(found.read(&mut saved));
                let saved = saved.expect("the keys were made");
                let [one, other, again] = [0, 1, 0].map(|k| {
                    if k == 0 {
                        found.write(&saved);
                    }
                    RandomState::new().hash_one(1)
                });
                assert!(one == again && one != other);
            })
            .join()
            .unwrap();
        }

        #[test]
        fn parts_are_in_order() {
            let name = "_RNvNCNKNvNvMNtNtCsx_3std4hash6randomNtBa_11RandomState3new4KEYS0s_0";
            assert!(has(name, GENERATORS[0]) && !has(name, GENERATORS[1]));
            assert!(!has("6random3std11RandomState4KEYS", GENERATORS[0]));
        }
    }
}
