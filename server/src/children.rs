//! Open children: who has them, what they were asked last, when they end.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::answer::Answer;
use crate::asking::Query;
use crate::limits::lock;
use crate::problem::{Code, Problem};
use crate::seat::{Asked, Seat};
use crate::token;

/// A child of an analyst.
pub struct Child {
    pub id: String,
    pub about: About,
    pub open: Opened,
    conversation: Mutex<Conversation>,
}

/// What is known of a child.
pub struct About {
    pub analyst: String,
    pub dataset: String,
    /// The name of the mechanism in the vocabulary.
    pub kind: &'static str,
    /// Everything that decides its answers, as text.
    pub description: String,
    /// How far its answers are from the truth.
    pub accuracy: Option<f64>,
    /// After how many hits it answers no more, if hits are bounded.
    pub hits: Option<u64>,
    /// The budget in which it was launched, and the key of the launch.
    pub key: Option<(String, String)>,
}

pub enum Opened {
    /// It is asked.
    Machine(Asked),
    /// Others are launched inside it. It comes back after a restart.
    Share(Arc<dyn Seat>),
}

struct Conversation {
    /// The number of the next question.
    next: u64,
    /// The hash of the last question, and what was answered.
    last: Option<([u8; 32], Answer)>,
    /// How often it was asked, with or without an answer.
    asked: u64,
    used: Instant,
    /// Hits that are left, if they are bounded.
    hits: Option<u64>,
    /// It answers no more.
    exhausted: bool,
}

/// What is known of a conversation.
pub struct Talk {
    /// The number of the next question.
    pub next: u64,
    /// It answers no more.
    pub exhausted: bool,
}

impl Child {
    /// How far the conversation has come.
    pub fn talk(&self) -> Talk {
        lock(&self.conversation).talk()
    }

    /// Asks it. The question with the last number is a retry, and gets the same answer.
    ///
    /// What was not answered does not count: the next question has the same number.
    pub fn ask(&self, number: u64, question: Query, most: u64) -> Result<(Answer, Talk), Problem> {
        let Opened::Machine(machine) = &self.open else {
            return Err(Problem::invalid_request(
                "this child is a share: launch in it, with its addresses `release` and `children`",
            ));
        };
        // Two questions at the same time: whoever has the lock is answered.
        let mut talk = self.conversation.try_lock().map_err(|_| Code::Busy)?;
        talk.used = Instant::now();
        let hash: [u8; 32] = Sha256::digest(question.text().as_bytes()).into();
        if number.checked_add(1) == Some(talk.next) {
            return match &talk.last {
                Some((last, answer)) if *last == hash => Ok((answer.clone(), talk.talk())),
                _ => Err(Problem::new(Code::Conflict)
                    .saying("this number was used for another question")),
            };
        }
        if number != talk.next {
            return Err(Problem::new(Code::Conflict)
                .saying(format!("the next question has the number {}", talk.next)));
        }
        if talk.asked >= most {
            talk.exhausted = true;
            return Err(Problem::new(Code::Closed).saying("it was asked as often as it may be"));
        }
        talk.asked += 1;
        let answer = machine.ask(question).map_err(|error| {
            let problem = not_answered(error);
            talk.exhausted |= problem.code == Code::Closed;
            problem
        })?;
        talk.next += 1;
        if answer.is_hit()
            && let Some(left) = &mut talk.hits
        {
            *left = left.saturating_sub(1);
        }
        talk.exhausted |= talk.hits == Some(0) || talk.asked >= most;
        talk.last = Some((hash, answer.clone()));
        Ok((answer, talk.talk()))
    }
}

impl Conversation {
    fn talk(&self) -> Talk {
        Talk {
            next: self.next,
            exhausted: self.exhausted,
        }
    }
}

fn not_answered(error: queryables::queryable::AskError) -> Problem {
    use queryables::machine::Fault;
    use queryables::queryable::AskError;
    match error {
        AskError::Fault(Fault::InvalidQuery(why)) => Problem::invalid_query(why),
        AskError::Fault(Fault::Exhausted) => {
            Problem::new(Code::Closed).saying("it has given all its answers")
        }
        AskError::Fault(Fault::Unavailable) => Code::Unavailable.into(),
        AskError::Busy => Code::Busy.into(),
        AskError::Stopped(_) | AskError::Fault(Fault::Stopped(_)) => {
            Problem::new(Code::Closed).saying("the budget was stopped for good")
        }
        _ => Problem::new(Code::Closed).saying("it has failed, and answers no more"),
    }
}

/// All children that are open.
#[derive(Default)]
pub struct Children {
    open: Mutex<HashMap<String, Arc<Child>>>,
    /// Children that are being opened, by analyst.
    opening: Mutex<HashMap<String, usize>>,
    /// Keys of requests that are being answered: analyst, budget, key.
    keys: Mutex<HashSet<(String, String, String)>>,
}

/// A place for a child that is being opened.
pub struct Opening<'a> {
    children: &'a Children,
    analyst: String,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut opening = lock(&self.children.opening);
        if let Some(number) = opening.get_mut(&self.analyst) {
            *number = number.saturating_sub(1);
        }
    }
}

/// A key that is being used.
pub struct KeyInUse<'a> {
    children: &'a Children,
    key: (String, String, String),
}

impl Drop for KeyInUse<'_> {
    fn drop(&mut self) {
        lock(&self.children.keys).remove(&self.key);
    }
}

impl Children {
    /// Takes a place for one more child.
    pub fn reserve(&self, analyst: &str, most: usize) -> Result<Opening<'_>, Problem> {
        let mut opening = lock(&self.opening);
        let number = opening.entry(analyst.to_owned()).or_default();
        let open = lock(&self.open);
        let open = open
            .values()
            .filter(|child| child.about.analyst == analyst)
            .count();
        if open + *number >= most {
            return Err(Problem::new(Code::TooMany).saying("open children: close one"));
        }
        *number += 1;
        Ok(Opening {
            children: self,
            analyst: analyst.to_owned(),
        })
    }

    /// Takes a key, so that two requests with the same one do not run at the same time.
    pub fn key(&self, analyst: &str, budget: &str, key: &str) -> Result<KeyInUse<'_>, Problem> {
        let key = (analyst.to_owned(), budget.to_owned(), key.to_owned());
        if !lock(&self.keys).insert(key.clone()) {
            return Err(
                Problem::new(Code::Busy).saying("a request with this key is being answered")
            );
        }
        Ok(KeyInUse {
            children: self,
            key,
        })
    }

    /// Adds a child, and returns it.
    pub fn add(&self, child: Child) -> Arc<Child> {
        let child = Arc::new(child);
        lock(&self.open).insert(child.id.clone(), Arc::clone(&child));
        child
    }

    /// The child of this analyst. Those of others are as unknown as those that never were.
    pub fn get(&self, analyst: &str, id: &str) -> Result<Arc<Child>, Problem> {
        let open = lock(&self.open);
        let child = open.get(id).filter(|child| child.about.analyst == analyst);
        child.cloned().ok_or_else(|| Code::Gone.into())
    }

    /// The children of this analyst.
    pub fn of(&self, analyst: &str) -> Vec<Arc<Child>> {
        let open = lock(&self.open);
        let mut of: Vec<_> = open
            .values()
            .filter(|child| child.about.analyst == analyst)
            .cloned()
            .collect();
        of.sort_by(|one, other| one.id.cmp(&other.id));
        of
    }

    pub fn len(&self) -> usize {
        lock(&self.open).len()
    }

    /// Ends it.
    pub fn remove(&self, id: &str) {
        let child = lock(&self.open).remove(id);
        // Its data is dropped without the lock.
        drop(child);
    }

    /// Ends those that nobody has asked for a while. Shares stay.
    pub fn end_idle(&self, idle: impl Fn(&str) -> Duration) {
        let old: Vec<String> = {
            let open = lock(&self.open);
            let old = open.values().filter(|child| match &child.open {
                Opened::Share(_) => false,
                // One that is answering is not idle.
                Opened::Machine(_) => child
                    .conversation
                    .try_lock()
                    .is_ok_and(|talk| talk.used.elapsed() > idle(&child.about.analyst)),
            });
            old.map(|child| child.id.clone()).collect()
        };
        for id in old {
            tracing::info!(child = "idle", "a child ended");
            self.remove(&id);
        }
    }
}

impl Child {
    /// A child with an identifier that nobody can guess.
    pub fn new(about: About, machine: Asked) -> Result<Self, Problem> {
        // Without random bits nothing could be answered either.
        let id = token::random::<16>().map_err(|_| Code::Unavailable)?;
        Ok(Self::with_id(id, about, Opened::Machine(machine)))
    }

    pub fn with_id(id: String, about: About, open: Opened) -> Self {
        let conversation = Mutex::new(Conversation {
            next: 0,
            last: None,
            asked: 0,
            used: Instant::now(),
            hits: about.hits,
            exhausted: false,
        });
        Self {
            id,
            about,
            open,
            conversation,
        }
    }
}
