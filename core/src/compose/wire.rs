//! Replies in messages: fields and codes, no prose.
//!
//! `spec/embedding.md` lists them. Reasons that are written for people (why a query is invalid, why a
//! mechanism has no loss) are not sent: what is read says only that there was one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{LaunchError, Refusal, Reply, Unavailable};
use crate::machine::{DomainMismatch, Fault, Stop};
use crate::privacy::{AnyLoss, UnknownLoss, WrittenLoss};
use crate::queryable::AskError;

/// What stands for a reason that was not sent.
const UNSAID: &str = "as another process said";

/// Losses are texts under the measure of the children. That of the whole is named where it differs.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole: Option<String>,
    spent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set_aside: Option<String>,
    requested: String,
    remaining: String,
    limit: String,
}

/// What stands for something in a message, in both directions.
macro_rules! codes {
    ($Code:ident $([$A:ident])? for $Told:ty {
        $($code:ident $({ $($field:ident: $type:ty),* })? $(($inner:ident: $Inner:ty))?
            = $pattern:pat => $told:expr,)*
    }) => {
        #[derive(Clone, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum $Code $(<$A>)? {
            $($code $({ $($field: $type),* })? $(($Inner))?,)*
        }

        impl $(<$A>)? From<$Told> for $Code $(<$A>)? {
            fn from(told: $Told) -> Self {
                match told {
                    $($pattern => Self::$code $({ $($field: $field.into()),* })? $(($inner.into()))?,)*
                }
            }
        }

        impl $(<$A>)? From<$Code $(<$A>)?> for $Told {
            fn from(code: $Code $(<$A>)?) -> Self {
                match code {
                    $($Code::$code $({ $($field),* })? $(($inner))? => $told,)*
                }
            }
        }
    };
}

codes! { Told[A] for Reply<A, AnyLoss> {
    Launched(number: usize) = Reply::Launched(number) => Self::Launched(number),
    Refused(refused: Refused) = Reply::NotLaunched(LaunchError::Refused(refused))
        => Self::NotLaunched(LaunchError::Refused(refused.into())),
    OverQuota { quota: String, refused: Refused }
        = Reply::NotLaunched(LaunchError::OverQuota { quota, refusal: refused })
        => Self::NotLaunched(LaunchError::OverQuota { quota, refusal: Box::new(refused.into()) }),
    NotLaunched(error: NotLaunched) = Reply::NotLaunched(error) => Self::NotLaunched(error.into()),
    Answered(answer: A) = Reply::Answered(answer) => Self::Answered(answer),
    NotAnswered(error: NotAnswered) = Reply::NotAnswered(error) => Self::NotAnswered(error.into()),
    Closed(number: usize) = Reply::Closed(number) => Self::Closed(number),
    Unknown(number: usize) = Reply::Unknown(number) => Self::Unknown(number),
    PrivacyLoss(loss: AnyLoss) = Reply::PrivacyLoss(loss) => Self::PrivacyLoss(loss),
    Remaining(loss: Option<AnyLoss>) = Reply::Remaining(loss) => Self::Remaining(loss),
    NotRead(error: NotRead) = Reply::NotRead(error) => Self::NotRead(error.into()),
}}

codes! { NotLaunched for LaunchError<AnyLoss> {
    CountLimit { limit: u64 } = LaunchError::CountLimit { limit } => Self::CountLimit { limit },
    UnknownLoss = LaunchError::UnknownLoss(_) => Self::UnknownLoss(UnknownLoss(UNSAID)),
    DomainMismatch = LaunchError::DomainMismatch(_) => Self::DomainMismatch(DomainMismatch(UNSAID)),
    Interactive = LaunchError::Interactive => Self::Interactive,
    Overflow = LaunchError::Overflow => Self::Overflow,
    Frozen = LaunchError::Stopped(Stop::Frozen) => Self::Stopped(Stop::Frozen),
    Halted = LaunchError::Stopped(Stop::Halted) => Self::Stopped(Stop::Halted),
    RuleFailed = LaunchError::RuleFailed => Self::RuleFailed,
    Unavailable = LaunchError::Unavailable(_) => Self::Unavailable(unavailable()),
    // What a budget or a quota refuses has a reply of its own.
    Failed = LaunchError::Failed | LaunchError::Refused(_) | LaunchError::OverQuota { .. }
        => Self::Failed,
}}

codes! { NotAnswered for AskError {
    InvalidQuery = AskError::Fault(Fault::InvalidQuery(_))
        => Self::Fault(Fault::InvalidQuery(UNSAID)),
    Exhausted = AskError::Fault(Fault::Exhausted) => Self::Fault(Fault::Exhausted),
    RoundLimit { rounds: u32 } = AskError::Fault(Fault::RoundLimit(rounds))
        => Self::Fault(Fault::RoundLimit(rounds)),
    Failed = AskError::Fault(Fault::Failed) => Self::Fault(Fault::Failed),
    Unavailable = AskError::Fault(Fault::Unavailable) => Self::Fault(Fault::Unavailable),
    Frozen = AskError::Stopped(Stop::Frozen) | AskError::Fault(Fault::Stopped(Stop::Frozen))
        => Self::Stopped(Stop::Frozen),
    Halted = AskError::Stopped(Stop::Halted) | AskError::Fault(Fault::Stopped(Stop::Halted))
        => Self::Stopped(Stop::Halted),
    Closed = AskError::Closed => Self::Closed,
    Busy = AskError::Busy => Self::Busy,
}}

codes! { NotRead for Unavailable {
    Unavailable = Unavailable(_) => unavailable(),
}}

fn unavailable() -> Unavailable {
    Unavailable(UNSAID.to_owned())
}

impl<A: Serialize + Clone> Serialize for Reply<A, AnyLoss> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Told::from(self.clone()).serialize(serializer)
    }
}

impl<'de, A: Deserialize<'de>> Deserialize<'de> for Reply<A, AnyLoss> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        Told::deserialize(deserializer).map(Self::from)
    }
}

impl From<Refusal<AnyLoss>> for Refused {
    fn from(refusal: Refusal<AnyLoss>) -> Self {
        let named = |loss: &AnyLoss| loss.measure().map(str::to_owned);
        let measure: Option<String> = named(&refusal.requested);
        Self {
            whole: named(&refusal.limit).filter(|whole| Some(whole) != measure.as_ref()),
            measure,
            spent: refusal.spent.to_string(),
            set_aside: refusal.set_aside.map(|aside| aside.to_string()),
            requested: refusal.requested.to_string(),
            remaining: refusal.remaining.to_string(),
            limit: refusal.limit.to_string(),
        }
    }
}

impl From<Box<Refusal<AnyLoss>>> for Refused {
    fn from(refusal: Box<Refusal<AnyLoss>>) -> Self {
        (*refusal).into()
    }
}

impl From<Refused> for Refusal<AnyLoss> {
    fn from(told: Refused) -> Self {
        let whole = told.whole.or_else(|| told.measure.clone());
        let loss =
            |text, measure: &Option<String>| AnyLoss::new(WrittenLoss(text)).named(measure.clone());
        Self {
            spent: loss(told.spent, &whole),
            set_aside: told.set_aside.map(|aside| Box::new(loss(aside, &whole))),
            requested: loss(told.requested, &told.measure),
            remaining: loss(told.remaining, &told.measure),
            limit: loss(told.limit, &whole),
        }
    }
}
