//! The macros of Whippet's shim for tokio.

mod entry;
mod join;
mod select;

use proc_macro::TokenStream;

/// Turns an async function into a test that explores its body. The body is called once per execution.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::test(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Turns an async function into a main function that runs its body as a task.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    entry::main(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Waits for the first of several branches to complete. The first token is the path of the shim.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    select::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Waits for all futures to complete. The first token is the path of the shim.
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    join::join(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Waits for all futures to complete, or for the first error. The first token is the path of the shim.
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    join::try_join(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
