//! Who asks.

use std::sync::Arc;

use crate::children::{About, Child, Opened};
use crate::limits::Usage;
use crate::seat::Seat;
use crate::token::TokenHash;
use crate::view::{Me, Role};

/// One analyst.
pub struct Analyst {
    pub name: String,
    pub token: TokenHash,
    /// The `sub` of the issuer's tokens.
    pub subject: Option<String>,
    pub expires: Option<u64>,
    pub usage: Arc<Usage>,
}

/// Who sent a request.
#[derive(Clone)]
pub enum Caller {
    Curator,
    Analyst(Arc<Analyst>),
}

impl Caller {
    /// What it is told about itself.
    pub fn me(&self) -> Me {
        match self {
            Self::Curator => Me {
                name: "curator".to_owned(),
                role: Role::Curator,
            },
            Self::Analyst(analyst) => Me {
                name: analyst.name.clone(),
                role: Role::Analyst,
            },
        }
    }
}

impl Analyst {
    pub fn share_id(&self, dataset: &str, name: &str) -> String {
        self.token.derive(&[dataset, &self.name, name])
    }

    pub fn share(&self, dataset: &str, name: &str, seat: Arc<dyn Seat>) -> Child {
        let about = About {
            analyst: self.name.clone(),
            dataset: dataset.to_owned(),
            kind: "filter",
            description: name.to_owned(),
            accuracy: None,
            hits: None,
            key: None,
        };
        Child::with_id(self.share_id(dataset, name), about, Opened::Share(seat))
    }
}
