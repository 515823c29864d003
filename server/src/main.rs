//! A curator's server.
#![allow(dead_code)]
mod answer;
mod data;
mod loss;
mod problem;
mod question;
mod seat;

fn main() {}
