//! What the tests of the ledger have in common.
