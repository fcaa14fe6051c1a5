//! Programs on which the shim was once wrong, with the outcomes that it missed or invented.

use std::sync::Arc;
use tokio_judge::judge::{Kind, Limits, Reference, Search, look};
use tokio_reference::{Leaf, Object, Op, Program};
use whippet_search::Reduction;

/// A program, and an outcome of it that was missed, or else invented.
struct Known {
    name: &'static str,
    objects: Vec<Object>,
    tasks: Vec<Vec<Op>>,
    outcome: &'static str,
    is_possible: bool,
}

fn missed(name: &'static str, objects: Vec<Object>, tasks: Vec<Vec<Op>>, outcome: &'static str) -> Known {
    Known { name, objects, tasks, outcome, is_possible: true }
}

fn invented(name: &'static str, objects: Vec<Object>, tasks: Vec<Vec<Op>>, outcome: &'static str) -> Known {
    Known { name, objects, tasks, outcome, is_possible: false }
}

fn biased(branches: Vec<Leaf>) -> Op {
    Op::Select { biased: true, branches }
}

fn within(ticks: u64, leaf: Leaf) -> Op {
    Op::Await(Leaf::Within(ticks, Box::new(leaf)))
}

fn semaphores() -> Vec<Known> {
    let semaphore = |permits| vec![Object::Semaphore { permits }];
    vec![
        missed(
            "a waiter keeps permits that were assigned to it",
            semaphore(0),
            vec![
                vec![Op::Await(Leaf::Acquire(0, 3)), Op::Available(0)],
                vec![Op::AddPermits(0, 1), Op::CloseSemaphore(0), Op::Available(0)],
            ],
            "0[closed 1]  1[0]",
        ),
        missed(
            "permits are added while a closed waiter keeps its own",
            semaphore(1),
            vec![
                vec![Op::Await(Leaf::Acquire(0, 2))],
                vec![Op::AddPermits(0, 1), Op::Available(0)],
                vec![Op::CloseSemaphore(0)],
            ],
            "0[closed]  1[1]  2[]",
        ),
        missed(
            "the poll of a served waiter does not depend on a later close",
            semaphore(1),
            vec![
                vec![Op::SpawnIn(2), Op::Available(0), Op::AddPermits(0, 1)],
                vec![Op::CloseSemaphore(0)],
                vec![Op::Await(Leaf::Acquire(0, 2))],
            ],
            "0[0]  1[]  2[acquired]",
        ),
        invented(
            "nothing comes between joining a line and waiting",
            vec![Object::RwLock],
            vec![
                vec![Op::Spawn(1), Op::Await(Leaf::Read(0)), Op::TryRead(0), Op::Abort(1)],
                vec![Op::Await(Leaf::Write(0))],
            ],
            "0[empty busy]  1[102]",
        ),
    ]
}

fn notifies() -> Vec<Known> {
    let armed = || vec![Op::Arm { object: 0, enable: true }];
    let tasks = || vec![armed(), vec![Op::NotifyOne(0)], vec![Op::Await(Leaf::Notified(0))]];
    let notify = || vec![Object::Notify];
    vec![
        missed("enable uses the notification up", notify(), tasks(), "0[true]  1[]  2[] blocked"),
        invented("a used notification is not passed on", notify(), tasks(), "0[true]  1[]  2[notified]"),
        missed(
            "waiters are notified between two branches",
            notify(),
            vec![vec![Op::NotifyWaiters(0)], vec![biased(vec![Leaf::Notified(0), Leaf::Notified(0)])]],
            "0[]  1[1:notified]",
        ),
    ]
}

fn channels() -> Vec<Known> {
    let mpsc = || vec![Object::Mpsc { capacity: Some(1) }];
    let yields =
        || vec![vec![Op::TryRecv(0), biased(vec![Leaf::Yield, Leaf::Recv(0)])], vec![Op::Await(Leaf::Send(0))]];
    let acts = vec![Leaf::Recv(1), Leaf::Now(Box::new(Op::Publish(0))), Leaf::Now(Box::new(Op::Publish(0)))];
    let publishes = Leaf::Then(Box::new(Op::Publish(0)), Box::new(Leaf::Closed(0)));
    vec![
        missed("a branch after a yield finds the end", mpsc(), yields(), "0[102 1:none]  1[sent]"),
        missed("a branch after a yield finds a message", mpsc(), yields(), "0[empty 1:102]  1[sent]"),
        missed(
            "a channel is closed between two branches",
            mpsc(),
            vec![vec![Op::Close(0)], vec![Op::TrySend(0), biased(vec![Leaf::Send(0), Leaf::Closed(0)])]],
            "0[]  1[sent 1:closed]",
        ),
        missed(
            "receivers go between an operation of a branch and its wait",
            vec![Object::Watch],
            vec![vec![biased(vec![publishes, Leaf::Now(Box::new(Op::IsClosed(0)))])], vec![Op::Borrow(0)]],
            "0[0:0,closed]  1[3]",
        ),
        missed(
            "a timer that another select has polled competes with other branches",
            vec![Object::Mpsc { capacity: None }],
            vec![vec![
                biased(vec![Leaf::Recv(0), Leaf::Tick(1)]),
                Op::Select { biased: false, branches: vec![Leaf::Tick(1), Leaf::Recv(0)] },
            ]],
            "0[0:none 1:none]",
        ),
        missed(
            "the last branch of a select acts first",
            vec![Object::Watch, Object::Mpsc { capacity: None }],
            vec![vec![Op::Select { biased: false, branches: acts }], vec![Op::SendNow(1)]],
            "0[2:0]  1[sent]",
        ),
        missed(
            "a closed channel has not ended while a sender that waited holds a place",
            mpsc(),
            vec![
                vec![
                    Op::TryRecv(0),
                    Op::Close(0),
                    Op::Select {
                        biased: false,
                        branches: vec![Leaf::Now(Box::new(Op::Close(0))), Leaf::Now(Box::new(Op::TryRecv(0)))],
                    },
                ],
                vec![Op::Await(Leaf::Send(0)), Op::Await(Leaf::Send(0))],
            ],
            "0[102 1:empty]  1[sent closed]",
        ),
        missed(
            "a broadcast is heard before the next one",
            vec![Object::Broadcast { capacity: 1 }],
            vec![vec![Op::Broadcast(0), Op::Broadcast(0)], vec![Op::Await(Leaf::Heard(0))]],
            "0[1 nobody]  1[1]",
        ),
        missed(
            "a task that was woken is aborted before it goes on",
            vec![Object::Watch],
            vec![
                vec![Op::Spawn(1), Op::Publish(0), Op::Abort(1)],
                vec![biased(vec![Leaf::Yield, Leaf::Changed(0)]), Op::Await(Leaf::Changed(0))],
            ],
            "0[0]  1[0:yielded] cancelled",
        ),
    ]
}

fn timers() -> Vec<Known> {
    vec![
        missed(
            "the clock is read after a timer has fired",
            vec![],
            vec![vec![Op::Await(Leaf::Sleep(1))], vec![Op::Now]],
            "0[slept]  1[1]",
        ),
        missed(
            "a task begins after a timer has fired",
            vec![Object::Oneshot],
            vec![vec![within(1, Leaf::Answer(0))], vec![within(2, Leaf::Closed(0))]],
            "0[gone]  1[elapsed]",
        ),
        missed(
            "the first tick is ready at once",
            vec![],
            vec![vec![biased(vec![Leaf::Tick(1), Leaf::Now(Box::new(Op::Now))])]],
            "0[0:tick]",
        ),
        invented(
            "no timer fires before a branch that is ready at once",
            vec![Object::Watch],
            vec![vec![biased(vec![Leaf::Sleep(1), Leaf::Changed(0)])]],
            "0[0:slept]",
        ),
        missed(
            "a task that is aborted too late has timed out",
            vec![Object::Oneshot],
            vec![vec![Op::SpawnIn(1), Op::DropReceiver(0)], vec![within(1, Leaf::Closed(0))]],
            "0[]  1[elapsed]",
        ),
        missed(
            "a timer of the same poll fires between two branches",
            vec![Object::Mpsc { capacity: Some(1) }],
            vec![
                vec![Op::Await(Leaf::Recv(0))],
                vec![Op::Await(Leaf::Send(0)), biased(vec![Leaf::Sleep(1), Leaf::Send(0), Leaf::Sleep(1)])],
            ],
            "0[102]  1[sent 2:slept]",
        ),
        missed(
            "the clock moves on in the middle of a poll",
            vec![],
            vec![vec![biased(vec![Leaf::Sleep(2), Leaf::Then(Box::new(Op::Now), Box::new(Leaf::Sleep(1)))])]],
            "0[0:slept]",
        ),
        invented(
            "no timer fires while another one is due",
            vec![],
            vec![
                vec![biased(vec![Leaf::Sleep(1), Leaf::Then(Box::new(Op::Now), Box::new(Leaf::Sleep(1)))])],
                vec![Op::Now],
            ],
            "0[0:slept]  1[2]",
        ),
    ]
}

fn joins() -> Vec<Known> {
    let now = |op| Leaf::Now(Box::new(op));
    let then = |op, leaf| Leaf::Then(Box::new(op), Box::new(leaf));
    let mpsc = |capacity| vec![Object::Mpsc { capacity }];
    let notified = then(Op::NotifyWaiters(0), Leaf::Yield);
    vec![
        missed(
            "a branch of a join that is ready is done before the next one acts",
            mpsc(Some(1)),
            vec![vec![Op::JoinAll(vec![Leaf::Recv(0), now(Op::DropReceiver(0))])]],
            "0[none&]",
        ),
        missed(
            "a branch of a join that is ready is done before the next one begins",
            vec![Object::Oneshot],
            vec![vec![Op::JoinAll(vec![Leaf::Closed(0), then(Op::IsClosed(0), Leaf::Yield)])]],
            "0[closed&true,yielded]",
        ),
        missed(
            "a join goes round",
            vec![Object::OnceCell],
            vec![vec![Op::SpawnIn(1), Op::Get(0)], vec![Op::JoinAll(vec![Leaf::GetOrInit(0), Leaf::GetOrInit(0)])]],
            "0[102]  1[] cancelled",
        ),
        missed(
            "a receiver that goes gives capacity back",
            mpsc(Some(1)),
            vec![vec![Op::TryRecv(0)], vec![Op::Await(Leaf::ReserveSend(0)), Op::Capacity(0)]],
            "0[empty]  1[sent 1]",
        ),
        missed(
            "a message of a closed channel keeps its place",
            mpsc(Some(1)),
            vec![vec![Op::Close(0)], vec![Op::Await(Leaf::Send(0)), Op::Await(Leaf::Send(0)), Op::Capacity(0)]],
            "0[]  1[sent closed 0]",
        ),
        invented(
            "waiters that are notified leave the permit to others",
            vec![Object::Notify],
            vec![
                vec![biased(vec![notified, Leaf::Notified(0)])],
                vec![Op::NotifyOne(0)],
                vec![Op::Await(Leaf::Notified(0))],
            ],
            "0[1:notified]  1[]  2[] blocked",
        ),
        missed(
            "a close that is merged happens after all that its task has done",
            vec![Object::Semaphore { permits: 0 }, Object::Mpsc { capacity: None }],
            vec![
                vec![Op::AddPermits(0, 1), Op::Await(Leaf::Recv(1))],
                vec![Op::Await(Leaf::Closed(1))],
                vec![Op::SendNow(1)],
            ],
            "0[201]  1[closed]  2[sent]",
        ),
    ]
}

fn selects() -> Vec<Known> {
    let any = |branches| Op::Select { biased: false, branches };
    let then_lock = Leaf::Then(Box::new(Op::Broadcast(1)), Box::new(Leaf::Lock(0)));
    vec![missed(
        "a thread that is asleep may have another branch",
        vec![Object::Mutex, Object::Broadcast { capacity: 1 }],
        vec![
            vec![any(vec![Leaf::Lock(0), then_lock, Leaf::Lock(0)]), Op::Await(Leaf::Lock(0))],
            vec![Op::DropReceiver(1), Op::TryLock(0)],
            vec![any(vec![Leaf::Heard(1), Leaf::Heard(1), Leaf::Heard(1)])],
        ],
        "0[2:102+6] blocked  1[102]  2[0:4]",
    )]
}

/// Compares the shim and the reference with what is known of a program.
fn complaint(known: Known) -> Option<String> {
    let Known { name, objects, tasks, outcome, is_possible } = known;
    let (program, limits) = (Arc::new(Program { objects, tasks }), Limits::default());
    let is_in = |outcomes: Vec<String>| outcomes.iter().any(|other| other == outcome);
    let reference = Reference::new(&program, &limits).expect("it is small");
    if is_in(reference.coarse().iter().map(ToString::to_string).collect()) != is_possible {
        return Some(format!("{name}: the reference is wrong about {outcome}"));
    }
    let search = Search { reduction: Reduction::Optimal, merged: true, deep: false, one_thread: false };
    let explored = match search.run(&program, &limits) {
        Ok(explored) => explored,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    (is_in(explored.outcomes.iter().map(ToString::to_string).collect()) != is_possible)
        .then(|| format!("{name}: the shim is wrong about {outcome}"))
}

#[test]
fn known_faults_stay_away() {
    let all = [semaphores(), notifies(), channels(), timers(), joins(), selects()].into_iter().flatten();
    let complaints: Vec<String> = all.filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Programs whose code once logged something impossible, in executions that do not count.
#[test]
fn executions_that_do_not_count_show_nothing_impossible() {
    let leaves = vec![Leaf::BarrierWait(0), Leaf::BarrierWait(0)];
    let left_in_a_poll = Program {
        objects: vec![Object::Barrier { size: 2 }, Object::Oneshot],
        tasks: vec![vec![biased(leaves), Op::Await(Leaf::Answer(1))], vec![Op::Reply(1)]],
    };
    let aborted = |first: Op| Program {
        objects: vec![Object::Broadcast { capacity: 1 }],
        tasks: vec![vec![Op::Spawn(1), Op::Abort(1), Op::Await(Leaf::Join(1))], vec![first, Op::Await(Leaf::Heard(0))]],
    };
    for program in [left_in_a_poll, aborted(Op::TryHear(0)), aborted(Op::Await(Leaf::Heard(0)))] {
        for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Exhaustive] {
            for merged in [true, false] {
                let search = Search { reduction, merged, deep: false, one_thread: false };
                let found = look(&program, search, Kind::Impossible, &Limits::default());
                assert!(found.is_none(), "{}", found.expect("it was found"));
            }
        }
    }
}
