use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time;

const TICK: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "multi_thread")]
async fn program() {
    let (tx_0, rx_0) = mpsc::channel::<u32>(1);

    let task_0 = async move {
        let mut rx_0 = rx_0;
        println!("task 0: recv {:?}", rx_0.recv().await);
        rx_0.close();
        tokio::select! {
            biased;
            value = rx_0.recv() => println!("task 0: branch 0: recv {value:?}"),
            _ = time::sleep(TICK) => println!("task 0: branch 1: slept"),
        }
    };
    let task_1 = {
        let tx_0 = tx_0.clone();
        async move {
            let mut guards_0 = VecDeque::<mpsc::OwnedPermit<u32>>::new();
            println!("task 1: try_send {:?}", tx_0.try_send(101));
            let value = time::timeout(2 * TICK, tx_0.send(104)).await;
            match value {
                Ok(value) => {
                    println!("task 1: send {value:?}");
                }
                Err(_) => {
                    println!("task 1: elapsed");
                }
            }
            let value = tx_0.clone().reserve_owned().await;
            match value {
                Ok(permit) => {
                    println!("task 1: reserve");
                    guards_0.push_back(permit);
                }
                _ => {
                    println!("task 1: reserve failed");
                }
            }
            let permit = guards_0.pop_front();
            println!("task 1: send {:?}", permit.map(|permit| drop(permit.send(107))));
        }
    };
    drop(tx_0);

    let tasks = [tokio::spawn(task_0), tokio::spawn(task_1)];
    for task in tasks {
        let _ = task.await;
    }
}
