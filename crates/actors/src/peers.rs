//! Groups of actors that know each other from the beginning.

use crate::Actor;
use crate::System;
use crate::address::Addr;

impl System {
    /// Creates actors that know each other: `peer` gets the number of the actor and the addresses of all of them, its own
    /// included.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Node { next: Addr<Node>, seen: bool }
    /// impl Actor for Node {
    ///     type Msg = ();
    ///     async fn handle(&mut self, _token: (), cx: &mut Cx<Self>) {
    ///         if !self.seen {
    ///             self.seen = true;
    ///             cx.send(self.next, ());
    ///         }
    ///     }
    /// }
    /// whippet::check(|sys| {
    ///     let ring = sys.spawn_peers(3, |k, peers| Node { next: peers[(k + 1) % 3], seen: false });
    ///     sys.send(ring[0], ());
    ///     sys.at_end(ring, |nodes| assert!(nodes.iter().all(|node| node.seen)));
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_peers<A: Actor + Clone>(
        &mut self,
        count: usize,
        mut peer: impl FnMut(usize, &[Addr<A>]) -> A,
    ) -> Vec<Addr<A>> {
        let coming = self.context.engine.borrow().coming_addresses(count);
        let peers: Vec<Addr<A>> = coming.into_iter().map(Addr::new).collect();
        for k in 0..count {
            let addr = self.spawn(peer(k, &peers));
            assert_eq!(addr, peers[k], "our bug: an actor has another address than its peers were told");
        }
        peers
    }
}
