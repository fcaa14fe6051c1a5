use ractor::{Actor, ActorProcessingErr, ActorRef, ActorStatus};

struct Server;

impl Actor for Server {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}

/// The status is an atomic of ractor's.
#[tokio::test]
async fn a_server_goes_on_when_it_is_told_to_stop() {
    let (server, handle) = Actor::spawn(None, Server, ()).await.unwrap();
    server.stop(None);
    let status = server.get_status();
    handle.await.unwrap();
    assert_eq!(status, ActorStatus::Running);
}
