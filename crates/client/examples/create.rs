//! Logs in with a secret, creates a handle with one URL, and resolves it.
//!
//! ```sh
//! cargo run -p handfast-client --example create -- \
//!     127.0.0.1:2641 300:20.1000/admin secret.txt 20.1000/new https://example.org/
//! ```
//!
//! The secret is in a file, because other users of a machine can read the arguments of a program.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use handfast_client::{Client, Creation, Environment, Login, Query, ServerAddress};
use handfast_wire::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, identity, secret_file, handle, url] = arguments.as_slice() else {
        return Err("usage: create HOST:PORT INDEX:HANDLE SECRET_FILE HANDLE URL".into());
    };
    let server: ServerAddress = server.parse()?;
    let client = Client::new(Environment::system()).at(server);

    let secret = std::fs::read_to_string(secret_file)?;
    let login = Login::with_secret(identity, secret.trim_end().as_bytes())?;
    let administrator = client.with_login(login);
    let values = [Value::new(1, "URL", url.as_bytes())];
    administrator
        .create(handle, &values, Creation::default())
        .await?;
    administrator.end_sessions().await;

    let found = client.resolve(handle, &Query::all()).await?;
    println!(
        "created {} with {} public value(s)",
        found.handle,
        found.values.len()
    );
    Ok(())
}
