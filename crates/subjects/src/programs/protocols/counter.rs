//! A replicated counter that only grows: each replica counts its own increments, and merges the counts of others (a state-based
//! CRDT). The network delivers a message twice. In the faulty version replicas send increments, which are then added twice.

use super::abd::others;
use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "crdt-counter",
    about: "replicas of a counter converge although messages arrive twice",
    parameters: &[
        Parameter::new("n", "3", Values::Number(2, 5), "number of replicas"),
        Parameter::new("increments", "2", Values::Number(1, 5), "number of increments, at different replicas"),
        versions(&["correct", "adds"], "replicas merge counts, or add increments"),
    ],
    reconstructed: None,
    body: |settings| {
        let (n, increments, merges) = (settings.number("n"), settings.number("increments"), is_correct(settings));
        body(move |sys| {
            sys.network(Network::duplicating(1));
            let replicas = sys.spawn_peers(n, |k, peers| Replica {
                id: k,
                peers: others(peers, k),
                merges,
                counts: vec![0; peers.len()],
            });
            (0..increments).for_each(|k| sys.send(replicas[k % n], Msg::Increment));
            sys.converge(replicas.clone(), |replica| replica.counts.iter().sum::<u32>());
            sys.at_end(replicas, move |replicas| {
                let total = replicas[0].counts.iter().sum::<u32>();
                assert_eq!(total as usize, increments, "the counter counts other increments");
            });
        })
    },
};

#[derive(Clone, Debug, Hash)]
enum Msg {
    Increment,
    Merge(Vec<u32>),
    Add(usize),
}

#[derive(Clone, Debug, Hash)]
struct Replica {
    id: usize,
    peers: Vec<Addr<Replica>>,
    merges: bool,
    /// The increments of each replica, as far as they are known here.
    counts: Vec<u32>,
}

impl Actor for Replica {
    type Msg = Msg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        match msg {
            Msg::Increment => {
                self.counts[self.id] += 1;
                let update = if self.merges { Msg::Merge(self.counts.clone()) } else { Msg::Add(self.id) };
                self.peers.iter().for_each(|&peer| cx.send(peer, update.clone()));
            }
            Msg::Merge(counts) => {
                self.counts.iter_mut().zip(counts).for_each(|(known, count)| *known = (*known).max(count));
            }
            Msg::Add(replica) => self.counts[replica] += 1,
        }
    }
}
