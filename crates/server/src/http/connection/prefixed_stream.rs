//! A stream whose first bytes have been read already: it gives them again.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that gives what was read of it once more, before the rest.
pub(crate) struct PrefixedStream<S> {
    start: Vec<u8>,
    /// How much of the start has been given.
    given: usize,
    stream: S,
}

impl<S> PrefixedStream<S> {
    pub(crate) fn new(start: Vec<u8>, stream: S) -> Self {
        Self {
            start,
            given: 0,
            stream,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PrefixedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let ahead = this.start.get(this.given..).unwrap_or_default();
        if ahead.is_empty() {
            return Pin::new(&mut this.stream).poll_read(context, buffer);
        }
        let length = ahead.len().min(buffer.remaining());
        buffer.put_slice(ahead.get(..length).unwrap_or_default());
        this.given += length;
        if this.given == this.start.len() {
            this.start = Vec::new();
            this.given = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PrefixedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
