//! Why an odometer is not a composition theorem read along the way.
//!
//! An analyst spends ε = 0.1 again and again on randomized response, watches the realised loss,
//! and stops the moment it exceeds what the odometer shows. An odometer with δ = 5% should lose
//! that game at most one time in twenty.
//!
//! ```sh
//! cargo run --release --package papers --bin naive_odometer
//! ```

use std::error::Error;
use std::sync::Arc;

use papers::rogers::{
    AdaptParamComp, Claim, NaiveAdvanced, StopWhenAhead, probability_of_getting_ahead,
};
use queryables::account::time_uniform::{RogersOdometer, Slack, VarianceOdometer};
use queryables::compose::TimeUniform;
use queryables::machine::{NotPrivateSeededCoins, interact};
use queryables::mechanisms::ApproxRandomizedResponse;
use queryables::prelude::*;

const ROUNDS: u32 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mechanism = ApproxRandomizedResponse::new(EpsilonDelta::new("0.1", "0")?);
    let delta: Delta = "0.05".parse()?;
    let slack = Slack::pure(delta)?;
    // Σε² after the last round is 10.
    let filter = VarianceOdometer::tangent_at("10".parse()?, slack);
    let mixture = VarianceOdometer::mixture_at("10".parse()?, slack);
    let stitched = VarianceOdometer::stitched("0.01".parse()?, slack);
    let rogers = RogersOdometer::new(10_000, delta)?;

    println!("{ROUNDS} launches of 0.1, stopped when the loss is ahead; promised: at most 5.0%\n");
    println!("odometer                    shows at the end    is too low at some time");
    row(
        "advanced composition",
        NaiveAdvanced::new(delta),
        &mechanism,
    );
    row("filter (Whitehouse)", filter, &mechanism);
    row("mixture (Whitehouse)", mixture.clone(), &mechanism);
    row("stitched (Whitehouse)", stitched, &mechanism);
    row("Rogers", rogers, &mechanism);

    println!("\nOne game that the first of them loses:");
    let lost = (0..)
        .find_map(|seed| played(NaiveAdvanced::new(delta), &mechanism, seed))
        .ok_or("it loses one in ten")?;
    println!(
        "  after {} rounds the realised loss is {:.3}",
        lost.0, lost.1
    );
    println!(
        "  advanced composition shows {:.3}",
        shown(NaiveAdvanced::new(delta), &mechanism, lost.0)
    );
    println!(
        "  the mixture odometer shows {:.3}",
        shown(mixture.clone(), &mechanism, lost.0)
    );

    println!("\nThe same odometer over data:");
    let odometer = start(&TimeUniform::noninteractive(mixture), Arc::new(true))?;
    for launches in [1, 9, 90] {
        for _ in 0..launches {
            odometer.release(&mechanism)?;
        }
        let bound = odometer.privacy_loss().bound().ok_or("a bound is known")?;
        println!(
            "  {launches:>2} more: realised loss at most {:.6}",
            bound.to_string()
        );
    }
    given_the_reading();
    Ok(())
}

fn row(name: &str, rule: impl Claim + Clone, mechanism: &ApproxRandomizedResponse) {
    println!(
        "{name:<28}{:>16.2}{:>26.2}%",
        shown(rule.clone(), mechanism, ROUNDS as usize),
        100.0 * probability_of_getting_ahead(rule, mechanism, ROUNDS),
    );
}

/// What a rule claims after this number of rounds.
fn shown(mut rule: impl Claim, mechanism: &ApproxRandomizedResponse, rounds: usize) -> f64 {
    (0..rounds).for_each(|_| rule.count(&mechanism.epsilon_delta()));
    rule.claimed()
}

/// Plays one game; how long it took and what was realised, if the analyst got ahead.
fn played(
    rule: impl Claim,
    mechanism: &ApproxRandomizedResponse,
    seed: u64,
) -> Option<(usize, f64)> {
    let mut adversary = StopWhenAhead::new(rule, vec![*mechanism; ROUNDS as usize]);
    let mut game = AdaptParamComp::new(ROUNDS as usize, false);
    interact(
        &mut adversary,
        &mut game,
        &mut NotPrivateSeededCoins::new(0),
        &mut NotPrivateSeededCoins::new(seed),
        ROUNDS as usize + 1,
    );
    adversary
        .is_ahead()
        .then(|| (game.parameters().len(), game.loss()))
}

/// Feldman and Zrnic, Example 5.1: Rényi losses add up, and yet what the sum shows is no promise
/// about the rest of the conversation given that it shows this.
fn given_the_reading() {
    // Odds 3 : 1 at order 2: E[(P⁰/P¹)²] = 9·(1/4) + (1/9)·(3/4). A second round follows only
    // after ⊤, on which P⁰/P¹ = 3.
    let once: f64 = 9.0 / 4.0 + 3.0 / 36.0;
    let given_top = 9.0 * once;
    let whole = given_top / 4.0 + 3.0 / 36.0;
    println!(
        "\nA second round only if the first says ⊤ (Rényi divergence of order 2, odds 3 : 1):"
    );
    println!(
        "  the sum of the losses shows          {:.3}",
        2.0 * once.ln()
    );
    println!("  the divergence of the whole view is  {:.3}", whole.ln());
    println!(
        "  but given that the sum shows this    {:.3}",
        given_top.ln()
    );
}
