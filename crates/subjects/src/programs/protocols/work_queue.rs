//! A queue that delivers each job at least once: a job without an acknowledgement is sent again when a timer fires. A message may be
//! lost, and the worker may crash. It notes which jobs are done on its disk. In the faulty version it does not look there first.

use super::prelude::*;
use whippet::Durable;

pub(crate) const SUBJECT: Subject = Subject {
    name: "work-queue",
    about: "a queue delivers at least once, and a worker does each job once",
    parameters: &[
        Parameter::new("jobs", "2", Values::Number(1, 4), "number of jobs"),
        versions(&["correct", "repeats"], "the worker remembers what is done, or repeats it"),
    ],
    reconstructed: None,
    body: |settings| {
        let (jobs, remembers) = (settings.number("jobs"), is_correct(settings));
        body(move |sys| {
            sys.network(Network::lossy(1));
            let worker = sys.spawn(Worker { remembers, done: Durable::new(Vec::new()) });
            let queue = sys.spawn(Queue { worker, jobs, waiting: BTreeMap::new() });
            sys.send(queue, Event::Start);
            sys.crashes(worker, 1);
            sys.at_end(worker, move |worker| {
                let mut done = worker.done.to_vec();
                done.sort_unstable();
                assert!(done.windows(2).all(|pair| pair[0] != pair[1]), "a job is done twice");
                assert_eq!(done.len(), jobs, "a job is not done");
            });
        })
    },
};

#[derive(Clone, Debug, Hash)]
enum Event {
    Start,
    Done(usize),
    Again(usize),
}

#[derive(Clone, Debug, Hash)]
struct Queue {
    worker: Addr<Worker>,
    jobs: usize,
    /// How often each job that is not acknowledged was sent again.
    waiting: BTreeMap<usize, u32>,
}

#[derive(Clone, Debug, Hash)]
struct Job(usize, Addr<Queue>);

#[derive(Clone, Debug, Hash)]
struct Worker {
    remembers: bool,
    done: Durable<Vec<usize>>,
}

impl Actor for Queue {
    type Msg = Event;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, event: Event, cx: &mut Cx<Self>) {
        let send = |job: usize, cx: &mut Cx<Self>| {
            cx.send(self.worker, Job(job, cx.this()));
            cx.set_timer(Duration::from_secs(1), Event::Again(job));
        };
        match event {
            Event::Start => {
                for job in 0..self.jobs {
                    send(job, cx);
                    self.waiting.insert(job, 0);
                }
            }
            Event::Done(job) => {
                self.waiting.remove(&job);
                cx.cancel_timers(|event| matches!(event, Event::Again(other) if *other == job));
            }
            Event::Again(job) => {
                // One message may be lost, so twice is enough; without a limit, the program would not end.
                if let Some(times) = self.waiting.get_mut(&job).filter(|times| **times < 2) {
                    *times += 1;
                    send(job, cx);
                }
            }
        }
    }
}

impl Actor for Worker {
    type Msg = Job;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Job(job, queue): Job, cx: &mut Cx<Self>) {
        if !self.remembers || !self.done.contains(&job) {
            self.done.push(job);
            self.done.sync();
        }
        cx.send(queue, Event::Done(job));
    }

    fn after_crash(&self, cx: &mut Cx<Self>) -> Option<Worker> {
        Some(Worker { remembers: self.remembers, done: self.done.recover(cx) })
    }
}
