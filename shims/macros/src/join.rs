//! Expands `join!` and `try_join!`. Each poll polls all futures, in an order that `Joining` knows.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Index, Token};

struct Join {
    /// The path of the shim, as the macro that was called sees it.
    shim: TokenTree,
    biased: bool,
    futures: Vec<Expr>,
}

impl Parse for Join {
    fn parse(input: ParseStream<'_>) -> syn::Result<Join> {
        let shim = input.parse()?;
        let biased = input.peek(Ident) && input.peek2(Token![;]);
        if biased {
            input.parse::<Ident>()?;
            input.parse::<Token![;]>()?;
        }
        let futures = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        Ok(Join { shim, biased, futures: futures.into_iter().collect() })
    }
}

fn expand(input: TokenStream, first_error: bool) -> syn::Result<TokenStream> {
    let Join { shim, biased, futures: list } = syn::parse2(input)?;
    let count = list.len();
    let of = |name: &str| Ident::new(name, Span::mixed_site());
    let (futures, cx, waiting, joining) = (of("futures"), of("cx"), of("waiting"), of("joining"));
    let index: Vec<Index> = (0..count).map(Index::from).collect();
    let leave = first_error.then(|| {
        quote! {
            if let ::core::option::Option::Some(error) = future.as_mut().take_error() {
                return ::core::task::Poll::Ready(::core::result::Result::Err(error));
            }
        }
    });
    let polls = index.iter().enumerate().map(|(k, i)| {
        quote! {
            #k => {
                // SAFETY: only a reference to the tuple remains in scope, so it is never moved again.
                let mut future = unsafe { ::core::pin::Pin::new_unchecked(&mut #futures.#i) };
                #waiting |= #joining.poll(future.as_mut(), #cx).is_pending();
                #leave
            }
        }
    });
    let take = index.iter().map(|i| {
        // SAFETY: only a reference to the tuple remains in scope, so it is never moved again.
        let value =
            quote!(unsafe { ::core::pin::Pin::new_unchecked(&mut #futures.#i) }.take().expect("the future is ready"));
        if first_error {
            quote!(match #value {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(_) => ::core::unreachable!("errors return at once"),
            })
        } else {
            value
        }
    });
    let all = quote!((#(#take,)*));
    let done = if first_error { quote!(::core::result::Result::Ok(#all)) } else { all };
    Ok(quote! {{
        let mut #futures = (#(#shim::whippet::Joined::new(#list),)*);
        let mut #futures = &mut #futures;
        let mut #joining = #shim::whippet::Joining::new(#count, #biased, false #(|| #futures.#index.runs_user_code())*);
        ::core::future::poll_fn(move |#cx| {
            let mut #waiting = false;
            for turn in 0..#count {
                match #joining.future(turn) {
                    #(#polls)*
                    _ => ::core::unreachable!("there are as many turns as futures"),
                }
            }
            if #waiting { ::core::task::Poll::Pending } else { ::core::task::Poll::Ready(#done) }
        }).await
    }})
}

pub(crate) fn join(input: TokenStream) -> syn::Result<TokenStream> {
    expand(input, false)
}

pub(crate) fn try_join(input: TokenStream) -> syn::Result<TokenStream> {
    expand(input, true)
}
