//! Copies between streams.

use super::ext::{read, write_all};
use super::{AsyncBufRead, AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};
use std::future::{Future, poll_fn};
use std::io::Result;
use std::pin::Pin;
use std::task::Poll;

const SIZE: usize = 8 * 1024;

async fn copy_with<R, W>(reader: &mut R, writer: &mut W, size: usize) -> Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let (mut buffer, mut all) = (vec![0; size], 0);
    loop {
        match read(reader, &mut buffer).await? {
            0 => break,
            count => {
                write_all(writer, &buffer[..count]).await?;
                all += count as u64;
            }
        }
    }
    writer.flush().await?;
    Ok(all)
}

pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    copy_with(reader, writer, SIZE).await
}

pub async fn copy_buf<R, W>(reader: &mut R, writer: &mut W) -> Result<u64>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    copy_with(reader, writer, SIZE).await
}

/// Copies one direction, and closes its end.
async fn one_way<A, B>(from: &mut ReadHalf<&mut A>, to: &mut WriteHalf<&mut B>, size: usize) -> Result<u64>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    let all = copy_with(from, to, size).await?;
    poll_fn(|cx| Pin::new(&mut *to).poll_shutdown(cx)).await?;
    Ok(all)
}

pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    copy_bidirectional_with_sizes(a, b, SIZE, SIZE).await
}

pub async fn copy_bidirectional_with_sizes<A, B>(a: &mut A, b: &mut B, to_b: usize, to_a: usize) -> Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    let ((mut from_a, mut into_a), (mut from_b, mut into_b)) = (split(a), split(b));
    let there = one_way(&mut from_a, &mut into_b, to_b);
    let back = one_way(&mut from_b, &mut into_a, to_a);
    let (mut there, mut back) = (std::pin::pin!(there), std::pin::pin!(back));
    let (mut one, mut other) = (None, None);
    poll_fn(|cx| {
        if one.is_none()
            && let Poll::Ready(count) = there.as_mut().poll(cx)
        {
            one = Some(count?);
        }
        if other.is_none()
            && let Poll::Ready(count) = back.as_mut().poll(cx)
        {
            other = Some(count?);
        }
        one.zip(other).map_or(Poll::Pending, |both| Poll::Ready(Ok(both)))
    })
    .await
}
