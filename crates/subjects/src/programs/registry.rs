//! The registry of the TransDPOR paper (figure 1): all workers register, in any order.
//!
//! The master, which is the test itself, registers and sends the workers the address of the registry; each worker
//! registers. Only the registry receives more than one message, so its `workers` + 1 registrations have (`workers` +
//! 1)! orders.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "registry",
    about: "a master and its workers register with one registry",
    parameters: &[Parameter::new("workers", "2", Values::Number(1, 12), "number of workers")],
    reconstructed: None,
    body: |settings| {
        let workers = settings.number("workers");
        body(move |sys| {
            let registry = sys.spawn(Registry::default());
            sys.send(registry, Register(0));
            let workers: Vec<_> = (1..=workers).map(|id| sys.spawn(Worker { id })).collect();
            for worker in workers {
                sys.send(worker, RegisterAt(registry));
            }
        })
    },
};

#[derive(Clone, Debug, Default, Hash)]
struct Registry {
    known: Vec<usize>,
}

#[derive(Clone, Debug, Hash)]
struct Register(usize);

impl Actor for Registry {
    type Msg = Register;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, Register(id): Register, _: &mut Cx<Self>) {
        self.known.push(id);
    }
}

#[derive(Clone, Debug, Hash)]
struct Worker {
    id: usize,
}

#[derive(Clone, Debug, Hash)]
struct RegisterAt(Addr<Registry>);

impl Actor for Worker {
    type Msg = RegisterAt;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, RegisterAt(registry): RegisterAt, cx: &mut Cx<Self>) {
        cx.send(registry, Register(self.id));
    }
}
