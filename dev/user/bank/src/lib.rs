use tokio::sync::{mpsc, oneshot};

pub enum Request {
    Balance(oneshot::Sender<i64>),
    Withdraw(i64),
}

pub async fn account(mut requests: mpsc::Receiver<Request>) -> i64 {
    let mut balance = 100;
    while let Some(request) = requests.recv().await {
        match request {
            Request::Balance(reply) => reply.send(balance).unwrap(),
            Request::Withdraw(amount) => balance -= amount,
        }
    }
    balance
}

pub async fn withdraw(account: mpsc::Sender<Request>, amount: i64) {
    let (reply, balance) = oneshot::channel();
    account.send(Request::Balance(reply)).await.unwrap();
    if balance.await.unwrap() >= amount {
        account.send(Request::Withdraw(amount)).await.unwrap();
    }
}
