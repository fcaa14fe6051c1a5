//! Streams of bytes in memory: pipes, buffers, halves, copies.

use super::tokio;
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufWriter, SeekFrom, copy,
    copy_bidirectional, duplex, split,
};
use tokio::task::spawn;

programs!(
    there_and_back
    a_full_pipe_waits
    the_end_of_a_pipe
    a_broken_pipe
    lines_of_a_pipe
    copied
    halves_of_a_stream
    buffers_that_never_wait
);

async fn there_and_back() -> String {
    let (mut one, mut other) = duplex(16);
    let echo = spawn(async move {
        let number = other.read_u32().await.unwrap();
        other.write_u32(number + 1).await.unwrap();
    });
    one.write_u32(7).await.unwrap();
    let answer = one.read_u32().await.unwrap();
    echo.await.unwrap();
    answer.to_string()
}

async fn a_full_pipe_waits() -> String {
    let (mut one, mut other) = duplex(2);
    let writer = spawn(async move { one.write_all(b"abcde").await.is_ok() });
    let mut all = Vec::new();
    other.read_to_end(&mut all).await.unwrap();
    format!("{} {}", String::from_utf8(all).unwrap(), writer.await.unwrap())
}

async fn the_end_of_a_pipe() -> String {
    let (mut one, mut other) = duplex(8);
    one.write_all(b"x").await.unwrap();
    one.shutdown().await.unwrap();
    let mut buffer = [0; 4];
    let first = other.read(&mut buffer).await.unwrap();
    let second = other.read(&mut buffer).await.unwrap();
    let back = other.write(b"y").await.is_ok();
    format!("{first} {second} {back}")
}

async fn a_broken_pipe() -> String {
    let (mut one, other) = duplex(1);
    one.write_all(b"x").await.unwrap();
    let writer = spawn(async move { one.write_all(b"y").await.map_err(|error| error.kind()) });
    drop(other);
    format!("{:?}", writer.await.unwrap())
}

async fn lines_of_a_pipe() -> String {
    let (mut one, other) = duplex(4);
    let writer = spawn(async move { one.write_all(b"one\ntwo\r\nthree").await.unwrap() });
    let mut lines = BufReader::new(other).lines();
    let mut all = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        all.push(line);
    }
    writer.await.unwrap();
    all.join(" ")
}

async fn copied() -> String {
    let (mut one, mut two) = duplex(8);
    let (mut three, mut four) = duplex(8);
    let between = spawn(async move { copy_bidirectional(&mut two, &mut three).await.unwrap() });
    one.write_all(b"abc").await.unwrap();
    one.shutdown().await.unwrap();
    let mut all = String::new();
    four.read_to_string(&mut all).await.unwrap();
    drop(four);
    let mut to = Vec::new();
    let plain = copy(&mut &b"1234"[..], &mut to).await.unwrap();
    format!("{all} {:?} {plain} {to:?}", between.await.unwrap())
}

async fn halves_of_a_stream() -> String {
    let (one, mut other) = duplex(4);
    let (mut from, mut to) = split(one);
    let reader = spawn(async move { from.read_u8().await.unwrap() });
    to.write_all(b"a").await.unwrap();
    let there = other.read_u8().await.unwrap();
    other.write_u8(there + 1).await.unwrap();
    format!("{there} {}", reader.await.unwrap())
}

async fn buffers_that_never_wait() -> String {
    let mut log = String::new();
    let mut writer = BufWriter::with_capacity(4, Vec::new());
    writer.write_all(b"abc").await.unwrap();
    log += &format!("{} ", writer.get_ref().len());
    writer.write_all(b"defgh").await.unwrap();
    writer.flush().await.unwrap();
    log += &format!("{:?} ", writer.into_inner());
    let mut cursor = std::io::Cursor::new(b"hello world".to_vec());
    cursor.seek(SeekFrom::Start(6)).await.unwrap();
    let mut rest = String::new();
    cursor.read_to_string(&mut rest).await.unwrap();
    let mut taken = Vec::new();
    (&b"123456"[..]).chain(&b"789"[..]).take(8).read_to_end(&mut taken).await.unwrap();
    let mut line = String::new();
    let count = (&b"a\nb"[..]).read_line(&mut line).await.unwrap();
    log + &format!("{rest} {} {count}", taken.len())
}
