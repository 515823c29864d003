//! A session of an engine.

use std::time::Duration;

use queryables::table::sql::Statement;
use spark_connect_core::{ChannelBuilder, RetryPolicy, SparkConnectClient, SparkError, block_on};
use spark_connect_proto as proto;

use proto::execute_plan_response::ResponseType;

use crate::bind::relation;

/// A session. Its connection is made when it is first used, and made again where it was lost.
pub(crate) struct Session {
    client: SparkConnectClient,
}

/// How long to wait for an answer that takes no work.
const PROMPT: Duration = Duration::from_secs(10);

impl Session {
    pub(crate) fn new(remote: &str) -> Result<Self, String> {
        let builder = ChannelBuilder::parse(remote).map_err(said)?;
        let mut client = block_on(SparkConnectClient::connect(&builder)).map_err(said)?;
        // The client tries again for ten minutes. Whoever charged decides about that.
        client.set_retry_policy(RetryPolicy::no_retries());
        Ok(Self { client })
    }

    /// One round trip: whether the engine answers. Times are read in UTC from then on. An engine that was
    /// started anew does not know that, so each statement is preceded by it.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        let zone = self.client.set_config("spark.sql.session.timeZone", "UTC");
        block_on(within(PROMPT, zone))
    }

    /// The names and types of the columns that a statement answers.
    pub(crate) fn columns(&self, statement: &Statement) -> Result<proto::DataType, String> {
        self.prepare()?;
        let schema = proto::analyze_plan_request::Schema {
            plan: Some(plan(statement)),
        };
        let request = proto::AnalyzePlanRequest {
            session_id: self.client.session_id().to_owned(),
            user_context: Some(self.user()),
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

    /// What a statement answers: parts of it, each a stream of Arrow's. It is an error if the engine does
    /// not say that these are all of them.
    ///
    /// After `limit` the engine is told to stop, and nothing is waited for.
    pub(crate) fn query(
        &self,
        statement: &Statement,
        limit: Duration,
    ) -> Result<Vec<Vec<u8>>, String> {
        self.prepare()?;
        let request = proto::ExecutePlanRequest {
            session_id: self.client.session_id().to_owned(),
            user_context: Some(self.user()),
            plan: Some(plan(statement)),
            ..proto::ExecutePlanRequest::default()
        };
        let answer = async {
            let mut parts = Vec::new();
            let mut stream = self.client.execute_plan_reattachable(request).await?;
            // It ends where the engine says that all was sent.
            while let Some(message) = stream.message().await? {
                if let Some(ResponseType::ArrowBatch(batch)) = message.response_type {
                    parts.push(batch.data.to_vec());
                }
            }
            Ok(parts)
        };
        let answer = block_on(within(limit, answer));
        if answer.is_err() {
            let _ = block_on(within(PROMPT, self.client.interrupt_all()));
        }
        answer
    }

    fn user(&self) -> proto::UserContext {
        proto::UserContext {
            user_id: self.client.user_id().unwrap_or_default().to_owned(),
            ..proto::UserContext::default()
        }
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
