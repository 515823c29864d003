//! Rules that are not valid, and are caught: the natural f-DP filter without a Blackwell chain,
//! added Rényi losses read as a conditional odometer, and advanced composition read at any time.

use std::sync::{Arc, LazyLock};

use crate::support::*;
use queryables::compose::{Addressed, Odometer};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Script};
use queryables::privacy::Rdp;
use queryables::verify::{
    Children, Completeness, Distribution, Divergences, Interval, Pair, Rational, Truncated,
    Verifier, by_transcript, copies_of, views,
};

// ---- The natural f-DP rule (Tran et al. 3.1, 3.3) on a finite example -------------------------

/// Three mechanisms on a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tool {
    /// Responds at odds of three.
    First,
    /// Responds at odds of four: a little, always.
    Even,
    /// Tells the bit one time in four: everything, seldom.
    Seldom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Said {
    Bit(bool),
    Nothing,
    OverBudget,
}

impl Tool {
    fn draw(self, bit: bool, coins: &mut Coins<'_>) -> Result<Said, Fault> {
        Ok(match self {
            Self::First => Said::Bit(bit ^ (coins.weighted(&[3, 1])? == 1)),
            Self::Even => Said::Bit(bit ^ (coins.weighted(&[4, 1])? == 1)),
            Self::Seldom if coins.weighted(&[1, 3])? == 0 => Said::Bit(bit),
            Self::Seldom => Said::Nothing,
        })
    }

    fn law(self, bit: bool) -> Vec<(Said, Rational)> {
        match self {
            Self::First => vec![
                (Said::Bit(bit), ratio(3, 4)),
                (Said::Bit(!bit), ratio(1, 4)),
            ],
            Self::Even => vec![
                (Said::Bit(bit), ratio(4, 5)),
                (Said::Bit(!bit), ratio(1, 5)),
            ],
            Self::Seldom => vec![(Said::Bit(bit), ratio(1, 4)), (Said::Nothing, ratio(3, 4))],
        }
    }
}

/// The composition of a fixed list of tools.
fn composed(tools: &[Tool]) -> Divergences {
    let law = |bit: bool| {
        let mut law = vec![(Vec::new(), Rational::ONE)];
        for tool in tools {
            law = law
                .into_iter()
                .flat_map(|(said, mass)| {
                    tool.law(bit)
                        .into_iter()
                        .map(move |(next, share)| ([&said[..], &[next]].concat(), &mass * share))
                })
                .collect();
        }
        Distribution::new(law.into_iter().map(|(said, mass)| (said, mass.into())))
    };
    Divergences::between(&law(true), &law(false))
}

/// δ as a function of `e^ε`, at points where the laws here have corners.
fn profile(apart: &Divergences) -> Vec<Rational> {
    let corners = [
        (1, 12),
        (1, 4),
        (1, 3),
        (3, 4),
        (1, 1),
        (4, 3),
        (3, 1),
        (4, 1),
        (12, 1),
    ];
    corners
        .into_iter()
        .map(|(numerator, denominator)| {
            let delta = apart.hockey_stick(ratio(numerator, denominator));
            delta.exact().unwrap().clone()
        })
        .collect()
}

/// The budget: the larger of what each of two fixed lists needs, at every ε.
static BUDGET: LazyLock<Vec<Rational>> = LazyLock::new(|| {
    let [even, seldom] =
        [Tool::Even, Tool::Seldom].map(|tool| profile(&composed(&[Tool::First, tool])));
    let both = even.into_iter().zip(seldom);
    both.map(|(one, other)| one.max(other)).collect()
});

/// Whether the composition of these laws is nowhere above the budget. It is enough to look at a
/// few points, because nothing passes there but the two lists themselves and what is less: parts
/// of them, and `First` in the place of `Even`, of which it is a garbled version.
fn within(tools: &[Tool]) -> bool {
    let deltas = profile(&composed(tools));
    deltas
        .iter()
        .zip(&*BUDGET)
        .all(|(delta, allowed)| delta <= allowed)
}

#[test]
fn the_natural_rule_admits_what_is_less_than_one_of_two_lists() {
    let tools = [Tool::First, Tool::Even, Tool::Seldom];
    for (number, one) in tools.into_iter().enumerate() {
        assert!(within(&[one]));
        for other in &tools[number..] {
            let less_than_one_of_the_two = one == Tool::First;
            assert_eq!(
                within(&[one, *other]),
                less_than_one_of_the_two,
                "{one:?} {other:?}"
            );
            for third in tools {
                assert!(!within(&[one, *other, third]));
            }
        }
    }
}

/// The natural filter: launches as long as the composition of the laws launched is nowhere above
/// the budget.
#[derive(Clone)]
struct Natural;

#[derive(Hash)]
struct NaturalMachine {
    bit: bool,
    launched: Vec<Tool>,
}

impl Mechanism<bool> for Natural {
    type Machine = NaturalMachine;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<NaturalMachine, Fault> {
        Ok(NaturalMachine {
            bit: **data,
            launched: Vec::new(),
        })
    }
}

impl Machine for NaturalMachine {
    type Query = Tool;
    type Answer = Said;
    fn step(&mut self, tool: Tool, coins: &mut Coins<'_>) -> Result<Said, Fault> {
        let mut next = self.launched.clone();
        next.push(tool);
        if !within(&next) {
            return Ok(Said::OverBudget);
        }
        self.launched = next;
        tool.draw(self.bit, coins)
    }
}

#[test]
fn the_natural_f_dp_filter_is_caught() {
    let pair = Pair::new(true, false);
    let two = ratio(2, 1);
    let allowed = [Tool::Even, Tool::Seldom]
        .map(|tool| composed(&[Tool::First, tool]).hockey_stick(two.clone()))
        .map(|delta| delta.exact().unwrap().clone());
    // No fixed sequence is over the budget ...
    for tool in [Tool::Even, Tool::Seldom] {
        let fixed = by_transcript(move |said: &[_]| match said.len() {
            0 => vec![Tool::First],
            1 => vec![tool],
            _ => vec![],
        });
        let worst = Verifier::new(copies_of(&Natural), &pair, fixed, 2).worst_delta(two.clone());
        assert!(allowed.contains(&exact(&worst.unwrap())));
    }
    // ... and one that chooses by what it has heard is: after a truth it takes the tool that is
    // good at confirming, after a lie the one that is good at overturning.
    let menu = vec![Tool::First, Tool::Even, Tool::Seldom];
    let worst = Verifier::by_state(copies_of(&Natural), &pair, menu, 3)
        .worst_delta(two)
        .unwrap();
    let most = allowed.into_iter().max().unwrap();
    assert!(exact(&worst) > most, "{worst} against {most}");
    // 3/4 · H_even(2/3) + 1/4 · H_seldom(6) = 3/4 · 2/3 + 1/4 · 1/4.
    assert_eq!(exact(&worst), ratio(9, 16));
    let printed = worst.to_string();
    assert!(printed.contains("Bit(true): ask Even"), "{printed}");
    assert!(printed.contains("Bit(false): ask Seldom"), "{printed}");
}

// ---- Adding up Rényi losses is no conditional odometer (Feldman and Zrnic, Example 5.1) -------

#[test]
fn added_renyi_losses_are_no_bound_on_the_loss_given_what_was_seen() {
    let pair = Pair::new(false, true);
    let order = "2".parse().unwrap();
    let rdp = Rdp::new(order);
    let reading = renyi_of_once(3, 2);
    // As a bound on the view truncated at any threshold, the sum is right ...
    let odometer = Addressed::<_, Respond>::new(Odometer::concurrent(rdp));
    let threshold = queryables::privacy::Private::loss(&once(3), &rdp).unwrap();
    let truncated = Truncated::new(odometer, threshold);
    let menu = Children::new(vec![once(3), once(2)], vec![()]);
    let verifier = Verifier::by_state(copies_of(&truncated), &pair, menu, 4);
    assert_eq!(exact(&verifier.worst_renyi(order).unwrap()), reading);
    verifier.assert_private(&rdp, &threshold);
    // ... but given the first answer, the loss of the two together is above the reading: 9 · 7/3
    // where the sum says (7/3)².
    let twice = Respond {
        odds: 3,
        answers: 2,
    };
    let given = |bit: bool| {
        let law = views(
            copies_of(&twice),
            &Arc::new(bit),
            || Script::new([(), ()]),
            2,
        )
        .unwrap();
        law.outcomes()
            .filter(|(view, _)| view.answers().next() == Some(&Ok(false)))
            .map(|(view, mass)| (view.clone(), mass.clone()))
            .collect::<Vec<_>>()
    };
    // E[(p/q)² | first answer], under q.
    let total = |law: &[(_, Interval)]| {
        law.iter()
            .fold(Rational::ZERO, |sum, (_, mass): &(_, Interval)| {
                sum + mass.low()
            })
    };
    let (p, q) = (given(false), given(true));
    let apart = Divergences::between(&Distribution::new(p), &Distribution::new(q.clone()));
    let conditional = apart.renyi(order).exact().unwrap() / total(&q);
    assert_eq!(conditional, Rational::from(9_u8) * &reading);
    assert!(conditional > reading.pow(2));
}

// ---- Advanced composition is no bound at every time at once (Rogers et al. 6.1) ---------------

/// Responds at odds of 11 to 10; asked to stop, it says whether the realised loss is above what
/// advanced composition reads for this number of steps. `honest` says no in any case.
#[derive(Clone)]
struct Walk {
    honest: bool,
}

#[derive(Clone, Hash)]
struct Walking {
    honest: bool,
    steps: u32,
    /// The realised loss, in multiples of ε.
    loss: i32,
    stopped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Go,
    Stop,
}

const DELTA: f64 = 0.3;

/// Whether `loss · ε > steps · ε (e^ε - 1) / 2 + sqrt(2 ln(1/δ) steps) · ε`.
fn above(steps: u32, loss: i32) -> bool {
    let steps = f64::from(steps);
    f64::from(loss) > steps * 0.1 / 2.0 + (2.0 * (1.0 / DELTA).ln() * steps).sqrt()
}

impl Mechanism<()> for Walk {
    type Machine = Walking;
    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Walking, Fault> {
        Ok(Walking {
            honest: self.honest,
            steps: 0,
            loss: 0,
            stopped: false,
        })
    }
}

impl Machine for Walking {
    type Query = Step;
    type Answer = bool;
    fn step(&mut self, step: Step, coins: &mut Coins<'_>) -> Result<bool, Fault> {
        match step {
            _ if self.stopped => Err(Fault::Exhausted),
            Step::Go => {
                let truth = coins.weighted(&[11, 10])? == 0;
                self.steps += 1;
                self.loss += if truth { 1 } else { -1 };
                Ok(truth)
            }
            Step::Stop => {
                self.stopped = true;
                Ok(self.honest && above(self.steps, self.loss))
            }
        }
    }
}

#[test]
fn advanced_composition_read_at_a_chosen_time_is_caught() {
    let data = Arc::new(());
    let (honest, silent) = (Walk { honest: true }, Walk { honest: false });
    let most = ratio(3, 10);
    // The only difference between the two is whether the loss is above the reading at the stop, so
    // that the largest total variation is the largest probability of it.
    let violation = |menu: Vec<Step>, depth| {
        let verifier = Verifier::comparing_by_state(
            copies_of(&honest),
            copies_of(&silent),
            &data,
            menu,
            depth,
        );
        let worst = verifier.threads(1).difference().unwrap();
        assert_eq!(worst.completeness, Completeness::Complete);
        exact(&worst)
    };
    // An adversary that chooses when to stop exceeds it with probability more than δ, within 60
    // steps.
    let chosen = violation(vec![Step::Go, Step::Stop], 61);
    assert!(chosen > most && chosen < ratio(33, 100), "{chosen}");
    // Few steps are not enough: it is the choice among many times that does it.
    assert!(violation(vec![Step::Go, Step::Stop], 21) < most);
    // And at each time fixed in advance the formula holds, with much to spare.
    for steps in [2_usize, 8] {
        let fixed = by_transcript(move |said: &[(Step, _)]| match said.len() {
            length if length < steps => vec![Step::Go],
            length if length == steps => vec![Step::Stop],
            _ => vec![],
        });
        let verifier = Verifier::comparing_by_state(
            copies_of(&honest),
            copies_of(&silent),
            &data,
            fixed,
            steps + 1,
        );
        assert!(exact(&verifier.difference().unwrap()) < ratio(15, 100));
    }
}
