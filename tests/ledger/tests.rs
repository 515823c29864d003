//! The ledger: what is written down, what happens when something fails, and who may spend.

mod written;
