//! Clients of a replicated register, those of Stateright's examples: each writes a value of its own, and then reads from another
//! server.

use super::prelude::*;

/// A server that answers to clients.
pub(super) trait RegisterServer: Actor + Clone {
    /// Returns the request to write a value.
    fn put(id: u64, value: char, client: Client) -> Self::Msg;
    /// Returns the request to read.
    fn get(id: u64, client: Client) -> Self::Msg;
}

/// The address of a client.
pub(super) type Client = Recipient<ClientMsg>;

#[derive(Clone, Debug, Hash)]
pub(super) enum ClientMsg {
    PutOk(u64),
    GetOk(u64, char),
}

/// Creates clients, whose first requests are on their way.
pub(super) fn clients<S: RegisterServer>(sys: &mut System, servers: &[Addr<S>], count: usize) {
    let history = sys.linearizable(Register::new('\0'));
    for k in 0..count {
        let (servers, index) = (servers.to_vec(), servers.len() + k);
        // Requests are numbered by multiples of the client's number among all actors, servers first.
        let (first, second) = (index as u64, 2 * index as u64);
        let value = (b'A' + k as u8) as char;
        sys.spawn_fn_named("client", async move |client: &mut Inbox<ClientMsg>| {
            client.invoked(history, RegisterOp::Write(value));
            client.send(servers[index % servers.len()], S::put(first, value, client.this()));
            receive!(client, ClientMsg::PutOk(_) => ());
            client.returned(history, Answer::Done);
            client.invoked(history, RegisterOp::Read);
            client.send(servers[(index + 1) % servers.len()], S::get(second, client.this()));
            let value = receive!(client, ClientMsg::GetOk(_, value) => value);
            client.returned(history, Answer::Value(value));
        });
    }
}
