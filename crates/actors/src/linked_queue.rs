//! Linked lists of pending messages, from which a message can be removed and reinserted in constant time.
//!
//! A message that is removed keeps the links to its neighbours (Knuth's dancing links). Steps are undone in reverse
//! order, so when the message is reinserted its neighbours are the same again, and nothing has to be searched or moved.

/// Sentinel: no message.
pub(crate) const NONE: u32 = u32::MAX;

/// The neighbours of one message.
#[derive(Copy, Clone, Debug)]
pub(crate) struct QueueLink {
    before: u32,
    after: u32,
}

/// A list of messages in the order they were sent. The links are stored in a separate vector, indexed by message.
#[derive(Copy, Clone, Debug)]
pub(crate) struct LinkedQueue {
    first: u32,
    last: u32,
}

impl LinkedQueue {
    pub(crate) const EMPTY: LinkedQueue = LinkedQueue { first: NONE, last: NONE };

    /// Returns the messages in the list, in order.
    #[inline]
    pub(crate) fn iter(self, links: &[QueueLink]) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let what = next;
            next = links.get(what as usize)?.after;
            Some(what)
        })
    }

    /// Returns the messages behind one that is in a list, in order.
    pub(crate) fn iter_after(what: u32, links: &[QueueLink]) -> impl Iterator<Item = u32> + '_ {
        LinkedQueue { first: links[what as usize].after, last: NONE }.iter(links)
    }

    /// Appends a new message, whose number is the length of `links`.
    #[inline]
    pub(crate) fn push(&mut self, links: &mut Vec<QueueLink>) {
        let what = links.len() as u32;
        match links.get_mut(self.last as usize) {
            Some(last) => last.after = what,
            None => self.first = what,
        }
        links.push(QueueLink { before: self.last, after: NONE });
        self.last = what;
    }

    /// Removes the newest of all messages, which is the last in this list.
    #[inline]
    pub(crate) fn pop(&mut self, links: &mut Vec<QueueLink>) {
        let link = links.pop().expect("there is a message to forget");
        debug_assert_eq!(
            self.last as usize,
            links.len(),
            "internal error: the newest message is not the last of its queue"
        );
        self.join_neighbours(links, link.before, NONE);
    }

    /// Removes a message but keeps its links.
    #[inline]
    pub(crate) fn unlink(&mut self, links: &mut [QueueLink], what: u32) {
        let QueueLink { before, after } = links[what as usize];
        self.join_neighbours(links, before, after);
    }

    /// Links two messages to each other as neighbours.
    #[inline]
    fn join_neighbours(&mut self, links: &mut [QueueLink], before: u32, after: u32) {
        match links.get_mut(before as usize) {
            Some(link) => link.after = after,
            None => self.first = after,
        }
        match links.get_mut(after as usize) {
            Some(link) => link.before = before,
            None => self.last = before,
        }
    }

    /// Reinserts a message. Messages must be reinserted in the reverse order of their removal.
    #[inline]
    pub(crate) fn relink(&mut self, links: &mut [QueueLink], what: u32) {
        let QueueLink { before, after } = links[what as usize];
        match links.get_mut(before as usize) {
            Some(link) => link.after = what,
            None => self.first = what,
        }
        match links.get_mut(after as usize) {
            Some(link) => link.before = what,
            None => self.last = what,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlinking_and_relinking() {
        let (mut queue, mut links) = (LinkedQueue::EMPTY, Vec::new());
        (0..4).for_each(|_| queue.push(&mut links));
        let list = |queue: LinkedQueue, links: &[QueueLink]| queue.iter(links).collect::<Vec<_>>();
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let mut seen = vec![list(queue, &links)];
            for what in order {
                queue.unlink(&mut links, what);
                seen.push(list(queue, &links));
                let after = |&what: &u32| LinkedQueue::iter_after(what, &links).collect::<Vec<_>>();
                let left = seen.last().expect("it was pushed just now");
                assert!(left.iter().enumerate().all(|(k, what)| after(what) == left[k + 1..]));
            }
            assert_eq!(list(queue, &links), [0; 0]);
            for what in order.into_iter().rev() {
                assert_eq!(list(queue, &links), seen.pop().unwrap());
                queue.relink(&mut links, what);
            }
            assert_eq!(list(queue, &links), [0, 1, 2, 3]);
        }
        queue.unlink(&mut links, 1);
        queue.push(&mut links);
        assert_eq!(list(queue, &links), [0, 2, 3, 4]);
        queue.pop(&mut links);
        queue.relink(&mut links, 1);
        assert_eq!(list(queue, &links), [0, 1, 2, 3]);
    }
}
