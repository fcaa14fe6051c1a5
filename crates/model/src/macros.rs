//! Macros for the packages of this repository.

/// Writes the methods `with_…` of a `#[non_exhaustive]` type: other crates cannot write such a type as a literal, and
/// so it may gain fields without breaking them.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($of:ident { $($with:ident => $field:ident: $value:ty,)* }) => {
        impl $of {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](", stringify!($of), "::", stringify!($field), ").")]
                #[must_use]
                pub fn $with(mut self, $field: $value) -> $of {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

/// Implements `Debug` for types whose fields tell their users nothing: only the name of the type is shown.
#[doc(hidden)]
#[macro_export]
macro_rules! opaque_debug {
    ($name:ident) => {
        $crate::opaque_debug!($name, [] $name);
    };
    ($name:ident, [$($generics:tt)*] $of:ty) => {
        impl<$($generics)*> ::std::fmt::Debug for $of {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
