//! Resolves a handle at a server.
//!
//! ```sh
//! handfast serve --demo &
//! cargo run -p handfast-client --example resolve -- 127.0.0.1:2641 0.SITE/ADMIN
//! ```

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use handfast_client::{Client, Environment, Query, ServerAddress};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(server), Some(handle)) = (arguments.next(), arguments.next()) else {
        return Err("usage: resolve HOST:PORT HANDLE".into());
    };
    let server: ServerAddress = server.parse()?;
    let client = Client::new(Environment::system()).at(server);
    let found = client.resolve(&handle, &Query::all()).await?;
    println!(
        "{}, answered by {}",
        found.handle,
        found.server.unwrap_or_default()
    );
    for value in &found.values {
        let data = value
            .text()
            .map_or_else(|| format!("{} bytes", value.data.len()), String::from);
        println!("{:5}  {:12}  {data}", value.index, value.value_type);
    }
    Ok(())
}
