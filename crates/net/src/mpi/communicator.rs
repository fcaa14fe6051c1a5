//! Communicators: groups of ranks with messages and collective operations of their own.

use super::Rank;
use std::fmt::Debug;
use std::rc::Rc;
use whippet_model::Name;

/// A group of ranks, as one of its members sees it.
#[derive(Clone, Debug)]
pub(super) struct Communicator {
    pub(super) id: Name,
    /// The ports of the members, in the order of their numbers.
    pub(super) members: Rc<[u32]>,
    /// The number of this member.
    pub(super) me: u32,
    /// The number of communicators that this member has created from this one.
    created: Rc<std::cell::Cell<u64>>,
}

impl Communicator {
    /// Returns the communicator of all ranks.
    pub(super) fn world(ranks: u32, me: u32) -> Communicator {
        Communicator { id: Name::ROOT.mixed(0xc033), members: (0..ranks).collect(), me, created: Rc::default() }
    }

    pub(super) fn is_world(&self) -> bool {
        self.id == Name::ROOT.mixed(0xc033)
    }

    /// Creates a communicator of these members, which all of them create by the same call. `part` distinguishes those
    /// that one call creates.
    fn create(&self, part: u64, members: Rc<[u32]>) -> Communicator {
        let own = self.members[self.me as usize];
        let me = members.iter().position(|&member| member == own).expect("this rank is a member") as u32;
        Communicator { id: self.id.mixed(self.created.get()).mixed(part), members, me, created: Rc::default() }
    }
}

impl<T: Clone + Debug + 'static> Rank<T> {
    /// Creates a communicator with the same members (`MPI_Comm_dup`). All members must call this function.
    ///
    /// ```
    /// use whippet_net::mpi::{Buffering, Source, Tag, World};
    /// let net = World::new(2).buffering(Buffering::Eager).program("two worlds", async |mpi| {
    ///     let library = mpi.dup().await;
    ///     if mpi.rank() == 0 {
    ///         library.send(1, 0, 1).await;
    ///         mpi.send(1, 0, 2).await;
    ///     } else {
    ///         // Messages of the other communicator are not received.
    ///         assert_eq!(mpi.recv(Source::Any, Tag::Any).await.value, 2);
    ///         assert_eq!(library.recv(Source::Any, Tag::Any).await.value, 1);
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn dup(&self) -> impl Future<Output = Rank<T>> {
        let joined = self.typed::<()>().exchange("dup", ());
        async move {
            joined.await;
            self.communicator.created.update(|created| created + 1);
            self.on(self.communicator.create(0, self.communicator.members.clone()))
        }
    }

    /// Creates one communicator for each colour, of the members that give it, ordered by `key` and then by rank
    /// (`MPI_Comm_split`). Returns `None` to members that give no colour. All members must call this function.
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(4).program("halves", async |mpi| {
    ///     let half = mpi.split(Some(mpi.rank() as u32 / 2), 0).await.unwrap();
    ///     assert_eq!((half.size(), half.rank()), (2, mpi.rank() % 2));
    ///     assert_eq!(half.allreduce(mpi.rank(), |a, b| a + b).await, 4 * (mpi.rank() / 2) + 1);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn split(&self, colour: Option<u32>, key: i64) -> impl Future<Output = Option<Rank<T>>> {
        let exchanged = self.typed::<(Option<u32>, i64)>().exchange("split", (colour, key));
        async move {
            let answers = exchanged.await;
            self.communicator.created.update(|created| created + 1);
            let colour = colour?;
            let mut members: Vec<(i64, usize)> = answers
                .iter()
                .enumerate()
                .filter(|(_, (other, _))| *other == Some(colour))
                .map(|(member, (_, key))| (*key, member))
                .collect();
            members.sort_unstable();
            let members = members.into_iter().map(|(_, member)| self.communicator.members[member]).collect();
            Some(self.on(self.communicator.create(1 + u64::from(colour), members)))
        }
    }

    /// Creates a communicator of some members, in this order (`MPI_Comm_create`). Returns `None` to the others. All
    /// members must call this function, with the same list.
    ///
    /// # Panics
    ///
    /// Panics if a rank does not exist.
    ///
    /// ```
    /// use whippet_net::mpi::{Rank, World};
    /// let net = World::new(3).program("two of three", async |mpi: Rank<u8>| {
    ///     let pair = mpi.create(&[2, 0]).await;
    ///     assert_eq!(pair.map(|pair| pair.rank()), [Some(1), None, Some(0)][mpi.rank()]);
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[track_caller]
    pub fn create(&self, members: &[usize]) -> impl Future<Output = Option<Rank<T>>> {
        let members: Vec<u32> = members.iter().map(|&member| self.port_of(member)).collect();
        let joined = self.typed::<()>().exchange("create", ());
        async move {
            joined.await;
            self.communicator.created.update(|created| created + 1);
            let own = self.communicator.members[self.rank()];
            members.contains(&own).then(|| self.on(self.communicator.create(0, members.into())))
        }
    }
}
