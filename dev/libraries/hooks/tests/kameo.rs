use kameo::Actor;
use kameo::actor::Spawn;
use kameo::message::{Context, Message};
use tokio::sync::oneshot::{Receiver, channel};

#[derive(Actor)]
struct Server;

struct Wait(Receiver<()>);
struct Note;

impl Message<Wait> for Server {
    type Reply = ();

    async fn handle(&mut self, Wait(go_on): Wait, _: &mut Context<Self, ()>) {
        go_on.await.unwrap();
    }
}

impl Message<Note> for Server {
    type Reply = ();

    async fn handle(&mut self, _: Note, _: &mut Context<Self, ()>) {}
}

/// A busy server is asked to stop. An atomic in kameo decides whether it accepts messages in the meantime.
#[tokio::test]
async fn a_busy_server_takes_messages() {
    let server = Server::spawn(Server);
    server.wait_for_startup().await;
    let (go_on, wait) = channel();
    server.tell(Wait(wait)).await.unwrap();
    let (client, other) = (server.clone(), server.clone());
    let client = tokio::spawn(async move { client.tell(Note).await });
    let other = tokio::spawn(async move { other.stop_gracefully().await });
    let told = client.await.unwrap();
    other.await.unwrap().unwrap();
    go_on.send(()).unwrap();
    server.wait_for_shutdown().await;
    assert!(told.is_ok(), "the message was refused");
}
