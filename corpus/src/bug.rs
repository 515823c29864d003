use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

/// Which of the two machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Version {
    Broken,
    Repaired,
}

impl Version {
    const BOTH: [Self; 2] = [Self::Broken, Self::Repaired];

    pub(crate) fn is_broken(self) -> bool {
        self == Self::Broken
    }
}

/// A published bug.
pub struct Bug {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// What was claimed.
    pub claim: &'static str,
    /// What was wrong.
    pub wrong: &'static str,
    /// Where it was published.
    pub source: &'static str,
    pub(crate) run: fn() -> Result<Found, Box<dyn Error>>,
}

impl Bug {
    /// Asks all methods about both machines.
    ///
    /// # Errors
    ///
    /// If a machine cannot be made or run.
    pub fn find(&self) -> Result<Found, Box<dyn Error>> {
        (self.run)()
    }
}

/// What a method says about a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// The claim is false.
    Refutes,
    /// The claim is true (the verifier), or nothing was found (the others).
    Passes,
    /// Neither can be shown.
    Undecided,
}

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refutes => "finds",
            Self::Passes => "passes",
            Self::Undecided => "undecided",
        })
    }
}

/// What a method says about both machines, and how long it took.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// About the broken machine.
    pub broken: Says,
    /// About the repaired machine.
    pub repaired: Says,
    /// For both together.
    pub time: Duration,
}

impl Method {
    pub(crate) fn ask(
        says: impl Fn(Version) -> Result<Says, Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let start = Instant::now();
        let [broken, repaired] = Version::BOTH.map(says);
        Ok(Self {
            broken: broken?,
            repaired: repaired?,
            time: start.elapsed(),
        })
    }
}

/// What the methods say; `None` for a method that cannot be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Against every adversary that chooses from a menu.
    pub verify: Option<Method>,
    /// By sampling, against one adversary.
    pub audit: Option<Method>,
    /// By what the library states about the same parameters.
    pub reference: Option<Method>,
}

impl Found {
    /// With what the reference values say: whether they contradict the claim.
    pub(crate) fn with_reference(
        self,
        contradicts: impl Fn(Version) -> Result<bool, Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let says = |version| {
            Ok(match contradicts(version)? {
                true => Says::Refutes,
                false => Says::Passes,
            })
        };
        Ok(Self {
            reference: Some(Method::ask(says)?),
            ..self
        })
    }
}
