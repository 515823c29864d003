//! Counters for Prometheus: who uses how much, and nothing about data.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;

use crate::limits::lock;
use crate::service::Service;

/// What is counted while the server runs.
#[derive(Default)]
pub struct Metrics {
    /// By status.
    responses: Mutex<BTreeMap<u16, u64>>,
    /// By dataset and decision.
    launches: Mutex<BTreeMap<(String, String), u64>>,
}

impl Metrics {
    pub fn response(&self, status: u16) {
        *lock(&self.responses).entry(status).or_default() += 1;
    }

    pub fn launch(&self, dataset: &str, decision: &str) {
        let key = (dataset.to_owned(), decision.to_owned());
        *lock(&self.launches).entry(key).or_default() += 1;
    }

    /// In the text format of Prometheus. Names of datasets need no escapes.
    pub fn text(&self, service: &Service) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(service, &mut text);
        text
    }

    fn write(&self, service: &Service, text: &mut String) -> std::fmt::Result {
        writeln!(text, "# TYPE queryables_responses_total counter")?;
        for (status, number) in &*lock(&self.responses) {
            writeln!(
                text,
                "queryables_responses_total{{status=\"{status}\"}} {number}"
            )?;
        }
        writeln!(text, "# TYPE queryables_launches_total counter")?;
        for ((dataset, decision), number) in &*lock(&self.launches) {
            writeln!(
                text,
                "queryables_launches_total{{dataset=\"{dataset}\",decision=\"{decision}\"}} {number}"
            )?;
        }
        writeln!(text, "# TYPE queryables_open_children gauge")?;
        writeln!(text, "queryables_open_children {}", service.children.len())?;
        writeln!(text, "# TYPE queryables_budget gauge")?;
        for (name, dataset) in &service.datasets {
            let Ok(reading) = dataset.budget.reading() else {
                continue;
            };
            for (what, loss) in [("spent", reading.spent), ("limit", reading.limit)] {
                for (unit, number) in loss.numbers() {
                    writeln!(
                        text,
                        "queryables_budget{{dataset=\"{name}\",what=\"{what}\",unit=\"{unit}\"}} {number}"
                    )?;
                }
            }
        }
        Ok(())
    }
}
