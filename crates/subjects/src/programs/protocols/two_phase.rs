//! Two-phase commit: a coordinator asks all participants, and commits if all agree.
//!
//! A participant may refuse, and then has aborted. The coordinator's timer may fire before all votes have arrived. In the faulty
//! version the coordinator does not wait for the last vote.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "2pc",
    about: "two-phase commit: all commit, or all abort",
    parameters: &[
        Parameter::new("n", "3", Values::Number(2, 7), "number of participants"),
        versions(&["correct", "hasty"], "the coordinator waits for all votes, or for all but one"),
    ],
    reconstructed: None,
    body: |settings| {
        let (n, correct) = (settings.number("n"), is_correct(settings));
        body(move |sys| {
            let participants: Vec<_> =
                (0..n).map(|_| sys.spawn(Participant { decided: None, refused: false })).collect();
            let needed = if correct { n } else { n - 1 };
            let coordinator = Coordinator { participants: participants.clone(), votes: 0, needed, done: false };
            let coordinator = sys.spawn(coordinator);
            sys.send(coordinator, Vote::Start);
            sys.at_end(participants, |all| {
                let decided = |what: bool| all.iter().any(|one| one.decided == Some(what));
                assert!(!(decided(true) && decided(false)), "one commits and another one aborts");
            });
        })
    },
};

#[derive(Clone, Debug, Hash)]
enum Vote {
    Start,
    Yes,
    No,
    Late,
}

#[derive(Clone, Debug, Hash)]
struct Coordinator {
    participants: Vec<Addr<Participant>>,
    votes: usize,
    needed: usize,
    done: bool,
}

#[derive(Clone, Debug, Hash)]
enum Request {
    Prepare(Addr<Coordinator>),
    Decide(bool),
}

#[derive(Clone, Debug, Hash)]
struct Participant {
    refused: bool,
    decided: Option<bool>,
}

impl Coordinator {
    fn decide(&mut self, commit: bool, cx: &mut Cx<Self>) {
        self.done = true;
        self.participants.iter().for_each(|&one| cx.send(one, Request::Decide(commit)));
    }
}

impl Actor for Coordinator {
    type Msg = Vote;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, vote: Vote, cx: &mut Cx<Self>) {
        match vote {
            Vote::Start => {
                self.participants.iter().for_each(|&one| cx.send(one, Request::Prepare(cx.this())));
                cx.set_timer(Duration::from_secs(1), Vote::Late);
            }
            _ if self.done => {}
            Vote::Yes => {
                self.votes += 1;
                if self.votes == self.needed {
                    self.decide(true, cx);
                }
            }
            Vote::No | Vote::Late => self.decide(false, cx),
        }
    }
}

impl Actor for Participant {
    type Msg = Request;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, request: Request, cx: &mut Cx<Self>) {
        match request {
            Request::Prepare(coordinator) if self.decided.is_none() => {
                self.refused = cx.choose(2) == 1;
                if self.refused {
                    self.decided = Some(false);
                }
                cx.send(coordinator, if self.refused { Vote::No } else { Vote::Yes });
            }
            Request::Decide(commit) if !self.refused => self.decided = Some(commit),
            Request::Prepare(_) | Request::Decide(_) => {}
        }
    }
}
