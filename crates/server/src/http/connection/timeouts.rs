//! A connection that closes when its client does not read.
//!
//! Reading a request has its own timeouts. Responses wait in buffers here until the client
//! reads them; some clients read nothing, or one byte at a time.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::admission::connections::Activity;
use crate::http::connection::pending_responses::ConnectionResponses;

/// How many bytes a client has to read within the timeout.
const MIN_READ: u64 = 16 << 10;

/// A stream whose other side has to take something in time.
pub(crate) struct TimeoutStream<S> {
    stream: S,
    timeout: Duration,
    /// Since the other side does not take what it should.
    stalled: Option<Pin<Box<Sleep>>>,
    /// What it has taken since.
    taken: u64,
    moved: Moved,
    /// Is told when anything passes.
    activity: Option<Arc<Activity>>,
}

/// How many octets have passed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moved(Arc<Octets>);

#[derive(Debug, Default)]
struct Octets {
    read: AtomicU64,
    written: AtomicU64,
}

impl Moved {
    fn read(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }

    fn written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }

    fn both(&self) -> u64 {
        self.read() + self.written()
    }

    /// Waits for some time, and then for ever, unless the other side has not even said so much.
    pub(crate) async fn not_begun(&self, time: Duration, octets: u64) {
        sleep(time).await;
        if self.read() >= octets {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until hardly any of the answers that wait is taken for some time.
    pub(crate) async fn not_taken(&self, timeout: Duration, waiting: &ConnectionResponses) {
        loop {
            let (before, was_empty) = (self.written(), waiting.is_empty());
            sleep(timeout).await;
            let taken = self.written().saturating_sub(before);
            if taken < MIN_READ && !was_empty && !waiting.is_empty() {
                return;
            }
        }
    }

    /// Waits until hardly anything passes for some time.
    pub(crate) async fn ceased(&self, time: Duration) {
        loop {
            let before = self.both();
            sleep(time).await;
            if self.both().saturating_sub(before) < MIN_READ {
                return;
            }
        }
    }
}

impl<S> TimeoutStream<S> {
    pub(crate) fn new(stream: S, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            stalled: None,
            taken: 0,
            moved: Moved::default(),
            activity: None,
        }
    }

    pub(crate) fn with_activity(self, activity: Arc<Activity>) -> Self {
        Self {
            activity: Some(activity),
            ..self
        }
    }

    fn touch(&self) {
        if let Some(activity) = &self.activity {
            activity.touch(Instant::now());
        }
    }

    pub(crate) fn moved(&self) -> Moved {
        self.moved.clone()
    }

    fn wrote(
        &mut self,
        written: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending => self.wait(cx),
            Poll::Ready(Ok(octets)) => {
                let octets = u64::try_from(octets).unwrap_or(u64::MAX);
                self.moved.0.written.fetch_add(octets, Ordering::Relaxed);
                self.taken = self.taken.saturating_add(octets);
                self.touch();
                if self.taken >= MIN_READ {
                    self.go_on();
                }
                written
            }
            Poll::Ready(Err(_)) => written,
        }
    }

    /// The other side has time from when it first did not take anything.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if self.stalled.is_none() {
            self.taken = 0;
        }
        let timeout = self.timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeout)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    fn go_on(&mut self) {
        self.stalled = None;
        self.taken = 0;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let octets = buffer.filled().len().saturating_sub(before);
        let octets = u64::try_from(octets).unwrap_or(u64::MAX);
        self.moved.0.read.fetch_add(octets, Ordering::Relaxed);
        if octets > 0 {
            self.touch();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.wrote(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Pending => self.wait(cx),
            // All that there was has gone.
            Poll::Ready(flushed) => {
                self.go_on();
                Poll::Ready(flushed)
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_shutdown(cx) {
            Poll::Pending => self.wait(cx),
            done @ Poll::Ready(_) => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn who_does_not_read_is_not_waited_for() {
        let (ours, _theirs) = tokio::io::duplex(1_000);
        let mut stream = TimeoutStream::new(ours, TIMEOUT);
        let error = stream.write_all(&[0; 5_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn who_reads_a_little_at_a_time_is_not_waited_for_either() {
        let (ours, mut theirs) = tokio::io::duplex(100);
        let mut stream = TimeoutStream::new(ours, TIMEOUT);
        let drip = async {
            let mut few = [0; 10];
            while theirs.read(&mut few).await.is_ok_and(|octets| octets > 0) {
                sleep(TIMEOUT / 20).await;
            }
        };
        let much = vec![0; 50_000];
        tokio::select! {
            written = stream.write_all(&much) => {
                assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
            }
            () = drip => panic!("it was waited for"),
        }
    }

    #[tokio::test]
    async fn who_reads_gets_it_all_however_long_it_takes() {
        let (ours, mut theirs) = tokio::io::duplex(20_000);
        let mut stream = TimeoutStream::new(ours, TIMEOUT);
        let steady = async {
            let mut some = vec![0; 20_000];
            let mut all = 0;
            while all < 200_000 {
                sleep(TIMEOUT / 4).await;
                all += theirs.read(&mut some).await.unwrap();
            }
        };
        let sending = async {
            stream.write_all(&vec![0; 200_000]).await.unwrap();
            stream.flush().await.unwrap();
        };
        tokio::join!(sending, steady);
    }
}
