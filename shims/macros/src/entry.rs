//! Expands `#[tokio::test]` and `#[tokio::main]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, ItemFn, Lit, LitStr, Meta, ReturnType, Token};

/// The arguments of the attribute. The number of worker threads is accepted and ignored: it does not affect which orders
/// are possible.
struct Arguments {
    paused: bool,
    /// `true` for a runtime with several threads.
    several: bool,
    /// The path of the shim.
    shim: TokenStream,
}

/// Parses the arguments of an attribute whose runtime has several threads by default, or one.
fn arguments(tokens: TokenStream, several: bool) -> syn::Result<Arguments> {
    // As in tokio, the name of the package need not be tokio: a module of this name is enough.
    let mut known = Arguments { paused: false, several, shim: quote!(tokio) };
    for meta in Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens)? {
        let Meta::NameValue(pair) = &meta else {
            return Err(Error::new_spanned(meta, "expected `name = value`"));
        };
        let name = pair.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match name.as_str() {
            "flavor" => {
                known.several = match text(&pair.value)?.value().as_str() {
                    "multi_thread" => true,
                    "current_thread" | "local" => false,
                    _ => {
                        return Err(Error::new_spanned(
                            &pair.value,
                            "expected `current_thread`, `local` or `multi_thread`",
                        ));
                    }
                };
            }
            "crate" => {
                let path: syn::Path = text(&pair.value)?.parse()?;
                known.shim = quote!(#path);
            }
            "worker_threads" | "unhandled_panic" | "name" => {}
            "start_paused" => match &pair.value {
                Expr::Lit(lit) if matches!(&lit.lit, Lit::Bool(_)) => {
                    known.paused = matches!(&lit.lit, Lit::Bool(value) if value.value);
                }
                other => return Err(Error::new_spanned(other, "expected `true` or `false`")),
            },
            _ => {
                return Err(Error::new_spanned(
                    meta,
                    "expected one of `flavor`, `worker_threads`, `start_paused`, `crate`, `unhandled_panic`, `name`",
                ));
            }
        }
    }
    Ok(known)
}

/// Returns the string literal that an argument consists of.
fn text(value: &Expr) -> syn::Result<&LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text),
        other => Err(Error::new_spanned(other, "expected a string")),
    }
}

fn function(item: TokenStream) -> syn::Result<ItemFn> {
    let function: ItemFn = syn::parse2(item)?;
    if function.sig.asyncness.is_none() {
        return Err(Error::new_spanned(function.sig.fn_token, "the `async` keyword is missing from the function"));
    }
    if let Some(input) = function.sig.inputs.first() {
        return Err(Error::new_spanned(input, "the function cannot accept arguments"));
    }
    Ok(function)
}

fn output(function: &ItemFn) -> TokenStream {
    match &function.sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => quote!(#ty),
    }
}

pub(crate) fn test(tokens: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let Arguments { paused, several, shim } = arguments(tokens, false)?;
    let function = function(item)?;
    let output = output(&function);
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let name = &sig.ident;
    Ok(quote! {
        #[::core::prelude::v1::test]
        #(#attrs)*
        #vis fn #name() {
            #shim::whippet::test(
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                #paused,
                #several,
                || async {
                    let output: #output = async #block.await;
                    #shim::whippet::Output::check(output);
                },
            )
        }
    })
}

pub(crate) fn main(tokens: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let Arguments { several, shim, .. } = arguments(tokens, true)?;
    let function = function(item)?;
    let result = output(&function);
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let (name, output) = (&sig.ident, &sig.output);
    Ok(quote! {
        #(#attrs)*
        #vis fn #name() #output {
            #shim::whippet::main(#several, async {
                let output: #result = async #block.await;
                output
            })
        }
    })
}
