//! Statements of the tests, sent by hand.

use std::collections::HashMap;

use spark_connect_core::{ChannelBuilder, SparkConnectClient, block_on};
use spark_connect_proto as proto;

use proto::command::CommandType;
use proto::plan::OpType;
use proto::relation::RelType;
use proto::write_operation::SaveType;

/// Sends a command, and waits for its end.
pub fn run(remote: &str, text: &str) {
    let command = proto::SqlCommand {
        input: Some(relation(text, HashMap::new())),
        ..proto::SqlCommand::default()
    };
    command_to(remote, CommandType::SqlCommand(command));
}

/// Writes what a query answers into a folder of Parquet.
pub fn write(remote: &str, query: &str, path: &str) {
    let command = proto::WriteOperation {
        input: Some(relation(query, HashMap::new())),
        source: Some("parquet".to_owned()),
        mode: proto::write_operation::SaveMode::Overwrite.into(),
        save_type: Some(SaveType::Path(path.to_owned())),
        ..proto::WriteOperation::default()
    };
    command_to(remote, CommandType::WriteOperation(command));
}

fn command_to(remote: &str, command: CommandType) {
    let command = proto::Command {
        command_type: Some(command),
    };
    let client = client(remote);
    ask(&client, OpType::Command(command));
}

/// A session of its own.
pub fn client(remote: &str) -> SparkConnectClient {
    let builder = ChannelBuilder::parse(remote).unwrap();
    block_on(SparkConnectClient::connect(&builder)).unwrap()
}

/// Sets something in a session.
pub fn set(remote: &str, key: &str, value: &str) {
    block_on(client(remote).set_config(key, value)).unwrap();
}

/// Ends a session, as a server does with one that nobody has used for an hour.
pub fn close(remote: &str, session: &str) {
    let client = client(&format!("{remote}/;session_id={session}"));
    block_on(client.release_session()).unwrap();
}

/// A query with named arguments.
pub fn relation(text: &str, named: HashMap<String, proto::Expression>) -> proto::Relation {
    let sql = proto::Sql {
        query: text.to_owned(),
        named_arguments: named,
        ..proto::Sql::default()
    };
    proto::Relation {
        rel_type: Some(RelType::Sql(sql)),
        ..proto::Relation::default()
    }
}

/// Asks, and reads all of the answer.
pub fn ask(client: &SparkConnectClient, what: OpType) {
    let request = proto::ExecutePlanRequest {
        session_id: client.session_id().to_owned(),
        user_context: Some(proto::UserContext::default()),
        plan: Some(proto::Plan {
            op_type: Some(what),
        }),
        ..proto::ExecutePlanRequest::default()
    };
    block_on(async {
        let mut answer = client.execute_plan(request).await.unwrap();
        while answer.message().await.unwrap().is_some() {}
    });
}
