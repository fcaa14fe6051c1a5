//! Linked lists of pending messages, from which a message can be removed and reinserted in constant time.
//!
//! A message that is removed keeps the links to its neighbours (Knuth's dancing links). Steps are undone in reverse
//! order, so when the message is reinserted its neighbours are the same again, and nothing has to be searched or moved.

/// Sentinel: no message.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The neighbours of one message.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Link {
    before: u32,
    after: u32,
}

/// A list of messages in the order they were sent. The links are stored in a separate vector, indexed by message.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Line {
    first: u32,
    last: u32,
}

impl Line {
    pub(crate) const EMPTY: Line = Line { first: NOBODY, last: NOBODY };

    /// Returns the messages in the list, in order.
    #[inline]
    pub(crate) fn iter(self, links: &[Link]) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let what = next;
            next = links.get(what as usize)?.after;
            Some(what)
        })
    }

    /// Appends a new message, whose number is the length of `links`.
    #[inline]
    pub(crate) fn push(&mut self, links: &mut Vec<Link>) {
        let what = links.len() as u32;
        match links.get_mut(self.last as usize) {
            Some(last) => last.after = what,
            None => self.first = what,
        }
        links.push(Link { before: self.last, after: NOBODY });
        self.last = what;
    }

    /// Removes the newest of all messages, which is the last in this list.
    #[inline]
    pub(crate) fn pop(&mut self, links: &mut Vec<Link>) {
        let link = links.pop().expect("there is a message to forget");
        debug_assert_eq!(self.last as usize, links.len(), "our bug: it is not the last in its line");
        self.close(links, link.before, NOBODY);
    }

    /// Removes a message but keeps its links.
    #[inline]
    pub(crate) fn take(&mut self, links: &mut [Link], what: u32) {
        let Link { before, after } = links[what as usize];
        self.close(links, before, after);
    }

    /// Links two messages to each other as neighbours.
    #[inline]
    fn close(&mut self, links: &mut [Link], before: u32, after: u32) {
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
    pub(crate) fn put_back(&mut self, links: &mut [Link], what: u32) {
        let Link { before, after } = links[what as usize];
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
    fn taking_out_and_putting_back() {
        let (mut line, mut links) = (Line::EMPTY, Vec::new());
        (0..4).for_each(|_| line.push(&mut links));
        let list = |line: Line, links: &[Link]| line.iter(links).collect::<Vec<_>>();
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let mut seen = vec![list(line, &links)];
            for what in order {
                line.take(&mut links, what);
                seen.push(list(line, &links));
            }
            assert_eq!(list(line, &links), [0; 0]);
            for what in order.into_iter().rev() {
                assert_eq!(list(line, &links), seen.pop().unwrap());
                line.put_back(&mut links, what);
            }
            assert_eq!(list(line, &links), [0, 1, 2, 3]);
        }
        line.take(&mut links, 1);
        line.push(&mut links);
        assert_eq!(list(line, &links), [0, 2, 3, 4]);
        line.pop(&mut links);
        line.put_back(&mut links, 1);
        assert_eq!(list(line, &links), [0, 1, 2, 3]);
    }
}
