//! The server with tables in files and in PostgreSQL.

use std::process::ExitCode;

fn main() -> ExitCode {
    queryables_server::run(None)
}
