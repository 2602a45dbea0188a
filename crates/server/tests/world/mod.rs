//! The clock and the random numbers of this machine, for servers in tests.

use handfast_client::Environment as System;
use handfast_registry::Environment;

pub(crate) fn world() -> Environment {
    let (clock, chance) = (System::system(), System::system());
    Environment::new(move || clock.now(), move |bytes| chance.fill(bytes))
}
