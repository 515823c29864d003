//! The server without HTTP: who may ask what, and what happens then.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use queryables::ledger::{Decision, Ledger, Line};
use queryables::machine::{Description, PublicMetadata};
use queryables::table::Schema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::asking::Query;
use crate::children::{About, Child, Children, Opened};
use crate::config::{self, Config, DatasetConfig};
use crate::data::Data;
use crate::limits::{Usage, lock};
use crate::loss::LossText;
use crate::metrics::Metrics;
use crate::problem::{Code, Problem};
use crate::question::{Opening, Ready, Release, Share, Written};
use crate::seat::{self, Launch, Price, Seat, Terms};
use crate::token::{self, TokenHash};

/// Everything that a running server knows.
pub struct Service {
    curator: TokenHash,
    pub analysts: Vec<Arc<Analyst>>,
    pub datasets: BTreeMap<String, Arc<Dataset>>,
    pub children: Children,
    pub metrics: Metrics,
}

/// One analyst.
pub struct Analyst {
    pub name: String,
    token: TokenHash,
    expires: Option<u64>,
    pub usage: Arc<Usage>,
}

/// One dataset, with its budget.
pub struct Dataset {
    pub name: String,
    pub schema: Schema,
    pub ledger: Ledger,
    data: Arc<Data>,
    share_questions: bool,
    seats: BTreeMap<String, Arc<dyn Seat>>,
    /// The curator's, to read.
    pub budget: Arc<dyn Seat>,
    /// Hashes of questions that were answered: by whom, and what.
    answered: Mutex<HashSet<[u8; 32]>>,
}

/// Who sent a request.
#[derive(Clone)]
pub enum Caller {
    Curator,
    Analyst(Arc<Analyst>),
}

/// A budget in which an analyst launches: that of a dataset, or a share of it.
#[derive(Clone)]
pub struct Place {
    pub dataset: Arc<Dataset>,
    seat: Arc<dyn Seat>,
    /// Which of the analyst's budgets.
    name: String,
}

/// A dataset, as an analyst sees it.
#[derive(Serialize, ToSchema)]
pub struct DatasetView {
    pub name: String,
    /// Columns with their public domains, and who one person is.
    #[schema(value_type = Object)]
    pub schema: Schema,
    #[serde(flatten)]
    pub budget: BudgetView,
}

/// A budget, as an analyst sees it. Losses are stated under the measure of the budget.
#[derive(Serialize, ToSchema)]
pub struct BudgetView {
    pub limit: LossText,
    /// By everybody together.
    pub spent: LossText,
    pub remaining: LossText,
    /// What is left of the analyst's own quota, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_remaining: Option<LossText>,
    /// How many launches there were.
    pub launched: u64,
    /// It was stopped for good.
    pub halted: bool,
}

/// What a launch would cost.
#[derive(Serialize, ToSchema)]
pub struct Preview {
    pub cost: LossText,
    /// How many such launches the budget and the quota admit, one after the other.
    pub launches_left: u64,
    /// Counting stopped there: there may be more.
    pub at_least: bool,
    /// How far an answer is from the truth, with the confidence; null if that needs a guess of the
    /// number of rows.
    pub accuracy: Option<f64>,
    pub confidence: String,
    /// Whether the same question was answered before: to this analyst, or to anybody if the curator
    /// shares questions.
    pub answered_before: bool,
    /// The question, as the ledger would record it.
    pub question: String,
}

/// An answer, what it cost, and what is left.
#[derive(Serialize, ToSchema)]
pub struct Released {
    #[serde(flatten)]
    pub answer: Answer,
    pub loss: LossText,
    pub remaining: LossText,
}

/// A child that is open.
#[derive(Serialize, ToSchema)]
pub struct ChildView {
    /// Its identifier, which nobody else can guess. Keep it secret.
    pub child: String,
    pub dataset: String,
    pub kind: String,
    /// As the ledger records it.
    pub question: String,
    /// The number of its next question.
    pub next: u64,
    /// How far an answer is from the truth, with a probability of 0.95; null where it is not known.
    pub accuracy: Option<f64>,
    /// The budget of a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
    /// What its launch cost; only when it is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossText>,
    /// What is left of the budget that it was launched in; only when it is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<LossText>,
}

/// A question to a child. Searches and counts are asked `where`, counts over time are asked `time`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"number": 0, "where": "age <= 40"}))]
pub struct Ask {
    /// Its number in the conversation, from 0. The same number and question get the same answer.
    pub number: u64,
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    /// How many buckets of time have passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
}

impl Ask {
    fn query(&self, schema: &Schema) -> Result<Query, Problem> {
        match (&self.condition, self.time) {
            (Some(condition), None) => Ok(Query::Condition(condition.condition(schema)?)),
            (None, Some(time)) => Ok(Query::Time(time)),
            _ => Err(Problem::invalid_request("a question has `where` or `time`")),
        }
    }
}

/// The answer of a child.
#[derive(Serialize, ToSchema)]
pub struct Asked {
    #[serde(flatten)]
    pub answer: Answer,
    pub number: u64,
    /// The number of the next question.
    pub next: u64,
}

impl Service {
    /// Opens all datasets.
    ///
    /// `open` opens data and a ledger, or says why it cannot.
    pub fn new(
        config: Config,
        open: impl Fn(&DatasetConfig) -> Result<(Data, Ledger), String>,
    ) -> Result<Self, Vec<String>> {
        let analysts = config.analysts.into_iter().map(|analyst| Analyst {
            name: analyst.name,
            token: analyst.token,
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

    /// Answers once.
    pub fn release(
        &self,
        analyst: &Analyst,
        place: &Place,
        key: Option<&str>,
        asked: &Release,
    ) -> Result<Released, Problem> {
        let _in_use = self.key_in_use(analyst, place, key)?;
        let ready = asked.ready(&place.dataset.schema)?;
        let Launch::Once(mechanism) = &ready.launch else {
            return Err(Code::Failed.into());
        };
        let cost = place.cost(&ready)?;
        let decided = place.seat.release(key, mechanism);
        self.log(analyst, place, &ready.launch.describe(), &cost, &decided);
        let answer = decided?;
        place
            .dataset
            .remember(&analyst.name, &ready.launch.describe());
        Ok(Released {
            answer,
            loss: cost,
            remaining: place.seat.remaining()?,
        })
    }

    /// Opens a child.
    pub fn open(
        &self,
        analyst: &Analyst,
        place: &Place,
        key: Option<&str>,
        asked: &Opening,
    ) -> Result<ChildView, Problem> {
        let _in_use = self.key_in_use(analyst, place, key)?;
        let ready = match (asked, asked.ready(&place.dataset.schema)?) {
            (Opening::Filter(share), _) => return self.open_share(analyst, place, share),
            (_, Some(ready)) => ready,
            (_, None) => return Err(Code::Failed.into()),
        };
        let Launch::Open(mechanism) = &ready.launch else {
            return Err(Code::Failed.into());
        };
        let description = ready.launch.describe().to_string();
        let cost = place.cost(&ready)?;
        let known = key.and_then(|key| {
            let launched = (place.name.clone(), key.to_owned());
            let mut of = self.children.of(&analyst.name).into_iter();
            of.find(|child| child.about.key.as_ref() == Some(&launched))
        });
        if let Some(child) = known {
            if child.about.description != description {
                return Err(Code::Conflict.into());
            }
            return Ok(ChildView {
                loss: Some(cost),
                remaining: Some(place.seat.remaining()?),
                ..child.view()?
            });
        }
        let most = analyst.usage.limits().open_children;
        let _opening = self.children.reserve(&analyst.name, most)?;
        let decided = place.seat.open(key, mechanism);
        self.log(analyst, place, &ready.launch.describe(), &cost, &decided);
        let key = key.map(|key| (place.name.clone(), key.to_owned()));
        let about = About {
            analyst: analyst.name.clone(),
            dataset: place.dataset.name.clone(),
            kind: asked.kind(),
            description,
            accuracy: ready.accuracy,
            key,
        };
        let child = Child::new(about, decided?)?;
        Ok(ChildView {
            loss: Some(cost),
            remaining: Some(place.seat.remaining()?),
            ..self.children.add(child).view()?
        })
    }

    fn open_share(
        &self,
        analyst: &Analyst,
        place: &Place,
        share: &Share,
    ) -> Result<ChildView, Problem> {
        if place.name != place.dataset.name {
            return Err(Problem::invalid_query(
                "a share has no shares: reserve it in the dataset",
            ));
        }
        if !config::is_name(&share.name) {
            let rule = "a share's name has 1 to 64 letters, digits, `-`, `_` and `.`";
            return Err(Problem::invalid_request(rule));
        }
        let id = analyst.share_id(&place.dataset.name, &share.name);
        if let Ok(child) = self.children.get(&analyst.name, &id) {
            let view = child.view()?;
            let limit = view.budget.as_ref().map(|budget| &budget.limit);
            return match limit == Some(&share.budget) {
                true => Ok(view),
                false => Err(Code::Conflict.into()),
            };
        }
        let most = analyst.usage.limits().open_children;
        let _opening = self.children.reserve(&analyst.name, most)?;
        let decided = place.seat.reserve(&share.name, &share.budget);
        let description = Description::new("Filter").with("name", &share.name);
        self.log(analyst, place, &description, &share.budget, &decided);
        let child = analyst.share(&place.dataset.name, &share.name, decided?);
        Ok(ChildView {
            loss: Some(share.budget.clone()),
            remaining: Some(place.seat.remaining()?),
            ..self.children.add(child).view()?
        })
    }

    fn key_in_use(
        &self,
        analyst: &Analyst,
        place: &Place,
        key: Option<&str>,
    ) -> Result<Option<crate::children::KeyInUse<'_>>, Problem> {
        let key = key.map(|key| self.children.key(&analyst.name, &place.name, key));
        key.transpose()
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
        let (answer, next) = answered?;
        Ok(Asked {
            answer,
            number: ask.number,
            next,
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

    /// Who asked what, and what was decided: no data, and no answer.
    fn log<T>(
        &self,
        analyst: &Analyst,
        place: &Place,
        question: &Description,
        cost: &LossText,
        decided: &Result<T, Problem>,
    ) {
        let decision = match decided {
            Ok(_) => "admitted".to_owned(),
            Err(problem) => problem.code.name(),
        };
        self.metrics.launch(&place.dataset.name, &decision);
        tracing::info!(
            analyst = analyst.name,
            dataset = place.dataset.name,
            question = %question,
            cost = %serde_json::to_string(cost).unwrap_or_default(),
            decision,
            "launch",
        );
    }
}

impl Analyst {
    fn share_id(&self, dataset: &str, name: &str) -> String {
        self.token.derive(&[dataset, &self.name, name])
    }

    fn share(&self, dataset: &str, name: &str, seat: Arc<dyn Seat>) -> Child {
        let about = About {
            analyst: self.name.clone(),
            dataset: dataset.to_owned(),
            kind: "filter",
            description: name.to_owned(),
            accuracy: None,
            key: None,
        };
        Child::with_id(self.share_id(dataset, name), about, Opened::Share(seat))
    }
}

impl Dataset {
    fn new(config: DatasetConfig, data: Data, ledger: Ledger) -> Result<Arc<Self>, String> {
        let terms = Terms {
            budget: config.budget,
            halting: config.halting,
            smallest: config.smallest,
            analysts: config.analysts,
        };
        let data = Arc::new(data);
        let mut seats = seat::seats(&ledger, &config.name, &terms, &data)?;
        let budget = seats.pop().ok_or("no budget")?;
        let names = terms.analysts.into_iter().map(|(name, _)| name);
        Ok(Arc::new(Self {
            name: config.name,
            schema: config.schema,
            ledger,
            data,
            share_questions: config.share_questions,
            seats: names.zip(seats).collect(),
            budget,
            answered: Mutex::default(),
        }))
    }

    /// Reads the record: which shares there are, and what was answered.
    fn bring_back(&self, analysts: &[Arc<Analyst>], children: &Children) -> Result<(), String> {
        let mut from = 1;
        loop {
            let lines = self.ledger.lines(from, 1000);
            let lines = lines.map_err(|error| error.to_string())?;
            let Some(last) = lines.last() else {
                return Ok(());
            };
            from = last.sequence() + 1;
            let entries = lines.iter().filter_map(|line| match line {
                Line::Entry(entry) if entry.decision == Decision::Admitted => Some(entry),
                _ => None,
            });
            for entry in entries {
                self.remember(&entry.party, &entry.mechanism);
                let analyst = analysts.iter().find(|analyst| analyst.name == entry.party);
                let Some((analyst, seat)) = analyst
                    .zip(self.seats.get(&entry.party))
                    .filter(|_| entry.filter == self.name)
                else {
                    continue;
                };
                let Some(name) = share_name(&self.name, &analyst.name, entry.key.as_deref()) else {
                    continue;
                };
                let budget = seat.loss_of(&entry.loss)?;
                let share = seat.reserve(&name, &budget);
                let share = share.map_err(|problem| {
                    format!(
                        "the share {name:?} of {:?}: {}",
                        analyst.name,
                        problem.code.name()
                    )
                })?;
                children.add(analyst.share(&self.name, &name, share));
            }
        }
    }

    fn hash(&self, analyst: &str, question: &Description) -> [u8; 32] {
        let who = if self.share_questions { "" } else { analyst };
        Sha256::digest(format!("{:?}", (who, question.to_string()))).into()
    }

    fn remember(&self, analyst: &str, question: &Description) {
        let hash = self.hash(analyst, question);
        lock(&self.answered).insert(hash);
    }

    /// What the caller sees of it.
    pub fn view(&self, caller: &Caller) -> Result<DatasetView, Problem> {
        let seat = match caller {
            Caller::Curator => Some(&self.budget),
            Caller::Analyst(analyst) => self.seats.get(&analyst.name),
        };
        let seat = seat.ok_or(Code::UnknownDataset)?;
        Ok(DatasetView {
            name: self.name.clone(),
            schema: self.schema.clone(),
            budget: budget_view(&**seat)?,
        })
    }
}

/// The name of a share from the key that its charge has in the record.
fn share_name(filter: &str, analyst: &str, key: Option<&str>) -> Option<String> {
    // As `Party::reserve` writes it: the filter, and the party with the name.
    let text = key?
        .strip_prefix(&format!("({filter:?}, "))?
        .strip_suffix(')')?;
    let share: String = serde_json::from_str(text).ok()?;
    let name = share
        .strip_prefix(&format!("({analyst:?}, "))?
        .strip_suffix(')')?;
    serde_json::from_str(name).ok()
}

fn budget_view(seat: &dyn Seat) -> Result<BudgetView, Problem> {
    let reading = seat.reading()?;
    Ok(BudgetView {
        limit: reading.limit,
        spent: reading.spent,
        remaining: reading.remaining,
        quota_remaining: reading.quotas.into_iter().next(),
        launched: reading.launched,
        halted: reading.halted,
    })
}

impl Child {
    fn view(&self) -> Result<ChildView, Problem> {
        let budget = match &self.open {
            Opened::Machine(_) => None,
            Opened::Share(seat) => Some(budget_view(&**seat)?),
        };
        Ok(ChildView {
            child: self.id.clone(),
            dataset: self.about.dataset.clone(),
            kind: self.about.kind.to_owned(),
            question: self.about.description.clone(),
            next: self.next(),
            accuracy: self.about.accuracy,
            budget,
            loss: None,
            remaining: None,
        })
    }
}

impl Place {
    /// The price of a launch, if the data can be reached: whether it can is asked before the charge.
    fn price(&self, ready: &Ready) -> Result<Price, Problem> {
        match self.dataset.data.is_reachable() {
            true => self.seat.price(&ready.launch),
            false => Err(Code::Unavailable.into()),
        }
    }

    /// What a launch costs; an error if it is less than the curator allows.
    fn cost(&self, ready: &Ready) -> Result<LossText, Problem> {
        let price = self.price(ready)?;
        match price.too_small {
            true => Err(Problem::invalid_query(
                "a launch must cost more: see the dataset's terms",
            )),
            false => Ok(price.cost),
        }
    }

    /// What a launch would cost. Charges nothing.
    pub fn preview(&self, analyst: &Analyst, ready: &Ready) -> Result<Preview, Problem> {
        let price = self.price(ready)?;
        let question = ready.launch.describe();
        let hash = self.dataset.hash(&analyst.name, &question);
        Ok(Preview {
            cost: price.cost,
            launches_left: price.left.certainly(),
            at_least: matches!(price.left, queryables::account::LaunchesLeft::AtLeast(_)),
            accuracy: ready.accuracy,
            confidence: ready.confidence.to_string(),
            answered_before: lock(&self.dataset.answered).contains(&hash),
            question: question.to_string(),
        })
    }
}
