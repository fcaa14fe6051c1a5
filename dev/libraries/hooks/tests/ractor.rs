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

/// An atomic in ractor records whether a server that was told to stop has begun to stop.
#[tokio::test]
async fn a_server_takes_its_time_to_stop() {
    let (server, handle) = Actor::spawn(None, Server, ()).await.unwrap();
    server.stop(None);
    let status = server.get_status();
    handle.await.unwrap();
    assert!(status < ActorStatus::Stopping, "it has begun to stop");
}
