//! A lock service with leases: a client holds the lock until its lease ends, by the clock of the service. A client that is slow
//! writes after that. Each lease has a larger number, and the storage refuses numbers smaller than one it has seen (*fencing*). In
//! the faulty version it does not look.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "leases",
    about: "a storage with fencing takes no writes of leases that have ended",
    parameters: &[
        Parameter::new("clients", "2", Values::Number(2, 4), "number of clients that want the lock"),
        versions(&["correct", "no-fencing"], "the storage compares the numbers of leases, or not"),
    ],
    reconstructed: None,
    body: |settings| {
        let (clients, fences) = (settings.number("clients"), is_correct(settings));
        body(move |sys| {
            let storage = sys.spawn(Storage { fences, newest: 0, written: Vec::new() });
            let service = sys.spawn(Service { held: false, number: 0, waiting: Vec::new() });
            for _ in 0..clients {
                let client = sys.spawn(Client { storage });
                sys.send(service, Request::Acquire(client));
            }
            sys.always(storage, |storage| {
                assert!(storage.written.is_sorted(), "a write of a lease that has ended comes after a newer one");
            });
            sys.at_end(service, move |service| assert_eq!(service.number as usize, clients, "all got a lease"));
        })
    },
};

#[derive(Clone, Debug, Hash)]
enum Request {
    Acquire(Addr<Client>),
    Expired(u32),
}

#[derive(Clone, Debug, Hash)]
struct Service {
    held: bool,
    /// The number of the newest lease.
    number: u32,
    waiting: Vec<Addr<Client>>,
}

#[derive(Clone, Debug, Hash)]
struct Client {
    storage: Addr<Storage>,
}

/// The number of a lease.
#[derive(Clone, Debug, Hash)]
struct Lease(u32);

#[derive(Clone, Debug, Hash)]
struct Storage {
    fences: bool,
    newest: u32,
    written: Vec<u32>,
}

impl Service {
    fn grant(&mut self, client: Addr<Client>, cx: &mut Cx<Self>) {
        (self.held, self.number) = (true, self.number + 1);
        cx.send(client, Lease(self.number));
        cx.set_timer(Duration::from_secs(10), Request::Expired(self.number));
    }
}

impl Actor for Service {
    type Msg = Request;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, request: Request, cx: &mut Cx<Self>) {
        match request {
            Request::Acquire(client) if self.held => self.waiting.push(client),
            Request::Acquire(client) => self.grant(client, cx),
            Request::Expired(number) if number == self.number => {
                self.held = false;
                if !self.waiting.is_empty() {
                    let client = self.waiting.remove(0);
                    self.grant(client, cx);
                }
            }
            Request::Expired(_) => {}
        }
    }
}

impl Actor for Client {
    type Msg = Lease;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, lease: Lease, cx: &mut Cx<Self>) {
        cx.send(self.storage, lease);
    }
}

impl Actor for Storage {
    type Msg = Lease;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Lease(number): Lease, _cx: &mut Cx<Self>) {
        if number >= self.newest || !self.fences {
            self.newest = number;
            self.written.push(number);
        }
    }
}
