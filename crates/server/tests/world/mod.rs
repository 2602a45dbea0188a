//! The clock and the random numbers of this machine, for servers in tests.

use handfast_client::World as System;
use handfast_registry::World;

pub(crate) fn world() -> World {
    let (clock, chance) = (System::system(), System::system());
    World::new(move || clock.now(), move |bytes| chance.fill(bytes))
}
