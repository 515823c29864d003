//! What happens at a launch and after it, sentence by sentence.

mod charges;
mod decisions;
mod readings;

use std::sync::Arc;

pub const SECRET: &str = "31415926";

pub fn secret() -> Arc<String> {
    Arc::new(SECRET.to_string())
}
