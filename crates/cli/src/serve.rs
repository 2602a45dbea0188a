//! `handfast serve`: the doors.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use clap::Args;
use handfast_server::{Door, Identity, Native};
use serde_json::json;

use crate::config;
use crate::exit::Answer;
use crate::folder::{Data, world};
use crate::output::Output;

/// Serve the handle protocol
///
/// The first start makes the data folder and the keys of the server.
#[derive(Args)]
pub(crate) struct Serve {
    /// Where the native handle protocol is spoken, over UDP and TCP
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:2641")]
    native: SocketAddr,
    /// Where HTTP is spoken: so far, the handle protocol through HTTP
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8000")]
    web: SocketAddr,
    /// Fill a new data folder with examples
    #[arg(long)]
    demo: bool,
    #[command(flatten)]
    output: Output,
}

impl Serve {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let registry = match data.open_or_make(self.output, self.demo) {
            Ok(registry) => registry,
            Err(refusal) => return Ok(self.output.refuse(&refusal)),
        };
        let named = config::administrators(&data.folder)
            .and_then(|administrators| Ok((administrators, config::replicators(&data.folder)?)));
        let (administrators, replicators) = match named {
            Ok(named) => named,
            Err(error) => return Ok(self.output.misused(&format!("{error:#}"))),
        };
        let door = Door::bind(self.native, self.web)?;
        let addresses = door.addresses();
        let identity = Identity::open_or_make(&data.folder, addresses)?;
        let native = Native::new(Arc::new(registry), identity, world(), administrators)
            .with_replicators(replicators);
        let served = door.open(native)?;
        let (native, web) = (addresses.native, addresses.web);
        let text = if self.output.is_json() {
            json!({"native": native.to_string(), "web": web.to_string()}).to_string()
        } else {
            format!(
                "the handle protocol is spoken at {native}, over UDP and TCP, and at http://{web}/"
            )
        };
        writeln!(io::stdout(), "{text}")?;
        io::stdout().flush()?;
        served.wait()?;
        Ok(Answer::Done)
    }
}
