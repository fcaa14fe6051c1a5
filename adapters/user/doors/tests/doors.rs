#[tokio::test]
async fn nothing_of_it() {
    assert_eq!(doors::double(4).await, 8);
}

#[tokio::test]
async fn net() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    doors::echo(listener).await.unwrap();
}

#[tokio::test]
async fn net_below() {
    assert_eq!(doors::call(80).await.unwrap(), 1);
}

#[tokio::test]
async fn fs() {
    let _ = tokio::fs::read_to_string("Cargo.toml").await;
}

#[tokio::test]
async fn process() {
    let _ = tokio::process::Command::new("true").status().await;
}

#[tokio::test]
async fn signal() {
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
#[should_panic]
async fn stdin() {
    let _ = tokio::io::stdin();
}

/// A thread of a crate that is hooked is one more task.
#[tokio::test]
async fn thread() {
    let (tx, rx) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || tx.send(5).unwrap());
    assert_eq!(rx.await.unwrap(), 5);
}
