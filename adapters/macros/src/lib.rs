//! The macros of Whippet's stand-in for tokio.

mod entry;
mod join;
mod select;

use proc_macro::TokenStream;

/// A test whose body is explored: called once per execution.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::test(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A main function whose body runs as a task.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::main(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Waits for the first of several branches.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    select::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Waits for all.
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    join::join(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Waits for all, or for the first error.
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    join::try_join(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
