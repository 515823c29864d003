use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;

use crate::compose::Message;

/// Whole conversations with a compositor: launches of these mechanisms, these queries to children
/// that were launched before, and readings.
///
/// A launch may be refused, so that a query may be to a child that does not exist. Conversations
/// shrink by leaving out messages; queries go to an earlier child then.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn conversations<M, Q>(
    mechanisms: M,
    queries: Q,
    length: impl Into<SizeRange>,
) -> impl Strategy<Value = Vec<Message<M::Value, Q::Value>>>
where
    M: Strategy,
    Q: Strategy,
    M::Value: Clone,
    Q::Value: Clone,
{
    let message = (0..4_u8, mechanisms, queries, any::<prop::sample::Index>());
    vec(message, length).prop_map(|parts| {
        let mut launched = 0;
        parts
            .into_iter()
            .map(|(kind, mechanism, query, child)| match kind {
                0 | 1 => {
                    launched += 1;
                    Message::Launch(mechanism)
                }
                2 if launched > 0 => Message::Ask(child.index(launched), query),
                _ => Message::PrivacyLoss,
            })
            .collect()
    })
}
