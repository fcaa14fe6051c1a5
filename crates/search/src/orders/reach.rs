//! Reachability between actors in the graph of all sends seen so far.

use super::Group;
use std::cmp::Ordering;
use whippet_model::{ActorNo, BitMatrix};

/// The transitive closure of the graph of sends.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    /// For each actor, the actors that it reaches.
    reached: BitMatrix,
    /// The number of actors that have rows.
    known: u32,
}

impl Reach {
    /// Adds a send.
    #[inline]
    pub(super) fn sends(&mut self, from: ActorNo, to: ActorNo) {
        if !self.reaches(from.0, to.0) {
            self.close(from.0, to.0);
        }
    }

    #[inline]
    fn reaches(&self, from: u32, to: u32) -> bool {
        from < self.known && self.reached.contains(from, to)
    }

    /// Adds an edge: every actor that reaches `from`, and `from` itself, now reaches `to` and everything that `to`
    /// reaches.
    fn close(&mut self, from: u32, to: u32) {
        self.known = self.known.max(from.max(to) + 1);
        self.reached.reserve(self.known as usize);
        for actor in 0..self.known {
            if actor == from || self.reaches(actor, from) {
                self.reached.join(actor, to);
                self.reached.insert(actor, to);
            }
        }
    }

    /// Compares as published: if exactly one actor reaches the other, it goes first; otherwise the older one does.
    /// This is not transitive.
    pub(super) fn compare(&self, a: ActorNo, b: ActorNo) -> Ordering {
        match (self.reaches(a.0, b.0), self.reaches(b.0, a.0)) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => a.cmp(&b),
        }
    }

    /// Sorts actors step by step: moves to position `done` the oldest remaining actor that no other one reaches
    /// without being reached by it, and returns it. "Reaches and is not reached" is transitive, so such an actor
    /// always exists.
    pub(super) fn next(&self, groups: &mut [Group], done: usize) -> Group {
        let open = &groups[done..];
        let below = |a: &Group| open.iter().any(|b| self.reaches(b.actor, a.actor) && !self.reaches(a.actor, b.actor));
        let free = open.iter().enumerate().filter(|(_, group)| !below(group));
        let next =
            free.min_by_key(|(_, group)| group.actor).expect("a strict order of finitely many has a least one").0;
        groups.swap(done, done + next);
        groups[done]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaching_is_closed_whatever_the_order_of_sends() {
        let edges = [(0, 1), (2, 3), (1, 2), (3, 4), (5, 0)];
        for turn in 0..edges.len() {
            let mut reach = Reach::default();
            let mut edges = edges;
            edges.rotate_left(turn);
            edges.iter().for_each(|&(a, b)| reach.sends(ActorNo(a), ActorNo(b)));
            assert!(reach.reaches(5, 4) && reach.reaches(0, 3) && !reach.reaches(4, 0) && !reach.reaches(0, 0));
        }
    }

    #[test]
    fn sorting_puts_those_that_reach_first_and_keeps_age_otherwise() {
        let mut reach = Reach::default();
        reach.sends(ActorNo(3), ActorNo(1));
        let mut groups: Vec<Group> =
            [2, 0, 1, 3].map(|actor| Group { actor, first: 0, last: 0, count: 1, awake: true, level: 0 }).to_vec();
        (0..4).for_each(|done| {
            reach.next(&mut groups, done);
        });
        assert_eq!(groups.iter().map(|g| g.actor).collect::<Vec<_>>(), [0, 2, 3, 1]);
    }
}
