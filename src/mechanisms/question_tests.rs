//! Data that counts questions of its own, and refuses those that are about other data.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::account::{Accumulator, DefaultAccumulator};
use crate::machine::{CoinSource, NotPrivateSeededCoins, PublicMetadata};
use crate::mechanisms::Source;
use crate::mechanisms::choice::ChoiceLaw;
use crate::mechanisms::{
    AboveThreshold, Choice, Count, CountScores, ExponentialMechanism, MultiplicativeWeights,
    NoisyMax, NoisyMaxWithMargin, PermuteAndFlip, Priced, QueryAnswerer, TopK,
};
use crate::prelude::*;
use std::borrow::Cow;

/// How many records have each letter of a public alphabet; and how often it was asked to count.
struct Letters {
    alphabet: usize,
    counts: Vec<u64>,
    counted: AtomicU64,
}

/// The number of a letter.
#[derive(Clone, Copy, Debug)]
struct Letter(usize);

const FOREIGN: DomainMismatch = DomainMismatch("the letter is not in the alphabet");
const INVALID: Fault = Fault::InvalidQuery("the letter is not in the alphabet");

impl Letters {
    fn new(counts: &[u64]) -> Arc<Self> {
        Arc::new(Self {
            alphabet: counts.len(),
            counts: counts.to_vec(),
            counted: AtomicU64::new(0),
        })
    }

    fn counted(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }
}

impl PublicMetadata for Letters {
    type Metadata = usize;

    fn metadata(&self) -> &usize {
        &self.alphabet
    }
}

impl Source for Letter {
    fn name(&self) -> Cow<'_, str> {
        self.0.to_string().into()
    }
}

impl Counts<Letter> for Letters {
    fn check(data: Public<'_, Self>, letter: &Letter) -> Result<(), DomainMismatch> {
        (letter.0 < *data.metadata()).then_some(()).ok_or(FOREIGN)
    }

    fn count(&self, letter: &Letter) -> Result<u64, Unavailable> {
        self.counted.fetch_add(1, Ordering::Relaxed);
        self.counts.get(letter.0).copied().ok_or(Unavailable)
    }
}

/// The first letters.
struct Alphabet(usize);

impl Domain<Letter> for Alphabet {
    fn size(&self) -> usize {
        self.0
    }

    fn check(&self, letter: &Letter) -> Result<(), DomainMismatch> {
        (letter.0 < self.0).then_some(()).ok_or(FOREIGN)
    }

    fn holds(&self, letter: &Letter, record: usize) -> bool {
        letter.0 == record
    }
}

/// An ε with which the noise is negligible.
const LARGE: Epsilon = epsilon!(1000000);

/// Asks about a letter that the data does not know, and then about one that it has.
fn refuses_and_goes_on<M>(mechanism: &M, ask: impl Fn(Letter) -> <M::Machine as Machine>::Query)
where
    M: Mechanism<Letters, Machine: Machine>,
{
    let data = Letters::new(&[50, 0]);
    let mut coins = NotPrivateSeededCoins::new(1);
    let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
    let refused = machine.step(ask(Letter(2)), &mut coins.coins());
    assert_eq!(refused.err(), Some(INVALID));
    assert_eq!(data.counted(), 0);
    assert!(machine.step(ask(Letter(0)), &mut coins.coins()).is_ok());
    assert!(data.counted() > 0);
}

#[test]
fn machines_refuse_what_the_data_does_not_know_before_they_count() {
    let search = AboveThreshold::new(AddRemove, 10, 1, LARGE).unwrap();
    refuses_and_goes_on(&search, |letter| letter);
    refuses_and_goes_on(&search.with_counts(LARGE).unwrap(), |letter| letter);
    let answerer = QueryAnswerer::new(PureDp.accumulator().capped(LARGE));
    refuses_and_goes_on(&answerer, |letter| Priced::new(letter, epsilon!(1)));
    // Of these domains one has the letter that the data does not know, and one has not.
    for size in [2, 3] {
        let weights = MultiplicativeWeights::new(Alphabet(size), 50, 5, 2, LARGE).unwrap();
        refuses_and_goes_on(&weights, |letter| letter);
    }
}

/// Launches it, and starts it without a check.
fn is_refused<M: Mechanism<Letters, Machine = Released<A>> + Private<PureDp, AddRemove>, A>(
    mechanism: &M,
) {
    let data = Letters::new(&[50, 0]);
    let filter = start(&Filter::concurrent(PureDp, LARGE), Arc::clone(&data)).unwrap();
    let refused = filter.release(mechanism).err();
    assert_eq!(refused, Some(LaunchError::DomainMismatch(FOREIGN)));
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
    let mut coins = NotPrivateSeededCoins::new(1);
    let started = mechanism.start(&data, &mut coins.coins());
    assert_eq!(started.err(), Some(INVALID));
    assert_eq!(data.counted(), 0);
}

#[test]
fn launches_of_what_the_data_does_not_know_are_not_charged() {
    is_refused(&Count::of(Letter(2)).laplace(epsilon!(1)).unwrap());

    fn choice<L, A>(law: L)
    where
        L: ChoiceLaw<Answer = A>,
        PureDp: crate::privacy::Prices<L::Fact>,
    {
        let scores = CountScores::of([0, 1, 2].map(Letter));
        is_refused(&Choice::by(AddRemove, law, scores, epsilon!(1)).unwrap());
    }
    choice(NoisyMax);
    choice(NoisyMaxWithMargin);
    choice(ExponentialMechanism);
    choice(PermuteAndFlip);
    choice(TopK(2));
}

/// Weights start equal, and the third letter, which is never asked about, gets what is left.
#[test]
fn data_that_is_not_in_memory_is_guessed() {
    let weights = MultiplicativeWeights::new(Alphabet(3), 90, 9, 50, LARGE).unwrap();
    let data = Letters::new(&[80, 0, 10]);
    let mut coins = NotPrivateSeededCoins::new(1);
    let mut machine = weights.start(&data, &mut coins.coins()).unwrap();
    let mut ask = |letter| machine.step(Letter(letter), &mut coins.coins());
    assert_eq!(ask(0), Ok(80));
    assert_eq!(ask(1), Ok(0));
    for _ in 0..20 {
        let answers = [ask(0), ask(1)].map(|answer| answer.unwrap());
        assert!(answers[0].abs_diff(80) < 9 && answers[1].abs_diff(0) < 9);
    }
    let guess = ask(2).unwrap();
    assert!(guess.abs_diff(10) < 9, "{guess}");
}
