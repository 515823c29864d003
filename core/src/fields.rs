//! `Clone` and `Debug` by listed fields: a derive would ask the same of every type parameter, and show
//! every field. And `Debug` of errors.

/// `Clone`, by cloning these fields.
///
/// ```text
/// clone_fields!([D: ?Sized] Vector<D> { name, read, sum });
/// clone_fields!([D: ?Sized] Predicate<D> { 0 });
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! clone_fields {
    ([$($generics:tt)*] $Type:ty { $($field:tt),* $(,)? }) => {
        impl<$($generics)*> Clone for $Type {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone()),* }
            }
        }
    };
}

/// `Debug`, with these fields, or only with the name: the others hold data or functions.
///
/// ```text
/// debug_fields!([K] Groups<K>, "Groups");
/// debug_fields!([] ClampedSum, "ClampedSum" { low, high, .. });
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! debug_fields {
    ([$($generics:tt)*] $Type:ty, $name:literal) => {
        impl<$($generics)*> std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($name)
            }
        }
    };
    ([$($generics:tt)*] $Type:ty, $name:literal { $($field:ident),* $(,)? }) => {
        impl<$($generics)*> std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct($name)$(.field(stringify!($field), &self.$field))*.finish()
            }
        }
    };
    ([$($generics:tt)*] $Type:ty, $name:literal { $($field:ident,)* .. }) => {
        impl<$($generics)*> std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct($name)
                    $(.field(stringify!($field), &self.$field))*
                    .finish_non_exhaustive()
            }
        }
    };
}

/// `Debug` of an error, which is its message: a `main` that returns an error prints it with `Debug`.
///
/// ```text
/// debug_is_message!([C: Display] LaunchError<C>);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! debug_is_message {
    ([$($generics:tt)*] $Error:ty) => {
        impl<$($generics)*> std::fmt::Debug for $Error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
