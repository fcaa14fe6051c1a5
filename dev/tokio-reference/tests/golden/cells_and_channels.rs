use std::sync::Arc;
use tokio::sync::{oneshot, watch, Notify, OnceCell};

#[tokio::test(flavor = "multi_thread")]
async fn program() {
    let cell_0 = Arc::new(OnceCell::<u32>::new());
    let tx_1 = watch::Sender::new(0_u32);
    let tx_2 = watch::Sender::new(0_u32);
    let (tx_3, rx_3) = oneshot::channel::<u32>();
    let notify_4 = Arc::new(Notify::new());

    let task_0 = {
        let cell_0 = Arc::clone(&cell_0);
        let tx_1 = tx_1.clone();
        let rx_2 = tx_2.subscribe();
        async move {
            let mut rx_2 = rx_2;
            let tx_1 = tx_1;
            let (value_0, value_1) = tokio::join!(
                cell_0.get_or_init(|| async { tokio::task::yield_now().await; 2 }),
                async {
                    println!("task 0: send_replace {:?}", tx_1.send_replace(4));
                    async { rx_2.changed().await.map(|()| *rx_2.borrow_and_update()) }.await
                },
            );
            let value = value_0;
            println!("task 0: branch 0: get_or_init {value:?}");
            let value = value_1;
            println!("task 0: branch 1: changed {value:?}");
            println!("task 0: get {:?}", cell_0.get());
        }
    };
    let task_1 = {
        let rx_1 = tx_1.subscribe();
        let tx_2 = tx_2.clone();
        async move {
            let mut rx_3 = Some(rx_3);
            let tx_2 = tx_2;
            let mut rx_1 = rx_1;
            tokio::select! {
                value = async { rx_1.changed().await.map(|()| *rx_1.borrow_and_update()) } => println!("task 1: branch 0: changed {value:?}"),
                value = async { Some(rx_3.as_mut()?.await) } => {
                    println!("task 1: branch 1: answer {value:?}");
                    rx_3 = None;
                }
            }
            println!("task 1: send_replace {:?}", tx_2.send_replace(104));
            let value = rx_3.as_mut().map(|rx| rx.try_recv());
            println!("task 1: try_recv {value:?}");
        }
    };
    let task_2 = {
        let notify_4 = Arc::clone(&notify_4);
        async move {
            println!("task 2: reply {:?}", tx_3.send(201));
            let mut armed_4 = Box::pin(Arc::clone(&notify_4).notified_owned());
            println!("task 2: enable {:?}", armed_4.as_mut().enable());
            (&mut armed_4).await;
            println!("task 2: notified");
        }
    };
    drop(tx_1);
    drop(tx_2);

    let tasks = [tokio::spawn(task_0), tokio::spawn(task_1), tokio::spawn(task_2)];
    for task in tasks {
        let _ = task.await;
    }
}
