//! The `pin!` macro.

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
