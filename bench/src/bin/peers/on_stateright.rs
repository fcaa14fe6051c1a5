//! Stateright, with an actor model that one thread searches depth first. Its actors cannot create others, so the actors
//! of a tree exist from the start.
//!
//! Stateright ignores a delivery that changes nothing. Here every handler takes a mutable reference to its state, so
//! that the same steps are counted as with the other tools.

use stateright::actor::{Actor, ActorModel, Envelope, Id, Network, Out};
use stateright::{Checker, Expectation, Model};
use std::borrow::Cow;
use whippet_bench::{Colour, Counts, Number, Process, Workload, keep, part_of_pi, small_fib};

/// The role of an actor, with its initial knowledge.
#[derive(Clone, Debug)]
enum Role {
    Master { workers: usize },
    Worker { id: usize, workers: usize },
    Registry,
    Member,
    Node { client: Option<Id>, children: Vec<Id> },
    Consumer { only_sum: bool },
    Producer { first: usize, k: usize },
    Process { id: usize, right: Id },
    Broker { meetings: usize },
    Creature(Colour),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Msg {
    Boot(u32),
    Work(Id),
    Stop,
    Sum(i64),
    Register(usize),
    Compute(u32),
    Result(u64),
    Start,
    Item(usize),
    Hear(Number),
    Ask(Colour),
    Meet(Colour),
}

#[derive(Clone, Debug, PartialEq, Hash)]
enum State {
    Plain { stopped: bool },
    Summing { received: usize, sum: i64 },
    Kept(Vec<usize>),
    Node { first: Option<u64> },
    Process(Process),
    Broker { meetings: usize, waiting: Option<(Id, Colour)> },
    Creature { colour: Colour, home: bool },
}

impl Actor for Role {
    type Msg = Msg;
    type Timer = ();
    type State = State;
    type Storage = ();
    type Random = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> State {
        match *self {
            Role::Worker { .. } | Role::Member | Role::Producer { .. } => State::Plain { stopped: false },
            Role::Master { .. } => State::Summing { received: 0, sum: 0 },
            Role::Registry | Role::Consumer { .. } => State::Kept(Vec::new()),
            Role::Node { .. } => State::Node { first: None },
            Role::Process { id, .. } => State::Process(Process::new(id)),
            Role::Broker { meetings } => State::Broker { meetings, waiting: None },
            Role::Creature(colour) => State::Creature { colour, home: false },
        }
    }

    fn on_msg(&self, me: Id, state: &mut Cow<'_, State>, from: Id, message: Msg, out: &mut Out<Self>) {
        match (self, state.to_mut(), message) {
            (Role::Master { workers }, State::Summing { .. }, Msg::Boot(_)) => {
                (1..=*workers).for_each(|worker| out.send(Id::from(worker), Msg::Work(me)));
            }
            (Role::Master { workers }, State::Summing { received, sum }, Msg::Sum(part)) => {
                *received += 1;
                *sum += part;
                if received == workers {
                    (1..=*workers).for_each(|worker| out.send(Id::from(worker), Msg::Stop));
                }
            }
            (Role::Worker { id, workers }, _, Msg::Work(master)) => {
                out.send(master, Msg::Sum(part_of_pi(*id, *workers)));
            }
            (Role::Worker { .. }, State::Plain { stopped }, Msg::Stop) => *stopped = true,
            (Role::Registry, State::Kept(known), Msg::Register(id)) => known.push(id),
            (Role::Member, _, Msg::Work(registry)) => out.send(registry, Msg::Register(me.into())),
            (Role::Node { children, .. }, _, Msg::Boot(n)) => out.send(children[0], Msg::Compute(n)),
            (Role::Node { client, children }, State::Node { .. }, Msg::Compute(n)) => match (small_fib(n), client) {
                (Some(value), Some(client)) => out.send(*client, Msg::Result(value)),
                _ => {
                    out.send(children[0], Msg::Compute(n - 1));
                    out.send(children[1], Msg::Compute(n - 2));
                }
            },
            (Role::Node { client, .. }, State::Node { first }, Msg::Result(value)) => match (*first, client) {
                (Some(first), Some(client)) => out.send(*client, Msg::Result(first + value)),
                _ => *first = Some(value),
            },
            (Role::Consumer { only_sum }, State::Kept(kept), Msg::Item(item)) => keep(kept, item, *only_sum),
            (Role::Producer { first, k }, _, Msg::Start) => {
                (*first..first + k).for_each(|item| out.send(Id::from(0), Msg::Item(item)));
            }
            (Role::Process { right, .. }, State::Process(process), Msg::Hear(number)) => {
                if let Some(number) = process.hear(number) {
                    out.send(*right, Msg::Hear(number));
                }
            }
            (Role::Broker { .. }, _, Msg::Boot(_)) => (1..=3).for_each(|one| out.send(Id::from(one), Msg::Start)),
            (Role::Broker { .. }, State::Broker { meetings: 0, .. }, Msg::Ask(_)) => out.send(from, Msg::Stop),
            (Role::Broker { .. }, State::Broker { meetings, waiting }, Msg::Ask(colour)) => match waiting.take() {
                None => *waiting = Some((from, colour)),
                Some((other, its)) => {
                    *meetings -= 1;
                    out.send(other, Msg::Meet(colour));
                    out.send(from, Msg::Meet(its));
                }
            },
            (Role::Creature(_), State::Creature { colour, .. }, Msg::Start) => out.send(Id::from(0), Msg::Ask(*colour)),
            (Role::Creature(_), State::Creature { colour, .. }, Msg::Meet(other)) => {
                *colour = colour.meets(other);
                out.send(Id::from(0), Msg::Ask(*colour));
            }
            (Role::Creature(_), State::Creature { home, .. }, Msg::Stop) => *home = true,
            (role, state, message) => unreachable!("{role:?} in {state:?} gets {message:?}"),
        }
    }
}

/// Explores all states, or at least `most`.
pub(crate) fn run(workload: Workload, most: u64) -> Counts {
    let (actors, first) = set_up(workload);
    let fifo = matches!(workload, Workload::Producers { fifo: true, .. });
    let envelopes = first.into_iter().map(|(dst, msg)| Envelope { src: Id::from(actors.len()), dst, msg });
    let network = if fifo { Network::new_ordered(envelopes) } else { Network::new_unordered_nonduplicating(envelopes) };
    let checker = ActorModel::new((), ())
        .actors(actors)
        .init_network(network)
        // Without a property that holds, the checker would stop at once.
        .property(Expectation::Always, "no actor has crashed", |_, state| !state.crashed.contains(&true))
        .checker()
        .target_state_count(most as usize)
        .spawn_dfs()
        .join();
    let generated = checker.state_count() as u64;
    Counts {
        executions: None,
        states: Some(checker.unique_state_count() as u64),
        transitions: generated - 1,
        complete: generated < most,
    }
}

/// Returns the actors, and the messages that the test sends.
fn set_up(workload: Workload) -> (Vec<Role>, Vec<(Id, Msg)>) {
    let id = Id::from;
    match workload {
        Workload::Pi(workers) => {
            let mut actors = vec![Role::Master { workers }];
            actors.extend((0..workers).map(|id| Role::Worker { id, workers }));
            (actors, vec![(id(0), Msg::Boot(0))])
        }
        Workload::Registry(workers) => {
            let mut actors = vec![Role::Registry];
            actors.extend((0..workers).map(|_| Role::Member));
            let mut first = vec![(id(0), Msg::Register(0))];
            first.extend((1..=workers).map(|worker| (id(worker), Msg::Work(id(0)))));
            (actors, first)
        }
        Workload::Fib(n) => {
            let mut actors = vec![Role::Node { client: None, children: vec![id(1)] }];
            grow(&mut actors, 0, n);
            (actors, vec![(id(0), Msg::Boot(n))])
        }
        Workload::Producers { k, sum, .. } => {
            let producers = [0, 1].map(|id| Role::Producer { first: id * k, k });
            let actors = [Role::Consumer { only_sum: sum }].into_iter().chain(producers).collect();
            (actors, vec![(id(1), Msg::Start), (id(2), Msg::Start)])
        }
        Workload::Leader(n) => {
            let actors = (0..n).map(|k| Role::Process { id: k, right: id((k + 1) % n) }).collect();
            (actors, (0..n).map(|k| (id((k + 1) % n), Msg::Hear(Number::First(k)))).collect())
        }
        Workload::Chameneos(meetings) => {
            let mut actors = vec![Role::Broker { meetings }];
            actors.extend(Colour::ALL.map(Role::Creature));
            (actors, vec![(id(0), Msg::Boot(0))])
        }
    }
}

/// Adds the tree that computes fib(`n`) for `client`, and returns its root.
fn grow(actors: &mut Vec<Role>, client: usize, n: u32) -> Id {
    let node = actors.len();
    actors.push(Role::Node { client: Some(Id::from(client)), children: Vec::new() });
    if small_fib(n).is_none() {
        let grown = vec![grow(actors, node, n - 1), grow(actors, node, n - 2)];
        actors[node] = Role::Node { client: Some(Id::from(client)), children: grown };
    }
    Id::from(node)
}
