//! Families in serialized form. Readings and products are computed again.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::family::Family;
use super::{Gaussians, InProfiles, List, Menu, Powers, WithinProfile};
use crate::account::RootSumSquares;
use crate::account::durable::{Durable, ImpossibleCounts, Invalid};
use crate::number::U256;
use crate::privacy::Gdp;
use crate::privacy::fdp::{FdpError, Grid, Profile};

/// What is written of a family, and of what was launched in it.
pub trait SavedFamily: Family<State: PartialEq> {
    /// Its name in serialized form.
    const NAME: &'static str;

    /// What it is built from.
    type Parameters: Serialize + DeserializeOwned;

    /// What launches change.
    type Counts: Serialize + DeserializeOwned;

    fn parameters(&self) -> Self::Parameters;

    fn build(parameters: Self::Parameters) -> Result<Self, FdpError>;

    fn counts(&self, state: &Self::State) -> Self::Counts;

    /// The state with these counts; `None` if no launches lead there.
    fn resumed(&self, counts: Self::Counts) -> Option<Self::State>;

    /// The rule whose budget is everything that the family was built for, if it is built for that much.
    fn in_full(counted: InProfiles<Self>) -> Option<WithinProfile<Self>>;
}

impl SavedFamily for Gaussians {
    const NAME: &'static str = "Gaussians";

    type Parameters = Gdp;
    type Counts = U256;

    fn parameters(&self) -> Gdp {
        Gdp
    }

    fn build(_: Gdp) -> Result<Self, FdpError> {
        Ok(Self)
    }

    fn counts(&self, squares: &RootSumSquares) -> U256 {
        squares.counts()
    }

    fn resumed(&self, squares: U256) -> Option<RootSumSquares> {
        RootSumSquares::default().resume(squares).ok()
    }

    fn in_full(_: InProfiles<Self>) -> Option<WithinProfile<Self>> {
        None
    }
}

/// A family whose states are whole numbers.
macro_rules! counted {
    ($Family:ident, $Parameters:ident { $($field:ident: $type:ty),* }, $write:expr, $build:expr, $leads:expr) => {
        #[doc = concat!("What [`", stringify!($Family), "`] is built from, in serialized form.")]
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $Parameters {
            $($field: $type,)*
            grid: Grid,
        }

        impl SavedFamily for $Family {
            const NAME: &'static str = stringify!($Family);

            type Parameters = $Parameters;
            type Counts = usize;

            fn parameters(&self) -> $Parameters {
                let write: fn(&Self) -> $Parameters = $write;
                write(self)
            }

            fn build(read: $Parameters) -> Result<Self, FdpError> {
                let build: fn($Parameters) -> Result<Self, FdpError> = $build;
                build(read)
            }

            fn counts(&self, state: &usize) -> usize {
                *state
            }

            fn resumed(&self, state: usize) -> Option<usize> {
                let leads: fn(&Self, usize) -> bool = $leads;
                (state <= self.last() && leads(self, state)).then_some(state)
            }

            fn in_full(counted: InProfiles<Self>) -> Option<WithinProfile<Self>> {
                Some(counted.in_full())
            }
        }
    };
}

counted!(
    Powers,
    PowersParameters {
        base: Profile,
        most: usize
    },
    |powers| PowersParameters {
        base: powers.base().clone(),
        most: powers.last(),
        grid: powers.grid,
    },
    |read| Powers::new(read.base, read.most, read.grid),
    |_, _| true
);
counted!(
    Menu,
    MenuParameters { entries: Vec<(Profile, usize)>, most: usize },
    |menu| MenuParameters {
        entries: menu.entries.to_vec(),
        most: menu.last(),
        grid: menu.grid,
    },
    |read| Menu::new(&read.entries, read.most, read.grid),
    Menu::leads_to
);
counted!(
    List,
    ListParameters { losses: Vec<Profile> },
    |list| ListParameters {
        losses: list.losses.to_vec(),
        grid: list.grid,
    },
    |read| List::new(&read.losses, read.grid),
    |_, _| true
);

impl<L: SavedFamily> Durable for InProfiles<L> {
    const NAME: &'static str = L::NAME;

    type Parameters = L::Parameters;
    type Counts = L::Counts;

    fn parameters(&self) -> L::Parameters {
        self.family.parameters()
    }

    fn build(parameters: L::Parameters) -> Result<Self, Invalid> {
        Ok(Self::new(L::build(parameters)?))
    }

    fn counts(&self) -> L::Counts {
        self.family.counts(&self.state)
    }

    fn resume(&self, counts: L::Counts) -> Result<Self, Invalid> {
        let state = self.family.resumed(counts).ok_or(ImpossibleCounts)?;
        let family = self.family.clone();
        Ok(Self { family, state })
    }
}

/// What a rule is built from, in serialized form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters<P> {
    of: P,
    /// Without one, it is everything that the family was built for.
    limit: Option<Profile>,
}

impl<L: SavedFamily> Durable for WithinProfile<L> {
    const NAME: &'static str = L::NAME;

    type Parameters = Parameters<L::Parameters>;
    type Counts = L::Counts;

    fn parameters(&self) -> Self::Parameters {
        let full = L::in_full(InProfiles::new(self.counted.family.clone()));
        let is_full = full.is_some_and(|full| full.most == self.most && full.limit == self.limit);
        Parameters {
            of: self.counted.parameters(),
            limit: (!is_full).then(|| self.limit.clone()),
        }
    }

    fn build(Parameters { of, limit }: Self::Parameters) -> Result<Self, Invalid> {
        let counted = InProfiles::build(of)?;
        match limit {
            Some(limit) => Ok(counted.within(limit)?),
            None => L::in_full(counted).ok_or_else(|| "this family needs a limit".into()),
        }
    }

    fn counts(&self) -> L::Counts {
        self.counted.counts()
    }

    fn resume(&self, counts: L::Counts) -> Result<Self, Invalid> {
        let counted = self.counted.resume(counts)?;
        if !counted.family.is_within(&counted.state, &self.most) {
            return Err(ImpossibleCounts.into());
        }
        Ok(Self {
            counted,
            ..self.clone()
        })
    }
}
