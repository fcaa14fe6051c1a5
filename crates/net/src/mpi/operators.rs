//! Operators for reductions.
//!
//! An operator is a function of two values. Functions have names, which are compared: ranks that call a reduction with
//! different functions are reported. Closures have none, and are not compared.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul};

/// Returns the name of an operator, unless it is a closure or a function pointer.
pub(super) fn name_of<F>(_: &F) -> Option<String> {
    let path = std::any::type_name::<F>();
    let anonymous = path.contains("{{closure}}") || path.starts_with("fn(") || path.starts_with('&');
    let path = path.split('<').next().unwrap_or(path);
    (!anonymous).then(|| path.strip_prefix(concat!(module_path!(), "::")).unwrap_or(path).to_string())
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident($bound:path) = |$a:ident, $b:ident| $result:expr, $left:expr, $right:expr, $expected:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// ```
            #[doc = concat!("use whippet_net::mpi::operators::", stringify!($name), ";")]
            #[doc = concat!("assert_eq!(", stringify!($name), "(", $left, ", ", $right, "), ", $expected, ");")]
            /// ```
            pub fn $name<T: $bound>($a: T, $b: T) -> T {
                $result
            }
        )*
    };
}

/// A type with this operation, whose result has the same type.
macro_rules! same_type {
    ($($alias:ident = $bound:ident;)*) => {
        $(
            #[doc(hidden)]
            pub trait $alias: $bound<Output = Self> + Sized {}
            impl<T: $bound<Output = T>> $alias for T {}
        )*
    };
}

same_type! {
    Adds = Add;
    Multiplies = Mul;
    Ands = BitAnd;
    Ors = BitOr;
    Xors = BitXor;
}

operators! {
    /// Adds (`MPI_SUM`).
    sum(Adds) = |a, b| a + b, "1", "2", "3";
    /// Multiplies (`MPI_PROD`).
    product(Multiplies) = |a, b| a * b, "2", "3", "6";
    /// Returns the larger value (`MPI_MAX`).
    max(PartialOrd) = |a, b| if b > a { b } else { a }, "2", "3", "3";
    /// Returns the smaller value (`MPI_MIN`).
    min(PartialOrd) = |a, b| if b < a { b } else { a }, "2", "3", "2";
    /// Combines by `&` (`MPI_LAND`, `MPI_BAND`).
    and(Ands) = |a, b| a & b, "6", "3", "2";
    /// Combines by `|` (`MPI_LOR`, `MPI_BOR`).
    or(Ors) = |a, b| a | b, "6", "3", "7";
    /// Combines by `^` (`MPI_LXOR`, `MPI_BXOR`).
    xor(Xors) = |a, b| a ^ b, "6", "3", "5";
}

/// Returns the pair with the larger value, and of equal ones that with the smaller index (`MPI_MAXLOC`).
///
/// ```
/// use whippet_net::mpi::operators::max_location;
/// assert_eq!(max_location((7, 2), (7, 1)), (7, 1));
/// ```
pub fn max_location<T: PartialOrd, I: PartialOrd>(a: (T, I), b: (T, I)) -> (T, I) {
    if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}

/// Returns the pair with the smaller value, and of equal ones that with the smaller index (`MPI_MINLOC`).
///
/// ```
/// use whippet_net::mpi::operators::min_location;
/// assert_eq!(min_location((7, 2), (7, 1)), (7, 1));
/// ```
pub fn min_location<T: PartialOrd, I: PartialOrd>(a: (T, I), b: (T, I)) -> (T, I) {
    if b.0 < a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}
