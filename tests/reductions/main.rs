//! Reductions as programs.
mod laws;
mod reduction;
