//! A runtime for requests to other servers, on a thread of its own.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime with one thread.
#[derive(Debug)]
pub(crate) struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    pub(crate) fn new(thread_name: &str) -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(1).thread_name(thread_name);
        builder.enable_all().build().map(Some).map(Self)
    }

    /// The runtime, which is there until this is dropped.
    pub(crate) fn get(&self) -> Option<&Runtime> {
        self.0.as_ref()
    }
}

impl Drop for OwnRuntime {
    /// Does not wait for requests in progress: this may run on a thread that must not block.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
