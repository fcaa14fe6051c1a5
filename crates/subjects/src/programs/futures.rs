//! The three programs of the paper on actors mixed with futures (Scala), reconstructed from a paragraph of
//! description. Their sources are not public, and no reconstruction with the published counts is known.
//!
//! `dataproc`: several tasks write into one array, each while holding its lock. `deadlock`: an actor and a task
//! acquire two locks in opposite orders. `datarace`: the final array depends on which of two tasks acquires the
//! lock first. All accesses are protected, so this is no data race in the usual sense: the order of two critical
//! sections decides the result.

use super::prelude::*;
use whippet::{Lock, Shared};

pub(crate) const DATAPROC: Subject = Subject {
    name: "dataproc",
    about: "tasks that write an array under its lock",
    parameters: &[Parameter::new("futures", "3", Values::Number(1, 6), "number of tasks")],
    reconstructed: Some("from the description"),
    body: |settings| {
        let futures = settings.number("futures");
        body(move |sys| dataproc(sys, futures))
    },
};

pub(crate) const DEADLOCK: Subject = Subject {
    name: "deadlock",
    about: "an actor and a task that take two locks in opposite orders",
    parameters: &[],
    reconstructed: Some("from the description"),
    body: |_| body(deadlock),
};

pub(crate) const DATARACE: Subject = Subject {
    name: "datarace",
    about: "tasks that append to an array under its lock, in either order",
    parameters: &[],
    reconstructed: Some("from the description"),
    body: |_| body(datarace),
};

fn dataproc(sys: &mut System, futures: usize) {
    let (lock, array) = (sys.new_lock(), sys.new_shared(vec![0; futures]));
    sys.spawn_fn_named("main", async move |main: &mut Inbox<()>| {
        let mut all = Vec::new();
        for k in 0..futures {
            all.push(main.spawn_task(async move |task| {
                let _guard = task.lock(lock).await;
                let mut values = task.read(array);
                values[k] = k + 1;
                task.write(array, values);
            }));
        }
        main.join_all(all).await;
        let expected: Vec<usize> = (1..=futures).collect();
        assert_eq!(main.read(array), expected, "a write is lost");
    });
}

/// An actor that acquires two locks, one after the other.
#[derive(Clone, Debug, Hash)]
struct Taker(Lock, Lock);

impl Actor for Taker {
    type Msg = ();
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
        let _first = cx.lock(self.0).await;
        let _second = cx.lock(self.1).await;
    }
}

fn deadlock(sys: &mut System) {
    let (a, b) = (sys.new_lock(), sys.new_lock());
    let taker = sys.spawn(Taker(a, b));
    sys.send(taker, ());
    sys.spawn_fn_named("main", async move |main: &mut Inbox<()>| {
        let promise = main.spawn_task(async move |task| {
            let _first = task.lock(b).await;
            let _second = task.lock(a).await;
        });
        main.wait(promise).await;
    });
}

fn datarace(sys: &mut System) {
    let (lock, array) = (sys.new_lock(), sys.new_shared(Vec::new()));
    sys.spawn_fn_named("main", async move |main: &mut Inbox<()>| {
        let promises = [1, 2].map(|k| main.spawn_task(async move |task| append(task, lock, array, k).await));
        main.join_all(promises.to_vec()).await;
        let values = main.read(array);
        assert_eq!(values, [1, 2], "the result depends on the order of taking the lock");
    });
}

async fn append(task: &mut whippet::Task, lock: Lock, array: Shared<Vec<u32>>, k: u32) {
    let _guard = task.lock(lock).await;
    let mut values = task.read(array);
    values.push(k);
    task.write(array, values);
}
