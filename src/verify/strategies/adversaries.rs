use std::hash::{Hash, Hasher};

use proptest::prelude::*;

use crate::machine::{Adversary, CoinSource, CoinsError, Fault};

/// How an adversary goes on.
///
/// Example: [`strategies`](crate::verify::strategies).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction<Q> {
    /// Asks nothing more.
    Halt,
    /// Asks this, and goes on in one of two ways.
    Ask {
        /// What it asks.
        query: Q,
        /// How it goes on after the one half of all answers, and after the other.
        then: Box<[Reaction<Q>; 2]>,
    },
}

impl<Q: Clone> Reaction<Q> {
    /// An adversary that reacts like this to answers, by a bit that is computed from each.
    #[must_use]
    pub fn player<A: Hash>(&self) -> impl Adversary<Query = Q, Answer = A> + use<Q, A> {
        Reactive {
            next: self.clone(),
            answer: std::marker::PhantomData,
        }
    }
}

struct Reactive<Q, A> {
    next: Reaction<Q>,
    answer: std::marker::PhantomData<fn(A)>,
}

impl<Q: Clone, A: Hash> Adversary for Reactive<Q, A> {
    type Query = Q;
    type Answer = A;

    fn ask(
        &mut self,
        last: Option<&Result<A, Fault>>,
        _coins: &mut dyn CoinSource,
    ) -> Result<Option<Q>, CoinsError> {
        if let (Some(last), Reaction::Ask { then, .. }) = (last, &self.next) {
            let [one, other] = &**then;
            let next = if bit_of(last) { other } else { one };
            self.next = next.clone();
        }
        Ok(match &self.next {
            Reaction::Halt => None,
            Reaction::Ask { query, .. } => Some(query.clone()),
        })
    }
}

/// One bit of an answer: any fixed function works.
fn bit_of(answer: &impl Hash) -> bool {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    answer.hash(&mut hasher);
    hasher.finish() % 2 == 1
}

/// Adversaries that ask from this menu, adaptively, at most `depth` times. They shrink to shorter
/// ones.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn adversaries<Q>(menu: Vec<Q>, depth: u32) -> impl Strategy<Value = Reaction<Q>>
where
    Q: Clone + std::fmt::Debug + 'static,
{
    Just(Reaction::Halt).prop_recursive(depth, 1 << depth, 2, move |next| {
        (prop::sample::select(menu.clone()), next.clone(), next).prop_map(|(query, one, other)| {
            Reaction::Ask {
                query,
                then: Box::new([one, other]),
            }
        })
    })
}
