//! Ping-pong: clients ping one server, and each waits for the pong before its next ping. Pings of different clients may
//! arrive in any order.

use tokio::sync::{mpsc, oneshot};

/// Runs two players that pass a ball to each other, `rounds` times there and back. Another task sends each player one
/// call, which may arrive between any two balls.
pub async fn players(rounds: usize) -> String {
    let (to_ping, ping) = mpsc::unbounded_channel::<Option<usize>>();
    let (to_pong, pong) = mpsc::unbounded_channel::<Option<usize>>();
    let ping = tokio::spawn(player(ping, to_pong.clone(), rounds));
    let pong = tokio::spawn(player(pong, to_ping.clone(), rounds));
    to_pong.send(Some(1)).unwrap();
    tokio::spawn(async move {
        to_ping.send(None).unwrap();
        to_pong.send(None).unwrap();
    });
    ping.await.unwrap() + &pong.await.unwrap()
}

/// Receives `rounds` balls and one call. Returns each ball to the other player, except the last one.
async fn player(
    mut heard: mpsc::UnboundedReceiver<Option<usize>>,
    other: mpsc::UnboundedSender<Option<usize>>,
    rounds: usize,
) -> String {
    let mut log = String::new();
    for _ in 0..=rounds {
        match heard.recv().await.unwrap() {
            Some(ball) => {
                log.push('o');
                if ball < 2 * rounds {
                    other.send(Some(ball + 1)).unwrap();
                }
            }
            None => log.push('!'),
        }
    }
    log
}

/// Runs the clients on plain tokio, with this number of pings for each.
pub async fn plain(pings: &[usize]) -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<(usize, oneshot::Sender<usize>)>();
    let server = tokio::spawn(async move {
        let mut log = String::new();
        while let Some((n, reply)) = rx.recv().await {
            log.push(char::from(b'a' + n as u8));
            reply.send(log.len()).unwrap();
        }
        log
    });
    for (n, &pings) in pings.iter().enumerate() {
        let tx = tx.clone();
        tokio::spawn(async move {
            for _ in 0..pings {
                let (reply, pong) = oneshot::channel();
                tx.send((n, reply)).unwrap();
                pong.await.unwrap();
            }
        });
    }
    drop(tx);
    server.await.unwrap()
}

/// The clients on ractor.
pub mod on_ractor {
    use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

    struct Server;

    struct Ping(usize, RpcReplyPort<usize>);

    impl Actor for Server {
        type Msg = Ping;
        type State = String;
        type Arguments = ();

        async fn pre_start(&self, _: ActorRef<Ping>, (): ()) -> Result<String, ActorProcessingErr> {
            Ok(String::new())
        }

        async fn handle(&self, _: ActorRef<Ping>, ping: Ping, log: &mut String) -> Result<(), ActorProcessingErr> {
            log.push(char::from(b'a' + ping.0 as u8));
            ping.1.send(log.len())?;
            Ok(())
        }
    }

    /// Runs the clients; see [`super`].
    pub async fn play(pings: &[usize]) -> String {
        let (server, handle) = Actor::spawn(None, Server, ()).await.unwrap();
        let client = |(n, &pings): (usize, &usize)| {
            let server = server.clone();
            tokio::spawn(async move {
                let mut seen = String::new();
                for _ in 0..pings {
                    seen += &call!(server, Ping, n).unwrap().to_string();
                }
                seen
            })
        };
        let clients: Vec<_> = pings.iter().enumerate().map(client).collect();
        let mut seen = String::new();
        for client in clients {
            seen += &client.await.unwrap();
        }
        server.stop(None);
        handle.await.unwrap();
        seen
    }
}
