//! Launches: a release, a child, a share. What is charged is charged here.

use queryables::machine::Description;

use crate::analyst::Analyst;
use crate::children::{About, Child};
use crate::config;
use crate::loss::LossText;
use crate::place::Place;
use crate::problem::{Code, Problem};
use crate::question::{Opening, Release, Share};
use crate::seat::{Launch, NO_SHARES};
use crate::service::Service;
use crate::view::{ChildView, Released};

impl Service {
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
        let question = ready.launch.description().to_string();
        let decided = place.seat.release(key, mechanism);
        self.log(analyst, place, &question, &cost, &decided);
        let answer = decided?;
        place.dataset.remember(&analyst.name, &question);
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
        if let Opening::Filter(share) = asked {
            return match key {
                None => self.open_share(analyst, place, share),
                Some(_) => Err(Problem::invalid_request(
                    "the name of a share is its key: send no `Idempotency-Key`",
                )),
            };
        }
        let _in_use = self.key_in_use(analyst, place, key)?;
        let ready = asked.ready(&place.dataset.schema)?.ok_or(Code::Failed)?;
        let Launch::Open(mechanism) = &ready.launch else {
            return Err(Code::Failed.into());
        };
        let description = ready.launch.description().to_string();
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
        self.log(analyst, place, &description, &cost, &decided);
        let key = key.map(|key| (place.name.clone(), key.to_owned()));
        let about = About {
            analyst: analyst.name.clone(),
            dataset: place.dataset.name.clone(),
            kind: asked.kind(),
            description,
            accuracy: (ready.accuracy)(),
            hits: asked.hits(),
            key,
        };
        // First of all: whatever fails from now on, a retry with the key finds the child.
        let child = self.children.add(Child::new(about, decided?)?);
        Ok(ChildView {
            loss: Some(cost),
            remaining: Some(place.seat.remaining()?),
            ..child.view()?
        })
    }

    fn open_share(
        &self,
        analyst: &Analyst,
        place: &Place,
        share: &Share,
    ) -> Result<ChildView, Problem> {
        if place.name != place.dataset.name {
            return Err(Problem::invalid_query(NO_SHARES));
        }
        if !config::is_name(&share.name) {
            let rule = "a share's name has 1 to 64 letters, digits, `-`, `_` and `.`";
            return Err(Problem::invalid_request(rule));
        }
        let budget = place.seat.read(&share.budget)?;
        let id = analyst.share_id(&place.dataset.name, &share.name);
        if let Ok(child) = self.children.get(&analyst.name, &id) {
            let view = child.view()?;
            let limit = view.budget.as_ref().map(|of| &of.limit);
            return match limit == Some(&budget) {
                true => Ok(view),
                false => Err(Code::Conflict.into()),
            };
        }
        let _in_use = self.children.key(&analyst.name, &place.name, &id)?;
        let most = analyst.usage.limits().open_children;
        let _opening = self.children.reserve(&analyst.name, most)?;
        let decided = place.seat.reserve(&share.name, &budget);
        let description = Description::new("Filter").with("name", &share.name);
        let description = description.to_string();
        self.log(analyst, place, &description, &budget, &decided);
        let child = analyst.share(&place.dataset.name, &share.name, decided?);
        let child = self.children.add(child);
        Ok(ChildView {
            loss: Some(budget),
            remaining: Some(place.seat.remaining()?),
            ..child.view()?
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

    /// Who asked what, and what was decided: no data, and no answer.
    fn log<T>(
        &self,
        analyst: &Analyst,
        place: &Place,
        question: &str,
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
            // As a value: what an analyst writes cannot begin a line of the log.
            question,
            cost = %serde_json::to_string(cost).unwrap_or_default(),
            decision,
            "launch",
        );
    }
}
