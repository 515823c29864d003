//! The server without HTTP: who may see what, and conversations with children. Launches are in
//! `launches.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use queryables::ledger::Ledger;
use queryables::table::Table;

use crate::analyst::{Analyst, Caller};
use crate::children::{Children, Opened};
use crate::config::{Config, DatasetConfig};
use crate::dataset::Dataset;
use crate::issuer::Issuer;
use crate::limits::Usage;
use crate::metrics::Metrics;
use crate::place::Place;
use crate::problem::{Code, Problem};
use crate::token::{self, TokenHash};
use crate::view::{Ask, Asked, ChildView, DatasetView};

/// Everything that a running server knows.
pub struct Service {
    curator: TokenHash,
    issuer: Option<Issuer>,
    pub analysts: Vec<Arc<Analyst>>,
    pub datasets: BTreeMap<String, Arc<Dataset>>,
    pub children: Children,
    pub metrics: Metrics,
}

impl Service {
    /// Opens all datasets.
    ///
    /// `open` opens data and a ledger, or says why it cannot.
    pub fn new(
        config: Config,
        open: impl Fn(&DatasetConfig) -> Result<(Arc<dyn Table>, Ledger), String>,
    ) -> Result<Self, Vec<String>> {
        let analysts = config.analysts.into_iter().map(|analyst| Analyst {
            name: analyst.name,
            token: analyst.token,
            subject: analyst.subject,
            expires: analyst.expires,
            usage: Arc::new(Usage::new(analyst.limits)),
        });
        let analysts: Vec<_> = analysts.map(Arc::new).collect();
        let children = Children::default();
        let mut datasets = BTreeMap::new();
        let mut problems = Vec::new();
        for config in config.datasets {
            let name = config.name.clone();
            let dataset = open(&config)
                .and_then(|(data, ledger)| Dataset::new(config, data, ledger))
                .and_then(|dataset| {
                    dataset.bring_back(&analysts, &children)?;
                    Ok(dataset)
                });
            match dataset {
                Ok(dataset) => drop(datasets.insert(name, dataset)),
                Err(problem) => problems.push(format!("dataset {name:?}: {problem}")),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            curator: config.curator,
            issuer: config.issuer,
            analysts,
            datasets,
            children,
            metrics: Metrics::default(),
        })
    }

    /// Who has this token. All hashes are compared, in constant time each.
    pub fn authenticate(&self, token: &str) -> Result<Caller, Problem> {
        let hash = TokenHash::of(token);
        let mut found = self.curator.is(hash).then_some(Caller::Curator);
        for analyst in &self.analysts {
            if analyst.token.is(hash) {
                found = Some(Caller::Analyst(Arc::clone(analyst)));
            }
        }
        // Tokens that are made here have no dot; those of an issuer have two.
        if let (None, Some(issuer), true) = (&found, &self.issuer, token.contains('.')) {
            let subject = issuer.subject(token).ok_or(Code::Unauthorized)?;
            let mut analysts = self.analysts.iter();
            found = analysts
                .find(|analyst| analyst.subject.as_ref() == Some(&subject))
                .map(|analyst| Caller::Analyst(Arc::clone(analyst)));
        }
        match found {
            Some(Caller::Analyst(analyst))
                if analyst.expires.is_some_and(|end| end <= token::now()) =>
            {
                Err(Code::Unauthorized.into())
            }
            Some(caller) => Ok(caller),
            None => Err(Code::Unauthorized.into()),
        }
    }

    /// The dataset, if the caller may see it: others are as unknown as those that never were.
    pub fn dataset(&self, caller: &Caller, name: &str) -> Result<Arc<Dataset>, Problem> {
        let dataset = self.datasets.get(name).filter(|dataset| match caller {
            Caller::Curator => true,
            Caller::Analyst(analyst) => dataset.seats.contains_key(&analyst.name),
        });
        dataset.cloned().ok_or_else(|| Code::UnknownDataset.into())
    }

    /// The datasets that the caller may see.
    pub fn views(&self, caller: &Caller) -> Result<Vec<DatasetView>, Problem> {
        let seen = self.datasets.keys();
        let seen = seen.filter_map(|name| self.dataset(caller, name).ok());
        seen.map(|dataset| dataset.view(caller)).collect()
    }

    /// The budget of a dataset, for an analyst who launches in it.
    pub fn place(&self, analyst: &Analyst, dataset: &str) -> Result<Place, Problem> {
        let dataset = self.datasets.get(dataset);
        let place = dataset.and_then(|dataset| {
            Some(Place {
                seat: Arc::clone(dataset.seats.get(&analyst.name)?),
                dataset: Arc::clone(dataset),
                name: dataset.name.clone(),
            })
        });
        place.ok_or_else(|| Code::UnknownDataset.into())
    }

    /// The budget of a share.
    pub fn share(&self, analyst: &Analyst, child: &str) -> Result<Place, Problem> {
        let child = self.children.get(&analyst.name, child)?;
        let Opened::Share(seat) = &child.open else {
            return Err(Problem::invalid_request(
                "this child is asked, and launches nothing",
            ));
        };
        let dataset = self.datasets.get(&child.about.dataset).ok_or(Code::Gone)?;
        Ok(Place {
            dataset: Arc::clone(dataset),
            seat: Arc::clone(seat),
            name: child.id.clone(),
        })
    }

    /// Asks a child.
    pub fn ask(&self, analyst: &Analyst, child: &str, ask: &Ask) -> Result<Asked, Problem> {
        let child = self.children.get(&analyst.name, child)?;
        let dataset = self.datasets.get(&child.about.dataset).ok_or(Code::Gone)?;
        let question = ask.query(&dataset.schema)?;
        let most = analyst.usage.limits().asks_per_child;
        let text = question.text();
        // An engine that is away has no schema for the question to fit.
        let answered = match child.ask(ask.number, question, most) {
            Err(problem) if problem.code == Code::InvalidQuery && !dataset.data.is_reachable() => {
                Err(Code::Unavailable.into())
            }
            answered => answered,
        };
        tracing::info!(
            analyst = analyst.name,
            dataset = dataset.name,
            number = ask.number,
            question = text,
            decision = answered
                .as_ref()
                .map_or_else(|problem| problem.code.name(), |_| "answered".to_owned()),
            "ask",
        );
        let (answer, talk) = answered?;
        Ok(Asked {
            answer,
            number: ask.number,
            next: talk.next,
            exhausted: talk.exhausted,
        })
    }

    /// The children of an analyst.
    pub fn children_of(&self, analyst: &Analyst) -> Result<Vec<ChildView>, Problem> {
        let children = self.children.of(&analyst.name);
        children.iter().map(|child| child.view()).collect()
    }

    /// One child of an analyst.
    pub fn child(&self, analyst: &Analyst, child: &str) -> Result<ChildView, Problem> {
        self.children.get(&analyst.name, child)?.view()
    }

    /// Ends a child. Its charge stands.
    pub fn close(&self, analyst: &Analyst, child: &str) -> Result<(), Problem> {
        let child = self.children.get(&analyst.name, child)?;
        if let Opened::Share(_) = child.open {
            return Err(Problem::invalid_request(
                "a share is not closed: its budget was set aside for good",
            ));
        }
        self.children.remove(&child.id);
        Ok(())
    }

    /// Ends children that nobody asks any more.
    pub fn end_idle_children(&self) {
        self.children.end_idle(|name| {
            let analyst = self.analysts.iter().find(|analyst| analyst.name == name);
            let idle = analyst.map_or(0, |analyst| analyst.usage.limits().idle_seconds);
            Duration::from_secs(idle)
        });
    }
}
