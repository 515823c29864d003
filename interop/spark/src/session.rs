//! A session of an engine.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use queryables::table::sql::Statement;
use spark_connect_core::{
    ChannelBuilder, ExecutePlanResponseReattachableIterator as Execution, RetryPolicy,
    SparkConnectClient, SparkError, block_on,
};
use spark_connect_proto as proto;

use proto::execute_plan_response::ResponseType;

use crate::answer::Answer;
use crate::bind::relation;

/// A session. Its connection is made when it is first used, and made again where it was lost.
pub(crate) struct Session {
    client: RwLock<Arc<SparkConnectClient>>,
    /// Whether the address names the session. Then it is not replaced.
    is_named: bool,
}

/// How long to wait for an answer that takes no work.
const PROMPT: Duration = Duration::from_secs(10);

/// What a session is told, whatever the server or another client of the session has said.
const SETTINGS: [(&str, &str); 3] = [
    ("spark.sql.session.timeZone", "UTC"),
    // What cannot be read is an error. Spark can be told to leave it out.
    ("spark.sql.files.ignoreCorruptFiles", "false"),
    ("spark.sql.files.ignoreMissingFiles", "false"),
];

/// How long to wait before a stream is continued that has brought nothing.
const PAUSE: Duration = Duration::from_millis(50);

impl Session {
    pub(crate) fn new(remote: &str) -> Result<Self, String> {
        let builder = ChannelBuilder::parse(remote).map_err(said)?;
        let mut client = block_on(SparkConnectClient::connect(&builder)).map_err(said)?;
        // The client tries again for ten minutes. Whoever charged decides about that.
        client.set_retry_policy(RetryPolicy::no_retries());
        Ok(Self {
            client: RwLock::new(Arc::new(client)),
            is_named: builder.session_id().map_err(said)?.is_some(),
        })
    }

    /// One round trip: whether the engine answers. The session has its settings from then on.
    ///
    /// Spark names the session, and gives another name after it was started anew, when the settings are
    /// forgotten. So each statement is preceded by this, and its answer must have the same name. Sail gives
    /// the same name always: there a statement fails where a forgotten setting would change its answer.
    ///
    /// An engine closes sessions that nobody has used for a while. Then there is a new one.
    pub(crate) fn prepare(&self) -> Result<Prepared, String> {
        self.prepare_within(PROMPT)
    }

    /// The same for the first time, when an engine may yet have much to load.
    pub(crate) fn prepare_first(&self) -> Result<Prepared, String> {
        self.prepare_within(6 * PROMPT)
    }

    fn prepare_within(&self, limit: Duration) -> Result<Prepared, String> {
        let client = self.client();
        match configure(&client, limit) {
            Err(error) if error.contains("SESSION_CLOSED") && !self.is_named => {
                let new = Arc::new(client.with_new_session_id());
                *self.client.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&new);
                let server = configure(&new, limit)?;
                Ok(Prepared {
                    client: new,
                    server,
                })
            }
            server => Ok(Prepared {
                client,
                server: server?,
            }),
        }
    }

    fn client(&self) -> Arc<SparkConnectClient> {
        let client = self.client.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&client)
    }
}

/// A session whose engine has just answered.
pub(crate) struct Prepared {
    client: Arc<SparkConnectClient>,
    /// How the engine calls it.
    server: String,
}

impl Prepared {
    /// The names and types of the columns that a statement answers.
    pub(crate) fn columns(&self, statement: &Statement) -> Result<proto::DataType, String> {
        let schema = proto::analyze_plan_request::Schema {
            plan: Some(plan(statement)),
        };
        let request = proto::AnalyzePlanRequest {
            session_id: self.client.session_id().to_owned(),
            user_context: Some(user(&self.client)),
            analyze: Some(proto::analyze_plan_request::Analyze::Schema(schema)),
            ..proto::AnalyzePlanRequest::default()
        };
        let answer = block_on(within(6 * PROMPT, self.client.analyze_plan(request)))?;
        match answer.result {
            Some(proto::analyze_plan_response::Result::Schema(schema)) => {
                schema.schema.ok_or_else(|| "no schema".to_owned())
            }
            _ => Err("no schema".to_owned()),
        }
    }

    /// What a statement answers. It is an error if the engine does not say that this is all of it.
    ///
    /// After `limit` the engine is told to stop this statement, and nothing is waited for.
    pub(crate) fn query(&self, statement: &Statement, limit: Duration) -> Result<Answer, String> {
        let execution = Execution::new(proto::ExecutePlanRequest {
            session_id: self.client.session_id().to_owned(),
            user_context: Some(user(&self.client)),
            plan: Some(plan(statement)),
            ..proto::ExecutePlanRequest::default()
        });
        let answer = block_on(within(limit, self.answered(&execution)));
        // Either way the engine need not keep anything of it.
        let ended = async {
            if answer.is_err() {
                let number = execution.operation_id();
                self.client.interrupt_operation(number).await?;
            }
            let release = execution.create_release_request(true).await;
            self.client.release_execute(release).await
        };
        let _ = block_on(within(PROMPT, ended));
        answer
    }

    /// A stream that ends may not be the whole answer, however orderly it ends: an engine ends one after
    /// some minutes or bytes, and expects to be asked for the rest. The whole is there when it says so.
    async fn answered(&self, execution: &Execution) -> Result<Answer, SparkError> {
        let mut answer = Answer::default();
        let request = execution.request().clone();
        let mut stream = self.client.execute_plan(request).await?;
        let mut is_empty = true;
        loop {
            let message = stream.message().await;
            let Some(message) = message.map_err(SparkError::from_grpc_status)? else {
                if is_empty {
                    tokio::time::sleep(PAUSE).await;
                }
                is_empty = true;
                let rest = execution.create_reattach_request().await;
                stream = self.client.reattach_execute(rest).await?;
                answer.is_continued = true;
                continue;
            };
            if message.server_side_session_id != self.server {
                return Err(SparkError::connect_msg("another engine answers"));
            }
            is_empty = false;
            execution.set_last_response_id(&message).await;
            match message.response_type {
                Some(ResponseType::ArrowBatch(batch)) => answer.parts.push(batch),
                Some(ResponseType::ResultComplete(_)) => return Ok(answer),
                _ => {}
            }
        }
    }
}

/// Tells the session its settings; how the engine calls the session.
fn configure(client: &SparkConnectClient, limit: Duration) -> Result<String, String> {
    let pairs = SETTINGS.map(|(key, value)| proto::KeyValue {
        key: key.to_owned(),
        value: Some(value.to_owned()),
    });
    let set = proto::config_request::Set {
        pairs: pairs.to_vec(),
        ..proto::config_request::Set::default()
    };
    let operation = proto::config_request::Operation {
        op_type: Some(proto::config_request::operation::OpType::Set(set)),
    };
    let request = proto::ConfigRequest {
        session_id: client.session_id().to_owned(),
        user_context: Some(user(client)),
        operation: Some(operation),
        ..proto::ConfigRequest::default()
    };
    let answer = block_on(within(limit, client.config(request)))?;
    Ok(answer.server_side_session_id)
}

fn user(client: &SparkConnectClient) -> proto::UserContext {
    proto::UserContext {
        user_id: client.user_id().unwrap_or_default().to_owned(),
        ..proto::UserContext::default()
    }
}

fn plan(statement: &Statement) -> proto::Plan {
    proto::Plan {
        op_type: Some(proto::plan::OpType::Root(relation(statement))),
    }
}

/// Waits that long and no longer.
async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, SparkError>>,
) -> Result<T, String> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answered) => answered.map_err(said),
        Err(late) => Err(late.to_string()),
    }
}

fn said(error: SparkError) -> String {
    error.to_string()
}
