//! Filters and odometers with so many launches behind them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::sample::Run;

/// Several of a kind that have launched `k` mechanisms each, to within 2.5 %.
///
/// A launch changes what is measured, so those that have launched too many are replaced. Where `k`
/// is small that is after one launch, and then there are many of them: one launch alone is too
/// short for the clock.
pub struct Fleet<F> {
    k: u64,
    fresh: Box<dyn Fn() -> F>,
    launch: Box<dyn Fn(&mut F)>,
    ships: Vec<F>,
    /// How many launches each has left before it is replaced.
    left: u64,
}

impl<F: 'static> Fleet<F> {
    pub fn new(
        k: u64,
        fresh: impl Fn() -> F + 'static,
        launch: impl Fn(&mut F) + 'static,
    ) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            k,
            fresh: Box::new(fresh),
            launch: Box::new(launch),
            ships: Vec::new(),
            left: 0,
        }))
    }

    /// The next launch.
    pub fn launching(fleet: &Rc<RefCell<Self>>) -> Run {
        let fleet = Rc::clone(fleet);
        Box::new(move |times| fleet.borrow_mut().launch(times))
    }

    /// Something that leaves the number of launches as it is.
    pub fn reading(fleet: &Rc<RefCell<Self>>, read: impl Fn(&mut F) + 'static) -> Run {
        let fleet = Rc::clone(fleet);
        Box::new(move |times| {
            let fleet = &mut *fleet.borrow_mut();
            fleet.replace_if_worn();
            let ship = fleet.ships.first_mut().expect("never empty");
            let begin = Instant::now();
            for _ in 0..times {
                read(ship);
            }
            begin.elapsed()
        })
    }

    fn launch(&mut self, times: u64) -> Duration {
        let (mut done, mut took) = (0, Duration::ZERO);
        while done < times {
            self.replace_if_worn();
            let size = self.ships.len() as u64;
            let rounds = self.left.min((times - done).div_ceil(size));
            let begin = Instant::now();
            for _ in 0..rounds {
                for ship in &mut self.ships {
                    (self.launch)(ship);
                }
            }
            took += begin.elapsed();
            self.left -= rounds;
            done += rounds * size;
        }
        // A few more than asked for, where there are several.
        took.mul_f64(times as f64 / done as f64)
    }

    fn replace_if_worn(&mut self) {
        if self.left > 0 {
            return;
        }
        let width = self.k / 20;
        let size = if self.k < 1000 { 64 } else { 1 };
        self.left = width.max(1);
        self.ships.clear();
        self.ships.resize_with(size, || {
            let mut ship = (self.fresh)();
            for _ in 0..self.k - width / 2 {
                (self.launch)(&mut ship);
            }
            ship
        });
    }
}
