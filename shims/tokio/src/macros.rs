//! Macros that name this crate by `$crate`, so that they work where its package has another name.

/// Waits for the first of several branches to complete.
#[macro_export]
macro_rules! select {
    ($($input:tt)*) => { $crate::whippet::macros::select! { $crate $($input)* } };
}

/// Waits for all futures to complete.
#[macro_export]
macro_rules! join {
    ($($input:tt)*) => { $crate::whippet::macros::join! { $crate $($input)* } };
}

/// Waits for all futures to complete, or for the first error.
#[macro_export]
macro_rules! try_join {
    ($($input:tt)*) => { $crate::whippet::macros::try_join! { $crate $($input)* } };
}

#[macro_export]
macro_rules! pin {
    ($($x:ident),* $(,)?) => {$(
        let mut $x = $x;
        #[allow(unused_mut)]
        // SAFETY: the value is shadowed by its pinned reference, so that it cannot be moved any more.
        let mut $x = unsafe { ::core::pin::Pin::new_unchecked(&mut $x) };
    )*};
    ($(let $x:ident = $init:expr;)*) => {$(
        let $x = $init;
        $crate::pin!($x);
    )*};
}
