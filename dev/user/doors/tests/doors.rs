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

/// A thread of a hooked crate is a task.
#[tokio::test]
async fn thread() {
    let (tx, rx) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || tx.send(5).unwrap());
    assert_eq!(rx.await.unwrap(), 5);
}

/// A scoped thread is a task too.
#[tokio::test]
async fn scope() {
    let (tx, rx) = std::sync::mpsc::channel();
    let text = String::from("borrowed");
    std::thread::scope(|scope| {
        scope.spawn(|| tx.send(text.len()).unwrap());
        assert_eq!(rx.recv(), Ok(8));
    });
}

/// A parked thread waits like any task.
#[tokio::test]
async fn park() {
    let parked = std::thread::spawn(std::thread::park);
    parked.thread().unpark();
    parked.join().unwrap();
}

/// This thread is never unparked.
#[tokio::test]
async fn parked_for_ever() {
    std::thread::park();
}

/// The clocks of the system show the same time as tokio's.
#[tokio::test]
async fn time_of_the_system() {
    let (start, wall) = (std::time::Instant::now(), std::time::SystemTime::now());
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
    // Each look shows a nanosecond more.
    assert_eq!((start.elapsed().as_micros(), wall.elapsed().unwrap().as_micros()), (3_600_000_000, 3_600_000_000));
}

/// The order in which tasks send is that of a hash map. It must be the same in each execution.
#[tokio::test]
#[expect(clippy::disallowed_types, reason = "the test is about the order of std's hash maps")]
async fn hash_map() {
    let (tx, mut rx) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..2 {
        let tx = tx.clone();
        tokio::spawn(async move {
            let map = std::collections::HashMap::from([(1, "one"), (2, "two"), (3, "three")]);
            for (k, name) in map {
                if k != 2 {
                    tx.send(name).unwrap();
                }
            }
        });
    }
    drop(tx);
    let mut count = 0;
    while let Some(name) = rx.recv().await {
        count += name.len();
    }
    assert_eq!(count, 16);
}

/// A test that can only be killed. It says who it is.
#[test]
#[ignore = "never ends"]
fn does_not_stop() {
    std::fs::write(std::env::var_os("PID_FILE").unwrap(), std::process::id().to_string()).unwrap();
    loop {
        std::hint::spin_loop();
    }
}
