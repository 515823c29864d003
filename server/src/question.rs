//! The vocabulary: what can be launched and asked, in JSON.

use queryables::compose::BoxedRelease;
use queryables::machine::{Description, Mechanism, Released};
use queryables::mechanisms::table::{Cells, PerGroup, Report, RowsOf, TableQuery};
use queryables::mechanisms::{
    AboveThreshold, Accuracy, Choice, Estimates, MultiplicativeWeights, PermuteAndFlip, QueryExt,
};
use queryables::middle::ThroughExt;
use queryables::number::{Confidence, Epsilon, Mu, Rho};
use queryables::privacy::{AddRemove, AnyMeasure, Private};
use queryables::table::{Condition, Expr, Grouping, Kind, Schema, Value};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::asking;
use crate::data::Data;
use crate::loss::LossText;
use crate::problem::Problem;
use crate::seat::{Launch, Open, Stated};

/// What answers once.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = json!({"count": {"where": "age >= 18", "noise": {"laplace": {"epsilon": "0.1"}}}}))]
pub enum Release {
    /// The number of people with a row that satisfies the condition.
    Count(Statistic),
    /// The sum of a number.
    Sum(Statistic),
    /// The mean of a number.
    Mean(Statistic),
    /// The variance of a number.
    Variance(Statistic),
    /// Which group has the most people.
    Largest(Largest),
    /// Medians and other quantiles of a column.
    Quantiles(Quantiles),
}

/// A choice of a group.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Largest {
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    pub by: Vec<By>,
    #[schema(example = "0.1")]
    pub epsilon: String,
}

/// Quantiles of a column, over public edges.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    pub of: Buckets,
    /// As fractions: `[[1, 2]]` is the median.
    pub quantiles: Vec<(u32, u32)>,
    #[schema(example = "0.1")]
    pub epsilon: String,
}

/// A statistic of the rows that satisfy a condition, with noise.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Statistic {
    /// Of which number: a column, or whole numbers computed from columns. Not for a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Written>,
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    /// One value for each group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<By>,
    /// The range that numbers are clamped to; that of the column by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamped: Option<(f64, f64)>,
    /// How many rows of a person count in full; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_person: Option<u64>,
    pub noise: Noise,
    /// With which probability each interval holds the truth; 0.95 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "0.95")]
    pub confidence: Option<String>,
    /// For the preview of a mean or a variance: a guess of the number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_rows: Option<u64>,
}

/// An expression over columns: a text such as `age >= 18`, or JSON such as
/// `{"ge": [{"column": "age"}, 18]}`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Value, example = "age >= 18")]
pub struct Written(serde_json::Value);

impl Written {
    fn expr(&self) -> Result<Expr, Problem> {
        match &self.0 {
            serde_json::Value::String(text) => Ok(text.parse()?),
            json => {
                Expr::deserialize(json).map_err(|error| Problem::invalid_query(error.to_string()))
            }
        }
    }

    /// The condition that it is under this schema.
    pub fn condition(&self, schema: &Schema) -> Result<Condition, Problem> {
        Ok(schema.condition(self.expr()?)?)
    }
}

/// A column that has categories; or a column, and the edges of buckets.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum By {
    /// A column with public categories.
    Categories(String),
    /// A column of numbers, in buckets.
    Buckets(Buckets),
}

/// The buckets of a column of numbers: from each edge up to, and without, the next one.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    pub column: String,
    pub edges: Vec<f64>,
}

impl Buckets {
    fn grouping(&self, schema: &Schema) -> Result<Grouping, Problem> {
        let (_, column) = schema.column(&self.column)?;
        let whole = column.kind() == Kind::Whole;
        let edges = self.edges.iter().map(|edge| match whole {
            // A whole number that a float holds exactly.
            true if edge.fract() == 0.0 && edge.abs() <= 9e15 => Value::Whole(*edge as i64),
            _ => Value::Real(*edge),
        });
        Ok(Grouping::buckets(schema, &self.column, edges)?)
    }
}

/// Which noise, for which loss.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// Discrete Laplace noise, for an ε.
    Laplace {
        #[schema(example = "0.1")]
        epsilon: String,
    },
    /// Rounded Gaussian noise, for a ρ or a μ.
    Gaussian(GaussianLoss),
}

/// The loss of Gaussian noise.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GaussianLoss {
    Rho(String),
    Mu(String),
}

/// What is open after its launch, and is asked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = json!({"above_threshold": {"threshold": 1000, "hits": 1, "epsilon": "0.05"}}))]
pub enum Opening {
    /// A search: whether a count is above the threshold, until the last hit.
    AboveThreshold(Search),
    /// The same, with the noisy count of each hit.
    SparseVector(CountedSearch),
    /// Any number of counts over a few columns with categories, from one guess of the table that is
    /// corrected a few times.
    MultiplicativeWeights(Weights),
    /// The number of people so far, at every edge of the buckets of a column.
    ContinualCount(OverTime),
    /// A share of the budget, set aside for the analyst, in which others are launched.
    Filter(Share),
}

/// Counts by multiplicative weights. Only conditions on these columns are asked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The columns that conditions are about.
    pub by: Vec<By>,
    /// How many rows there are, about: with a wrong number, answers are less accurate.
    pub rows: u32,
    /// Answers that are farther off than this are corrected.
    pub threshold: u32,
    /// How many answers are corrected.
    pub updates: u32,
    #[schema(example = "0.5")]
    pub epsilon: String,
}

/// A count over time.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverTime {
    /// Of which rows; of all by default.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    /// The column of times, and its edges.
    pub of: Buckets,
    pub noise: Noise,
}

/// A search for large counts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    pub threshold: i64,
    /// After this many hits it is closed.
    pub hits: u32,
    #[schema(example = "0.05")]
    pub epsilon: String,
}

/// A search that tells counts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CountedSearch {
    pub threshold: i64,
    /// After this many hits it is closed.
    pub hits: u32,
    /// For the search.
    #[schema(example = "0.05")]
    pub epsilon: String,
    /// For the counts of all hits together, on top.
    #[schema(example = "0.05")]
    pub counts_epsilon: String,
}

/// A share of a budget.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The analyst's own name for it.
    pub name: String,
    /// How much is set aside.
    pub budget: LossText,
}

/// A launch, ready to be made.
pub struct Ready {
    pub launch: Launch,
    /// How far an answer is from the truth, with the confidence; none where it depends on more than the
    /// question.
    pub accuracy: Option<f64>,
    pub confidence: Confidence,
}

fn read<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: &str,
) -> Result<T, Problem> {
    let parsed = text.parse();
    parsed.map_err(|error| Problem::invalid_query(format!("{name} = {text:?}: {error}")))
}

fn confidence(text: Option<&str>) -> Result<Confidence, Problem> {
    read("confidence", text.unwrap_or("0.95"))
}

/// How far an answer is from the truth. That of a mean or a variance needs a guess of the number of rows.
macro_rules! error {
    (distance, $accuracy:expr, $asked:ident) => {
        Some($accuracy)
    };
    (for_rows, $accuracy:expr, $asked:ident) => {{
        let accuracy = $accuracy;
        $asked.expected_rows.map(|rows| accuracy.for_rows(rows))
    }};
}

/// With noise, as a mechanism that answers with intervals. Statistics, noises and shapes have types of
/// their own, and the words are the same.
macro_rules! ready {
    ($shape:ident, $query:expr, $asked:ident, $error:ident) => {{
        let query = $query;
        let confidence = confidence($asked.confidence.as_deref())?;
        match &$asked.noise {
            Noise::Laplace { epsilon } => {
                let epsilon: Epsilon = read("epsilon", epsilon)?;
                noised!($shape, query.laplace(epsilon)?, $asked, confidence, $error)
            }
            Noise::Gaussian(GaussianLoss::Rho(rho)) => {
                let rho: Rho = read("rho", rho)?;
                noised!($shape, query.gaussian(rho)?, $asked, confidence, $error)
            }
            Noise::Gaussian(GaussianLoss::Mu(mu)) => {
                let mu: Mu = read("mu", mu)?;
                noised!($shape, query.gaussian(mu)?, $asked, confidence, $error)
            }
        }
    }};
}

macro_rules! noised {
    ($shape:ident, $mechanism:expr, $asked:ident, $confidence:ident, $error:ident) => {{
        let mechanism = $mechanism;
        let accuracy = error!($error, mechanism.accuracy($confidence), $asked);
        let name = format!("intervals with confidence {}", $confidence);
        let answered = answered!($shape, mechanism, $confidence).named(name);
        Ok(Ready {
            launch: Launch::Once(Stated(BoxedRelease::new(AnyMeasure, answered))),
            accuracy,
            confidence: $confidence,
        })
    }};
}

macro_rules! answered {
    (one, $mechanism:ident, $confidence:ident) => {{
        let inner = $mechanism.clone();
        ThroughExt::<Data>::mapped($mechanism, move |answer| {
            Answer::from(inner.interval(answer, $confidence))
        })
    }};
    (table, $mechanism:ident, $confidence:ident) => {{
        let reported = $mechanism.reported::<Data>($confidence);
        ThroughExt::<Data>::mapped(reported, |report: Report| Answer::from(report))
    }};
}

/// A statistic of numbers with its range.
macro_rules! clamped {
    ($query:expr, $asked:ident) => {
        match ($query, $asked.clamped) {
            (query, Some((low, high))) => query.clamped(low..=high),
            (query, None) => query,
        }
    };
}

/// The statistic with its condition and its bound; grouped or not.
macro_rules! statistic {
    ($query:expr, $schema:expr, $asked:ident, $error:ident) => {{
        let mut query = $query;
        if let Some(condition) = &$asked.condition {
            query = query.filter(condition.expr()?)?;
        }
        if let Some(rows) = $asked.rows_per_person {
            query = query.rows_per_person(rows);
        }
        let mut groupings = groupings($schema, &$asked.by)?.into_iter();
        match groupings.next() {
            None => ready!(one, query, $asked, $error),
            Some(first) => {
                let mut query = query.grouped(first);
                for grouping in groupings {
                    query = query.grouped(grouping);
                }
                ready!(table, query, $asked, $error)
            }
        }
    }};
}

impl Release {
    /// The launch that it is under this schema.
    pub fn ready(&self, schema: &Schema) -> Result<Ready, Problem> {
        let of = |asked: &Statistic| match &asked.of {
            Some(number) => number.expr(),
            None => Err(Problem::invalid_query(
                "`of` is missing: the number that is asked for",
            )),
        };
        match self {
            Self::Count(asked) if asked.of.is_some() || asked.clamped.is_some() => Err(
                Problem::invalid_query("a count is of rows: it has no `of` and is not `clamped`"),
            ),
            Self::Count(asked) => statistic!(schema.count(), schema, asked, distance),
            Self::Sum(asked) => {
                let sum = clamped!(schema.sum(of(asked)?)?, asked);
                statistic!(sum, schema, asked, distance)
            }
            Self::Mean(asked) => {
                let mean = clamped!(schema.mean(of(asked)?)?, asked);
                statistic!(mean, schema, asked, for_rows)
            }
            Self::Variance(asked) => {
                let variance = clamped!(schema.variance(of(asked)?)?, asked);
                statistic!(variance, schema, asked, for_rows)
            }
            Self::Largest(asked) => asked.ready(schema),
            Self::Quantiles(asked) => asked.ready(schema),
        }
    }
}

impl By {
    fn column(&self) -> &str {
        match self {
            Self::Categories(column) => column,
            Self::Buckets(buckets) => &buckets.column,
        }
    }

    fn grouping(&self, schema: &Schema) -> Result<Grouping, Problem> {
        Ok(match self {
            Self::Categories(column) => Grouping::of(schema, column)?,
            Self::Buckets(buckets) => buckets.grouping(schema)?,
        })
    }
}

/// The most groups of one answer. Each is a line of the reply, and of the record: a question of some
/// hundred bytes could otherwise ask for hundreds of megabytes.
const MOST_GROUPS: usize = 1 << 14;

fn groupings(schema: &Schema, by: &[By]) -> Result<Vec<Grouping>, Problem> {
    let groupings = by.iter().map(|by| by.grouping(schema));
    let groupings = groupings.collect::<Result<Vec<_>, _>>()?;
    let lengths = groupings.iter().map(Grouping::len);
    match lengths.fold(1, usize::saturating_mul) <= MOST_GROUPS {
        true => Ok(groupings),
        false => {
            let problem = format!("an answer has at most {MOST_GROUPS} groups");
            Err(Problem::invalid_query(problem))
        }
    }
}

/// The number of rows that satisfy a condition, in each group.
fn counts(
    schema: &Schema,
    condition: Option<&Written>,
    groupings: impl IntoIterator<Item = Grouping>,
) -> Result<TableQuery<RowsOf, PerGroup>, Problem> {
    let mut count = schema.count();
    if let Some(condition) = condition {
        count = count.filter(condition.expr()?)?;
    }
    let mut groupings = groupings.into_iter();
    let first = groupings.next();
    let first = first.ok_or_else(|| Problem::invalid_query("`by` names at least one column"))?;
    let mut grouped = count.grouped(first);
    for grouping in groupings {
        grouped = grouped.grouped(grouping);
    }
    Ok(grouped)
}

impl Largest {
    fn ready(&self, schema: &Schema) -> Result<Ready, Problem> {
        let groupings = groupings(schema, &self.by)?;
        let scores = counts(schema, self.condition.as_ref(), groupings)?.scores()?;
        let epsilon: Epsilon = read("epsilon", &self.epsilon)?;
        let choice = Choice::by(AddRemove, PermuteAndFlip, scores.clone(), epsilon)?;
        let accuracy = choice.accuracy(confidence(None)?);
        let labels = ThroughExt::<Data>::mapped(choice, move |group| Answer::Group {
            answer: scores.key(group),
        });
        once(labels.named("labels"), accuracy)
    }
}

impl Quantiles {
    fn ready(&self, schema: &Schema) -> Result<Ready, Problem> {
        let groupings = [self.of.grouping(schema)?];
        let counts = counts(schema, self.condition.as_ref(), groupings)?;
        let epsilon: Epsilon = read("epsilon", &self.epsilon)?;
        let quantiles = counts.quantiles(AddRemove, self.quantiles.iter().copied(), epsilon)?;
        let accuracy = quantiles.accuracy(confidence(None)?);
        let edges = ThroughExt::<Data>::mapped(quantiles, |answer| Answer::Quantiles { answer });
        once(edges.named("edges"), accuracy)
    }
}

/// A mechanism that answers once, and how many people its answer is off by.
fn once<M>(mechanism: M, accuracy: u128) -> Result<Ready, Problem>
where
    M: Mechanism<Data, Machine = Released<Answer>> + Private<AnyMeasure, AddRemove>,
    M: Clone + Send + Sync + 'static,
{
    Ok(Ready {
        launch: Launch::Once(Stated(BoxedRelease::new(AnyMeasure, mechanism))),
        accuracy: Some(accuracy as f64),
        confidence: confidence(None)?,
    })
}

impl Search {
    fn mechanism(&self) -> Result<AboveThreshold<Condition>, Problem> {
        let epsilon: Epsilon = read("epsilon", &self.epsilon)?;
        Ok(AboveThreshold::new(
            AddRemove,
            self.threshold,
            self.hits,
            epsilon,
        )?)
    }
}

impl Opening {
    /// The names of the vocabulary.
    pub const NAMES: &[&str] = &[
        "above_threshold",
        "sparse_vector",
        "multiplicative_weights",
        "continual_count",
        "filter",
    ];

    /// Its name in the vocabulary.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::AboveThreshold(_) => "above_threshold",
            Self::SparseVector(_) => "sparse_vector",
            Self::MultiplicativeWeights(_) => "multiplicative_weights",
            Self::ContinualCount(_) => "continual_count",
            Self::Filter(_) => "filter",
        }
    }

    /// After how many hits it answers no more. Counts of others are no hits.
    pub fn hits(&self) -> Option<u64> {
        match self {
            Self::AboveThreshold(search) => Some(search.hits.into()),
            Self::SparseVector(search) => Some(search.hits.into()),
            _ => None,
        }
    }

    /// The launch that it is; a share is none.
    pub fn ready(&self, schema: &Schema) -> Result<Option<Ready>, Problem> {
        let confidence = confidence(None)?;
        let (mechanism, accuracy) = match self {
            Self::AboveThreshold(search) => {
                let search = search.mechanism()?;
                let accuracy = search.accuracy(confidence);
                (asking::open(search), accuracy)
            }
            Self::SparseVector(asked) => {
                let search = Search {
                    threshold: asked.threshold,
                    hits: asked.hits,
                    epsilon: asked.epsilon.clone(),
                };
                let counts: Epsilon = read("counts_epsilon", &asked.counts_epsilon)?;
                let search = search.mechanism()?.with_counts(counts)?;
                let accuracy = search.accuracy(confidence).count;
                (asking::open(search), accuracy)
            }
            Self::MultiplicativeWeights(asked) => {
                let cells = Cells::of_groupings(schema, groupings(schema, &asked.by)?)?;
                let epsilon: Epsilon = read("epsilon", &asked.epsilon)?;
                let Weights {
                    rows,
                    threshold,
                    updates,
                    ..
                } = *asked;
                let weights = MultiplicativeWeights::<_, Condition>::new(
                    cells, rows, threshold, updates, epsilon,
                )?;
                let accuracy = weights.accuracy(confidence);
                // The columns and the schema say what the cells are: a launch with a key is compared.
                let columns = asked.by.iter().map(By::column).collect::<Vec<_>>();
                let description = Description::new("MultiplicativeWeights")
                    .with("by", columns.join(", "))
                    .with("rows", rows)
                    .with("threshold", threshold)
                    .with("updates", updates)
                    .with("epsilon", epsilon)
                    .with("schema", schema.digest());
                (asking::open_as(weights, description), accuracy)
            }
            Self::ContinualCount(asked) => asked.mechanism(schema, confidence)?,
            Self::Filter(_) => return Ok(None),
        };
        Ok(Some(Ready {
            launch: Launch::Open(mechanism),
            accuracy: (accuracy < u128::MAX).then_some(accuracy as f64),
            confidence,
        }))
    }
}

impl OverTime {
    fn mechanism(&self, schema: &Schema, confidence: Confidence) -> Result<(Open, u128), Problem> {
        let groupings = [self.of.grouping(schema)?];
        let counts = counts(schema, self.condition.as_ref(), groupings)?.over_time()?;
        Ok(match &self.noise {
            Noise::Laplace { epsilon } => {
                let noised = counts.laplace(read::<Epsilon>("epsilon", epsilon)?)?;
                let accuracy = noised.accuracy(confidence);
                (asking::open(noised), accuracy)
            }
            Noise::Gaussian(GaussianLoss::Rho(rho)) => {
                let noised = counts.gaussian(read::<Rho>("rho", rho)?)?;
                let accuracy = noised.accuracy(confidence);
                (asking::open(noised), accuracy)
            }
            Noise::Gaussian(GaussianLoss::Mu(mu)) => {
                let noised = counts.gaussian(read::<Mu>("mu", mu)?)?;
                let accuracy = noised.accuracy(confidence);
                (asking::open(noised), accuracy)
            }
        })
    }
}
