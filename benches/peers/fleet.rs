//! Filters and odometers after a given number of launches.

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
    members: Vec<F>,
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
            members: Vec::new(),
            left: 0,
        }))
    }

    /// The next launch.
    pub fn launching(fleet: &Rc<RefCell<Self>>) -> Run {
        let fleet = Rc::clone(fleet);
        Box::new(move |times| fleet.borrow_mut().launch(times))
    }

    /// One of them.
    pub fn member(&mut self) -> &mut F {
        self.replace_if_worn();
        self.members.first_mut().expect("never empty")
    }

    /// Something that leaves the number of launches as it is.
    pub fn reading(fleet: &Rc<RefCell<Self>>, read: impl Fn(&mut F) + 'static) -> Run {
        let fleet = Rc::clone(fleet);
        Box::new(move |times| {
            let mut fleet = fleet.borrow_mut();
            let member = fleet.member();
            let begin = Instant::now();
            for _ in 0..times {
                read(member);
            }
            begin.elapsed()
        })
    }

    fn launch(&mut self, times: u64) -> Duration {
        let (mut done, mut took) = (0, Duration::ZERO);
        while done < times {
            self.replace_if_worn();
            let size = self.members.len() as u64;
            let rounds = self.left.min((times - done).div_ceil(size));
            let begin = Instant::now();
            for _ in 0..rounds {
                for member in &mut self.members {
                    (self.launch)(member);
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
        self.members.clear();
        self.members.resize_with(size, || {
            let mut member = (self.fresh)();
            for _ in 0..self.k - width / 2 {
                (self.launch)(&mut member);
            }
            member
        });
    }
}
