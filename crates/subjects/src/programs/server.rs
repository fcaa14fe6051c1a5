//! A server that stores a value, and a client that wrongly assumes that messages arrive in the order of sending
//! (section 3.1 of the Basset dissertation, after a program of the ScalaWiki).
//!
//! The client sends `Set(5)`, asks for the value twice, and shuts the server down. `Set` need not arrive first: if it
//! arrives between the two requests, the answers differ, and after `Shutdown` it is never received.
//!
//! Scala: the body of the client starts immediately and creates the server.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "server",
    about: "a client reads a server's value twice while its own `set` is pending",
    parameters: &[Parameter::new("assert", "false", Values::Flag, "the client asserts that both reads agree"), VARIANT],
    reconstructed: None,
    body: |settings| {
        let assert = settings.flag("assert");
        if settings.is_scala() { body(move |sys| scala(sys, assert)) } else { body(move |sys| foundry(sys, assert)) }
    },
};

#[derive(Clone, Debug, Default, Hash)]
struct Server {
    value: i32,
}

#[derive(Clone, Debug, Hash)]
enum ServerMsg {
    Set(i32),
    Get(Reply<i32>),
    Shutdown,
}

impl Actor for Server {
    type Msg = ServerMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: ServerMsg, cx: &mut Cx<Self>) {
        match msg {
            ServerMsg::Set(value) => self.value = value,
            ServerMsg::Get(reply) => cx.reply(reply, self.value),
            ServerMsg::Shutdown => cx.stop(),
        }
    }
}

#[derive(Clone, Debug, Hash)]
struct Client {
    server: Addr<Server>,
    assert: bool,
    first: Option<i32>,
    second: Option<i32>,
}

#[derive(Clone, Debug, Hash)]
struct Start;

impl Actor for Client {
    type Msg = Start;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, _: Start, cx: &mut Cx<Self>) {
        cx.send(self.server, ServerMsg::Set(5));
        let first = cx.call(self.server, ServerMsg::Get).await;
        self.first = Some(first);
        let second = cx.call(self.server, ServerMsg::Get).await;
        self.second = Some(second);
        if self.assert {
            assert_eq!(first, second, "inconsistent read");
        }
        cx.send(self.server, ServerMsg::Shutdown);
    }
}

fn foundry(sys: &mut System, assert: bool) {
    let server = sys.spawn(Server::default());
    let client = sys.spawn(Client { server, assert, first: None, second: None });
    sys.send(client, Start);
}

fn scala(sys: &mut System, assert: bool) {
    sys.spawn_fn_named("client", async move |inbox: &mut Inbox<Start>| {
        let server = inbox.spawn_fn_named("server", async |inbox: &mut Inbox<ServerMsg>| {
            let mut value = 0;
            loop {
                match inbox.receive().await {
                    ServerMsg::Set(new) => value = new,
                    ServerMsg::Get(reply) => inbox.reply(reply, value),
                    ServerMsg::Shutdown => break,
                }
            }
        });
        inbox.send(server, ServerMsg::Set(5));
        let first = inbox.call(server, ServerMsg::Get).await;
        let second = inbox.call(server, ServerMsg::Get).await;
        if assert {
            assert_eq!(first, second, "inconsistent read");
        }
        inbox.send(server, ServerMsg::Shutdown);
    });
}
