//! k clients send one message each to one server and are joined; then the server is asked for its log.

use tokio::sync::{mpsc, oneshot};

/// Runs the clients on plain tokio.
pub async fn plain(k: usize) -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<(usize, Option<oneshot::Sender<String>>)>();
    let server = tokio::spawn(async move {
        let mut log = String::new();
        while let Some((n, reply)) = rx.recv().await {
            match reply {
                None => log += &n.to_string(),
                Some(reply) => reply.send(log.clone()).unwrap(),
            }
        }
    });
    let clients: Vec<_> = (0..k)
        .map(|n| {
            let tx = tx.clone();
            tokio::spawn(async move { tx.send((n, None)).unwrap() })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let (reply, answer) = oneshot::channel();
    tx.send((0, Some(reply))).unwrap();
    let log = answer.await.unwrap();
    drop(tx);
    server.await.unwrap();
    log
}

/// The clients on ractor.
pub mod on_ractor {
    use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call, cast};

    struct Server;

    enum Request {
        Note(usize),
        Log(RpcReplyPort<String>),
    }

    impl Actor for Server {
        type Msg = Request;
        type State = String;
        type Arguments = ();

        async fn pre_start(&self, _: ActorRef<Request>, (): ()) -> Result<String, ActorProcessingErr> {
            Ok(String::new())
        }

        async fn handle(
            &self,
            _: ActorRef<Request>,
            request: Request,
            log: &mut String,
        ) -> Result<(), ActorProcessingErr> {
            match request {
                Request::Note(n) => *log += &n.to_string(),
                Request::Log(reply) => reply.send(log.clone())?,
            }
            Ok(())
        }
    }

    /// Runs the clients; see [`super`].
    pub async fn clients(k: usize) -> String {
        let (server, handle) = Actor::spawn(None, Server, ()).await.unwrap();
        let clients: Vec<_> = (0..k)
            .map(|n| {
                let server = server.clone();
                tokio::spawn(async move { cast!(server, Request::Note(n)).unwrap() })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
        let log = call!(server, Request::Log).unwrap();
        server.stop(None);
        handle.await.unwrap();
        log
    }
}

/// The clients on kameo, which wait for its start-up and stop it gracefully.
pub mod on_kameo {
    use kameo::Actor;
    use kameo::actor::Spawn;
    use kameo::message::{Context, Message};

    #[derive(Actor, Default)]
    struct Server {
        log: String,
    }

    struct Note(usize);
    struct Log;

    impl Message<Note> for Server {
        type Reply = ();

        async fn handle(&mut self, Note(n): Note, _: &mut Context<Self, ()>) {
            self.log += &n.to_string();
        }
    }

    impl Message<Log> for Server {
        type Reply = String;

        async fn handle(&mut self, _: Log, _: &mut Context<Self, String>) -> String {
            self.log.clone()
        }
    }

    /// Runs the clients; see [`super`].
    pub async fn clients(k: usize) -> String {
        let server = Server::spawn(Server::default());
        server.wait_for_startup().await;
        let clients: Vec<_> = (0..k)
            .map(|n| {
                let server = server.clone();
                tokio::spawn(async move { server.tell(Note(n)).await.unwrap() })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
        let log = server.ask(Log).await.unwrap();
        server.stop_gracefully().await.unwrap();
        server.wait_for_shutdown().await;
        log
    }
}
