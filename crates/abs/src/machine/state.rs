//! The fingerprint of a configuration.

use super::frame::{Frame, Status};
use super::{AbsMachine, Outcome};
use crate::value::Value;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use whippet_model::{Comparison, Name};

/// Two hashers that run in parallel and together give 128 bits.
#[derive(Clone)]
struct Twice(FxHasher, FxHasher);

impl Twice {
    fn new() -> Twice {
        let mut other = FxHasher::default();
        other.write_u64(0x9E37_79B9_7F4A_7C15);
        Twice(FxHasher::default(), other)
    }

    fn done(&self) -> u128 {
        let mix = |hash: u64| Name(hash).mixed(11).0;
        u128::from(mix(self.0.finish())) << 64 | u128::from(mix(self.1.finish()))
    }
}

impl Hasher for Twice {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        for &byte in bytes {
            self.1.write_u8(byte);
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0.write_u64(word);
        self.1.write_u64(word.rotate_left(32) ^ 0x5851_F42D_4C95_7F2D);
    }
}

impl AbsMachine {
    /// Returns the hash of all objects, live tasks and kept outcomes. Objects are identified by name, tasks by their
    /// call and their remaining work; tasks whose futures are kept also by name.
    pub(super) fn hash_state(&self, comparison: Comparison) -> u128 {
        let parts = self.objects.iter().map(|object| {
            let mut hash = Twice::new();
            (object.name, object.class, &object.fields).hash(&mut hash);
            hash.done()
        });
        let tasks = self.live.iter().map(|&task| self.hash_task(task));
        let kept = self.tasks.iter().filter(|task| task.kept).filter_map(|task| {
            let mut hash = Twice::new();
            match &task.outcome.as_ref()?.0 {
                Outcome::Value(value) => (task.name, true, value).hash(&mut hash),
                Outcome::Failed(value, _) => (task.name, task.seen, value).hash(&mut hash),
            }
            Some(hash.done())
        });
        let all = parts.chain(tasks).chain(kept);
        match comparison {
            Comparison::Canonical => all.fold(0u128, u128::wrapping_add),
            Comparison::Ordered => all.fold(0u128, |sum, part| {
                sum.rotate_left(7).wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(part)
            }),
        }
    }

    fn hash_task(&self, task: u32) -> u128 {
        let entry = &self.tasks[task as usize];
        let mut hash = Twice::new();
        (entry.method, self.objects[entry.object as usize].name, &*entry.args, entry.marked).hash(&mut hash);
        if entry.kept {
            entry.name.hash(&mut hash);
        }
        for Frame { method, object, at, locals, tries, dest } in &entry.state.frames {
            (method, self.objects[*object as usize].name, at, locals as &[Value], tries, dest).hash(&mut hash);
        }
        match &entry.state.status {
            Status::Ready | Status::Done => {}
            Status::Waiting(wait) => {
                wait.futures.iter().for_each(|&future| self.tasks[future as usize].name.hash(&mut hash));
            }
            Status::Blocked(future, dest) => {
                (self.tasks[*future as usize].name, super::frame::pack(*dest)).hash(&mut hash);
            }
        }
        hash.done()
    }
}
