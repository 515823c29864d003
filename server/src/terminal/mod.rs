//! The desk in a terminal: `ask`, for scripts and as a prompt.

pub mod client;
mod prompt;
mod sentence;

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use client::{Client, Failure};

/// The token is not an argument: other users of a machine can read those.
const TOKEN: &str = "QUERYABLES_TOKEN";

/// Whom to ask, and what.
#[derive(Args)]
pub struct Arguments {
    /// The server, for example http://127.0.0.1:8400.
    address: String,
    /// The dataset, or the identifier of a share. Without it, a prompt opens.
    #[arg(requires = "question")]
    dataset: Option<String>,
    /// For example `count where age >= 18 by sex with epsilon 0.1`, or the launch as JSON.
    question: Option<String>,
    /// Says what it would cost, and charges nothing.
    #[arg(long)]
    preview: bool,
    /// Asked again with the same key, it is charged once and gets the same answer.
    #[arg(long)]
    key: Option<String>,
    /// A file with the token. By default it is in the environment, as `QUERYABLES_TOKEN`.
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// Sends the token in the clear beyond this machine.
    #[arg(long)]
    plain_on_network: bool,
}

/// Asks once and writes the reply as JSON, or opens a prompt.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let token = match &arguments.token_file {
        Some(file) => {
            std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?
        }
        None => std::env::var(TOKEN).map_err(|_| {
            format!("set {TOKEN} to your token, or name a file with it: --token-file FILE")
        })?,
    };
    let client = Client::new(&arguments.address, token.trim(), arguments.plain_on_network)?;
    let (Some(dataset), Some(question)) = (&arguments.dataset, &arguments.question) else {
        return prompt::run(&client);
    };
    let launch = sentence::launch(question)?;
    let place = format!("/v1/datasets/{}", client::encoded(dataset));
    let reply = match arguments.preview {
        true => client.post(&format!("{place}/preview"), &launch, None),
        false => launch_in(&client, &place, &launch, arguments.key.as_deref()),
    };
    println!("{}", reply?);
    Ok(())
}

/// Makes a launch: what answers once, or what is open.
fn launch_in(
    client: &Client,
    place: &str,
    launch: &Value,
    key: Option<&str>,
) -> Result<Value, Failure> {
    let path = match sentence::is_open(launch) {
        true => "children",
        false => "release",
    };
    let new;
    let key = match key {
        Some(key) => Some(key),
        // The name of a share is its key.
        None if launch.get("filter").is_some() => None,
        None => {
            new = crate::token::random::<16>().map_err(|error| Failure::Lost(error.to_string()))?;
            Some(&*new)
        }
    };
    client.post(&format!("{place}/{path}"), launch, key)
}
