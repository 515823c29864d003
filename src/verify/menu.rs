//! What an adversary may ask.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::VerifyError;
use crate::compose::{Message, Reply};
use crate::machine::Fault;

/// The queries that an adversary chooses from, as a function of what is public.
///
/// A list of queries is a menu that never changes, [`ByRound`] has one for each round. [`Children`]
/// is the menu of a compositor: launches, queries to those that were launched, and readings.
/// [`by_transcript`] may depend on the whole transcript, but then no two conversations can be
/// merged.
pub trait Menu<Q, A>: Send + Sync + 'static {
    /// What the menu remembers of the conversation.
    ///
    /// # What an implementer owes
    ///
    /// States are told apart by the bytes that they hash, as with
    /// [`Inspect`](crate::machine::Inspect): two states that hash the same bytes have the same menu
    /// from now on, whatever is asked and answered. A derived `Hash` is enough. A `Hash` that
    /// leaves something out makes [`Verifier::by_state`](super::Verifier::by_state) confuse
    /// different menus.
    type State: Clone + Hash + Send + Sync;

    /// What it remembers before the first query.
    fn start(&self) -> Self::State;

    /// What can be asked now, in an order that depends on the state only. An empty list ends the
    /// conversation.
    fn queries(&self, state: &Self::State) -> Vec<Q>;

    /// What it remembers after one more round.
    fn after(&self, state: &Self::State, query: &Q, answer: &Result<A, Fault>) -> Self::State;

    /// Whether what it offers may depend on values that answers tell; by default it may.
    ///
    /// A menu that says no is the same after an answer with one released value as after an answer
    /// with another, so that values can be [taken together](super#released-values).
    fn reads_answers(&self) -> bool {
        true
    }

    /// Whether the menu asks anything at all.
    ///
    /// # Errors
    ///
    /// Why not.
    fn check(&self) -> Result<(), VerifyError> {
        Ok(())
    }
}

impl<Q: Clone + Send + Sync + 'static, A> Menu<Q, A> for Vec<Q> {
    type State = ();

    fn start(&self) {}

    fn queries(&self, (): &()) -> Vec<Q> {
        self.clone()
    }

    fn after(&self, (): &(), _query: &Q, _answer: &Result<A, Fault>) {}

    fn reads_answers(&self) -> bool {
        false
    }
}

/// A list of queries for each round, and nothing beyond the last.
///
/// ```
/// use queryables::verify::ByRound;
///
/// // One of two first, then always the same.
/// let menu = ByRound(vec![vec!["left", "right"], vec!["on"], vec!["on"]]);
/// # let _ = menu;
/// ```
#[derive(Clone, Debug)]
pub struct ByRound<Q>(pub Vec<Vec<Q>>);

impl<Q: Clone + Send + Sync + 'static, A> Menu<Q, A> for ByRound<Q> {
    /// How many rounds there were.
    type State = usize;

    fn start(&self) -> usize {
        0
    }

    fn queries(&self, round: &usize) -> Vec<Q> {
        self.0.get(*round).cloned().unwrap_or_default()
    }

    fn after(&self, round: &usize, _query: &Q, _answer: &Result<A, Fault>) -> usize {
        round + 1
    }

    fn reads_answers(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), VerifyError> {
        if self.0.is_empty() {
            Err(VerifyError::NoRounds)
        } else {
            Ok(())
        }
    }
}

/// The menu of a compositor: launch one of these mechanisms, ask a launched child one of these
/// queries, or read the privacy loss.
///
/// ```
/// use queryables::verify::Children;
///
/// // At most two children, each asked "again" as often as the depth allows.
/// let menu = Children::new(vec!["coin", "die"], vec!["again"]).at_most(2);
/// # let _ = menu;
/// ```
#[derive(Clone, Debug)]
pub struct Children<M, Q> {
    launches: Vec<M>,
    queries: Vec<Q>,
    reads: bool,
    reads_rest: bool,
    most: usize,
}

impl<M, Q> Children<M, Q> {
    /// These launches, and these queries to every child.
    #[must_use]
    pub fn new(launches: Vec<M>, queries: Vec<Q>) -> Self {
        Self {
            launches,
            queries,
            reads: true,
            reads_rest: false,
            most: usize::MAX,
        }
    }

    /// Offers no more launches after this number was tried.
    #[must_use]
    pub fn at_most(self, launches: usize) -> Self {
        Self {
            most: launches,
            ..self
        }
    }

    /// Offers readings of what is left of the budget too. For the compositors of this crate they say
    /// no more than the privacy loss does, and there are more conversations.
    #[must_use]
    pub fn with_remaining(self) -> Self {
        Self {
            reads_rest: true,
            ..self
        }
    }

    /// Does not offer readings of the privacy loss, so that there are fewer conversations.
    #[must_use]
    pub fn without_reading(self) -> Self {
        Self {
            reads: false,
            ..self
        }
    }
}

impl<M, Q, A, C, W> Menu<Message<M, Q>, Reply<A, C, W>> for Children<M, Q>
where
    M: Clone + Send + Sync + 'static,
    Q: Clone + Send + Sync + 'static,
{
    /// How many launches were tried, and how many children there are.
    type State = (usize, usize);

    fn start(&self) -> (usize, usize) {
        (0, 0)
    }

    fn queries(&self, &(tried, children): &(usize, usize)) -> Vec<Message<M, Q>> {
        let launches = self.launches.iter().cloned().map(Message::Launch);
        let asks = (0..children).flat_map(|child| {
            self.queries
                .iter()
                .map(move |q| Message::Ask(child, q.clone()))
        });
        let reading = self.reads.then_some(Message::PrivacyLoss);
        let rest = self.reads_rest.then_some(Message::Remaining);
        launches
            .filter(|_| tried < self.most)
            .chain(asks)
            .chain(reading)
            .chain(rest)
            .collect()
    }

    fn after(
        &self,
        &(tried, children): &(usize, usize),
        query: &Message<M, Q>,
        answer: &Result<Reply<A, C, W>, Fault>,
    ) -> (usize, usize) {
        (
            // Without a limit, counting would only distinguish conversations needlessly.
            tried + usize::from(self.most < usize::MAX && matches!(query, Message::Launch(_))),
            children + usize::from(matches!(answer, Ok(Reply::Launched(_)))),
        )
    }

    /// Whether a child was launched is no released value.
    fn reads_answers(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), VerifyError> {
        if self.most == 0 || self.launches.is_empty() {
            Err(VerifyError::NoLaunches)
        } else {
            Ok(())
        }
    }
}

/// A menu that is any function of the transcript.
///
/// Example: [`Verifier`](crate::verify::Verifier).
pub fn by_transcript<F, Q, A>(menu: F) -> impl Menu<Q, A>
where
    F: Fn(&[(Q, Result<A, Fault>)]) -> Vec<Q> + Send + Sync + 'static,
    Q: Clone + Hash + Send + Sync + 'static,
    A: Clone + Hash + Send + Sync + 'static,
{
    let types = PhantomData::<fn(Q, A)>;
    ByTranscript { menu, types }
}

struct ByTranscript<F, Q, A> {
    menu: F,
    types: PhantomData<fn(Q, A)>,
}

impl<F, Q, A> Menu<Q, A> for ByTranscript<F, Q, A>
where
    F: Fn(&[(Q, Result<A, Fault>)]) -> Vec<Q> + Send + Sync + 'static,
    Q: Clone + Hash + Send + Sync + 'static,
    A: Clone + Hash + Send + Sync + 'static,
{
    type State = Vec<(Q, Result<A, Fault>)>;

    fn start(&self) -> Self::State {
        Vec::new()
    }

    fn queries(&self, state: &Self::State) -> Vec<Q> {
        (self.menu)(state)
    }

    fn after(&self, state: &Self::State, query: &Q, answer: &Result<A, Fault>) -> Self::State {
        let mut state = state.clone();
        state.push((query.clone(), answer.clone()));
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Asked = Message<&'static str, u8>;
    type Told = Result<Reply<(), u8>, Fault>;

    /// The menu after these rounds.
    fn after(menu: &Children<&'static str, u8>, rounds: &[(Asked, Told)]) -> Vec<Asked> {
        let start = Menu::<Asked, Reply<(), u8>>::start(menu);
        let state = rounds.iter().fold(start, |state, (query, answer)| {
            menu.after(&state, query, answer)
        });
        Menu::<Asked, Reply<(), u8>>::queries(menu, &state)
    }

    #[test]
    fn children_can_be_asked_once_they_are_there() {
        let menu = Children::new(vec!["coin"], vec![7]).at_most(2);
        let launch = Message::Launch("coin");
        let reading = Message::PrivacyLoss;
        assert_eq!(after(&menu, &[]), [launch.clone(), reading.clone()]);
        let launched = (launch.clone(), Ok(Reply::Launched(0)));
        assert_eq!(
            after(&menu, std::slice::from_ref(&launched)),
            [launch.clone(), Message::Ask(0, 7), reading.clone()]
        );
        // A launch that was not admitted counts as tried, and gives no child.
        let failed = (
            launch,
            Ok(Reply::NotLaunched(crate::compose::LaunchError::Failed)),
        );
        assert_eq!(
            after(&menu, &[launched, failed]),
            [Message::Ask(0, 7), reading]
        );
    }

    #[test]
    fn a_transcript_decides() {
        let menu = by_transcript(|said: &[(u8, Result<u8, Fault>)]| match said {
            [] => vec![1, 2],
            [.., (_, Ok(answer))] => vec![*answer],
            [.., (_, Err(_))] => vec![],
        });
        let start = menu.start();
        assert_eq!(menu.queries(&start), [1, 2]);
        let next = menu.after(&start, &1, &Ok(9));
        assert_eq!(menu.queries(&next), [9]);
        let next = menu.after(&next, &9, &Err(Fault::Exhausted));
        assert!(menu.queries(&next).is_empty());
    }
}
