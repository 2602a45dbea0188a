//! Prints what each argument is, how it should be written, and under which key it is looked up.
//!
//! ```sh
//! cargo run -p handfast-id --example recognise -- https://doi.org/10.1000/182 urn:urn-3:HUL:Home
//! ```

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use handfast_id::{Standard, recognise};

fn main() {
    for text in std::env::args().skip(1) {
        match recognise(&text, &Standard) {
            Ok(found) => {
                let identifier = found.identifier;
                println!("{text}");
                println!("  canonical  {}", identifier.canonical(&Standard));
                println!("  key        {}", identifier.key(&Standard).as_str());
            }
            Err(error) => {
                println!("{text}");
                println!(
                    "  error      {error} at byte {} [{}]",
                    error.at(),
                    error.code()
                );
                println!("  hint       {}", error.remedy());
            }
        }
    }
}
