//! Queries to children of OpenDP.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use opendp::error::{Error, ErrorVariant, Fallible};

use crate::sample::{Run, repeated};
use crate::theirs;

/// Queries to a compositor `depth` levels below this filter, which is replaced when it has answered
/// all the queries that it was made for.
pub fn nested_child(outer: &theirs::Compositor<Box<dyn Any>>, depth: u64) -> Run {
    const QUERIES: u64 = 1_000_000;
    let query = theirs::constant();
    let innermost = theirs::nested_filter(outer, depth - 1);
    let (mut child, mut left) = (theirs::child(&innermost, 1), 0);
    Box::new(move |times| {
        if left < times {
            left = QUERIES.max(times);
            child = theirs::child(&innermost, left as usize);
        }
        left -= times;
        let begin = Instant::now();
        for _ in 0..times {
            black_box(child.eval(&query)).expect("a query left");
        }
        begin.elapsed()
    })
}

/// What OpenDP keeps a child in. Its own constructors are private, so that no child can be made
/// from outside that does nothing: this stands for it, with the same pointers, the same check
/// that it is not busy, the same two kinds of queries, and OpenDP's own error type. It was measured
/// in turns with a child in a copy of OpenDP whose constructor was opened: both took the same, to
/// the third digit. (Inlined, this would take less than half of that.)
struct StandIn<Q, A>(Rc<RefCell<Transition<Q, A>>>);

type Transition<Q, A> = dyn FnMut(&StandIn<Q, A>, Query<'_, Q>) -> Fallible<Answer<A>>;

/// From outside, or from other children.
#[allow(dead_code)]
enum Query<'a, Q> {
    External(&'a Q),
    Internal(&'a dyn Any),
}

#[allow(dead_code)]
enum Answer<A> {
    External(A),
    Internal(Box<dyn Any>),
}

impl<Q: 'static, A: 'static> StandIn<Q, A> {
    fn new(mut answer: impl FnMut(&Q) -> Fallible<A> + 'static) -> Self {
        let transition = move |_: &Self, query: Query<'_, Q>| match query {
            Query::External(query) => answer(query).map(Answer::External),
            Query::Internal(_) => Err(refusal()),
        };
        Self(Rc::new(RefCell::new(transition)))
    }

    // The compiler leaves OpenDP's two functions apart as well, for all that is in them.
    #[inline(never)]
    fn eval(&mut self, query: &Q) -> Fallible<A> {
        match self.step(Query::External(query))? {
            Answer::External(answer) => Ok(answer),
            Answer::Internal(_) => Err(refusal()),
        }
    }

    #[inline(never)]
    fn step(&mut self, query: Query<'_, Q>) -> Fallible<Answer<A>> {
        let mut transition = self.0.try_borrow_mut().map_err(|_| refusal())?;
        transition(self, query)
    }
}

fn refusal() -> Error {
    Error {
        variant: ErrorVariant::FailedFunction,
        message: Some("not understood".into()),
        backtrace: Backtrace::capture(),
    }
}

/// Queries to a child that answers with a constant.
pub fn stand_in() -> Run {
    let mut child = black_box(StandIn::new(|(): &()| Ok(true)));
    repeated(move || {
        black_box(child.eval(&())).expect("an answer");
    })
}
