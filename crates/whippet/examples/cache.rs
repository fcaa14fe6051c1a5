//! A cache that is refreshed by a task, and an index that a lock protects: two wrong versions and a right one.
//!
//! The index holds the version of the cached content. To refresh, the cache runs a task, which loads the next version
//! and writes its number into the index while it holds the lock; the cache waits for the task. A reader compares the
//! two: the content of the cache must never be newer than the index says.
//!
//! Run it: `cargo run -p whippet --example cache`

#![allow(clippy::print_stdout)]

use whippet::prelude::*;
use whippet::report::{counterexample, headline, plain};

/// The index and the lock that protects it.
#[derive(Clone, Copy, Debug)]
struct Index {
    lock: Lock,
    newest: Shared<u32>,
}

#[derive(Clone, Debug)]
enum CacheMsg {
    Get(Reply<u32>),
    Refresh,
}

#[derive(Clone, Debug)]
struct Cache {
    index: Index,
    version: u32,
}

impl Actor for Cache {
    type Msg = CacheMsg;

    async fn handle(&mut self, msg: CacheMsg, cx: &mut Cx<Self>) {
        match msg {
            CacheMsg::Get(reply) => cx.reply(reply, self.version),
            CacheMsg::Refresh => {
                let index = self.index;
                let loading = cx.spawn_task(async move |task| {
                    let _guard = task.lock(index.lock).await;
                    let next = task.read(index.newest) + 1;
                    task.write(index.newest, next);
                    next
                });
                self.version = cx.wait(loading).await;
            }
        }
    }
}

/// The way in which a reader accesses the cache and the index.
#[derive(Clone, Copy, Debug)]
enum How {
    /// Asks the cache while holding the lock: a lock holder must not wait for actors that may need the lock.
    HoldingTheLock,
    /// Reads the index without the lock.
    WithoutTheLock,
    /// Asks the cache first, and holds the lock only to read the index.
    CacheFirst,
}

#[derive(Clone, Debug)]
struct Reader {
    how: How,
    cache: Addr<Cache>,
    index: Index,
}

#[derive(Clone, Debug)]
struct Read;

impl Actor for Reader {
    type Msg = Read;

    async fn handle(&mut self, _: Read, cx: &mut Cx<Self>) {
        let (version, newest) = match self.how {
            How::HoldingTheLock => {
                let _guard = cx.lock(self.index.lock).await;
                let newest = cx.read(self.index.newest);
                (cx.call(self.cache, CacheMsg::Get).await, newest)
            }
            How::WithoutTheLock => {
                let version = cx.call(self.cache, CacheMsg::Get).await;
                (version, cx.read(self.index.newest))
            }
            How::CacheFirst => {
                let version = cx.call(self.cache, CacheMsg::Get).await;
                let _guard = cx.lock(self.index.lock).await;
                (version, cx.read(self.index.newest))
            }
        };
        assert!(version <= newest, "version {version} is cached, the index knows {newest} only");
    }
}

fn read_while_refreshing(sys: &mut System, how: How) {
    let index = Index { lock: sys.new_lock(), newest: sys.new_shared(0) };
    let cache = sys.spawn(Cache { index, version: 0 });
    let reader = sys.spawn(Reader { how, cache, index });
    sys.send(cache, CacheMsg::Refresh);
    sys.send(reader, Read);
}

/// Returns the findings for each of the three.
pub(crate) fn report() -> String {
    let mut text = String::new();
    for how in [How::HoldingTheLock, How::WithoutTheLock, How::CacheFirst] {
        let verdict = Checker::new(format!("{how:?}"))
            .explore(move |sys| read_while_refreshing(sys, how))
            .expect("the program can be explored");
        text += &format!("== {how:?}: {} executions\n", verdict.counters.executions);
        for finding in &verdict.findings {
            text += &format!("{}\n{}", headline(finding), plain(&counterexample(&finding.counterexample)));
        }
        for note in verdict.notes.iter().filter(|note| note.contains("data race")) {
            text += &format!("note: {note}\n");
        }
    }
    text
}

pub(crate) fn main() {
    print!("{}", report());
}
