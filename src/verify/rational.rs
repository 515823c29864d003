//! Fractions of any length.

use std::fmt;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// An exact fraction, of any length, in lowest terms.
///
/// ```
/// use queryables::verify::Rational;
///
/// let half = Rational::new(1, 2).unwrap();
/// let sixth = Rational::new(2, 12).unwrap();
/// assert_eq!((&half + &sixth).to_string(), "2/3");
/// assert_eq!(half.pow(-3), Rational::from(8_u8));
/// assert_eq!(Rational::new(1, 0), None);
/// ```
///
/// Dividing by zero panics, as it does for whole numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rational(RBig);

impl Rational {
    /// Zero.
    pub const ZERO: Self = Self(RBig::ZERO);

    /// One.
    pub const ONE: Self = Self(RBig::ONE);

    /// This fraction; `None` if the denominator is zero.
    #[must_use]
    pub fn new(numerator: i128, denominator: u128) -> Option<Self> {
        (denominator > 0).then(|| Self::from_parts(numerator.into(), denominator.into()))
    }

    /// Numerator and denominator, in lowest terms; `None` if they do not fit.
    ///
    /// ```
    /// use queryables::verify::Rational;
    ///
    /// assert_eq!(Rational::new(-2, 12).unwrap().to_parts(), Some((-1, 6)));
    /// assert_eq!(Rational::from(2_u8).pow(200).to_parts(), None);
    /// ```
    #[must_use]
    pub fn to_parts(&self) -> Option<(i128, u128)> {
        let numerator = i128::try_from(self.numerator()).ok()?;
        Some((numerator, u128::try_from(self.denominator()).ok()?))
    }

    /// This number to a power.
    ///
    /// # Panics
    ///
    /// A negative power of zero.
    #[must_use]
    pub fn pow(&self, exponent: isize) -> Self {
        Self(self.0.pow(exponent))
    }

    /// The nearest `f64`, or one next to it.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64_fast()
    }

    pub(crate) fn from_parts(numerator: IBig, denominator: UBig) -> Self {
        Self(RBig::from_parts(numerator, denominator))
    }

    pub(crate) fn numerator(&self) -> &IBig {
        self.0.numerator()
    }

    pub(crate) fn denominator(&self) -> &UBig {
        self.0.denominator()
    }

    /// About how many bytes it takes besides its own.
    pub(crate) fn size_on_heap(&self) -> usize {
        let numerator = self.numerator().as_sign_words().1;
        let words = [numerator, self.denominator().as_words()].map(<[_]>::len);
        // Two words are stored in place; longer numbers have some room to grow.
        let room = |words: usize| words + words / 8 + 2;
        let words = words.into_iter().filter(|words| *words > 2).map(room);
        words.sum::<usize>() * size_of::<dashu_int::Word>()
    }

    pub(crate) fn floor(&self) -> IBig {
        self.0.floor()
    }

    pub(crate) fn ceil(&self) -> IBig {
        self.0.ceil()
    }
}

impl Default for Rational {
    fn default() -> Self {
        Self::ZERO
    }
}

impl fmt::Display for Rational {
    /// `3/4`, in full.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

macro_rules! from_integers {
    ($($Integer:ty),*) => {$(
        impl From<$Integer> for Rational {
            fn from(number: $Integer) -> Self {
                Self(RBig::from(number))
            }
        }
    )*};
}
from_integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl From<IBig> for Rational {
    fn from(number: IBig) -> Self {
        Self(RBig::from(number))
    }
}

impl From<UBig> for Rational {
    fn from(number: UBig) -> Self {
        Self(RBig::from(number))
    }
}

macro_rules! operators {
    ($($Operator:ident $operator:ident $Assign:ident $assign:ident;)*) => {$(
        impl $Operator for Rational {
            type Output = Rational;
            fn $operator(self, other: Rational) -> Rational {
                Rational(self.0.$operator(other.0))
            }
        }
        impl $Operator<&Rational> for Rational {
            type Output = Rational;
            fn $operator(self, other: &Rational) -> Rational {
                Rational(self.0.$operator(&other.0))
            }
        }
        impl $Operator<Rational> for &Rational {
            type Output = Rational;
            fn $operator(self, other: Rational) -> Rational {
                Rational((&self.0).$operator(other.0))
            }
        }
        impl $Operator for &Rational {
            type Output = Rational;
            fn $operator(self, other: &Rational) -> Rational {
                Rational((&self.0).$operator(&other.0))
            }
        }
        impl $Assign for Rational {
            fn $assign(&mut self, other: Rational) {
                self.0.$assign(other.0);
            }
        }
        impl $Assign<&Rational> for Rational {
            fn $assign(&mut self, other: &Rational) {
                self.0.$assign(&other.0);
            }
        }
    )*};
}
operators! {
    Add add AddAssign add_assign;
    Sub sub SubAssign sub_assign;
    Mul mul MulAssign mul_assign;
    Div div DivAssign div_assign;
}
