//! Code that uses parts of tokio that are not modelled, next to code that does not.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub async fn echo(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (mut socket, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut buffer = [0; 1024];
            while let Ok(count) = socket.read(&mut buffer).await {
                if count == 0 || socket.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
        });
    }
}

pub async fn call(port: u16) -> std::io::Result<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_u8(1).await?;
    stream.read_u8().await
}

pub async fn double(n: u32) -> u32 {
    tokio::spawn(async move { 2 * n }).await.unwrap()
}
