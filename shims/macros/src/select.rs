//! Expands `select!`. Each poll polls all branches. With `biased`, the first ready branch in source order wins;
//! otherwise the search chooses.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Index, Pat, PatIdent, Token};

struct Branch {
    pattern: Pat,
    future: Expr,
    condition: Option<Expr>,
    handler: Expr,
}

struct Select {
    /// The path of the shim, as the macro that was called sees it.
    shim: TokenTree,
    biased: bool,
    branches: Vec<Branch>,
    otherwise: Option<Expr>,
}

impl Parse for Select {
    fn parse(input: ParseStream<'_>) -> syn::Result<Select> {
        let mut select = Select { shim: input.parse()?, biased: false, branches: Vec::new(), otherwise: None };
        if input.peek(Ident) && input.peek2(Token![;]) {
            let word: Ident = input.parse()?;
            if word != "biased" {
                return Err(syn::Error::new(word.span(), "expected `biased`"));
            }
            input.parse::<Token![;]>()?;
            select.biased = true;
        }
        while !input.is_empty() {
            if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
                input.parse::<Token![=>]>()?;
                select.otherwise = Some(input.parse()?);
                input.parse::<Option<Token![,]>>()?;
                break;
            }
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            input.parse::<Token![=]>()?;
            let future = input.parse()?;
            let condition = if input.peek(Token![,]) && input.peek2(Token![if]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>()?;
                Some(input.parse()?)
            } else {
                None
            };
            input.parse::<Token![=>]>()?;
            let handler = if input.peek(syn::token::Brace) {
                // As in a `match`, a block ends the branch, with or without a comma.
                let block: syn::Block = input.parse()?;
                syn::parse_quote!(#block)
            } else {
                input.parse()?
            };
            input.parse::<Option<Token![,]>>()?;
            select.branches.push(Branch { pattern, future, condition, handler });
        }
        Ok(select)
    }
}

/// A visitor that turns a pattern into one that matches the same values by reference: it removes `ref` and `mut`.
struct ByReference;

impl VisitMut for ByReference {
    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        pattern.by_ref = None;
        pattern.mutability = None;
        visit_mut::visit_pat_ident_mut(self, pattern);
    }
}

pub(crate) fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Select { shim, biased, branches, otherwise } = syn::parse2(input)?;
    let count = branches.len();
    if count > 64 {
        return Err(syn::Error::new(Span::call_site(), "up to 64 branches supported"));
    }
    let names: Vec<Ident> = (0..count).map(|k| format_ident!("B{k}", span = Span::mixed_site())).collect();
    let of = |name: &str| Ident::new(name, Span::mixed_site());
    let (out, futures, disabled, select, cx) = (of("Out"), of("futures"), of("disabled"), of("select"), of("cx"));
    let conditions = branches.iter().enumerate().filter_map(|(k, branch)| {
        let condition = branch.condition.as_ref()?;
        Some(quote!(if !(#condition) { #disabled |= 1u64 << #k; }))
    });
    let starts = branches.iter().map(|branch| &branch.future);
    let index = (0..count).map(Index::from);
    let polls = branches.iter().enumerate().map(|(k, branch)| {
        let (index, name) = (Index::from(k), &names[k]);
        let mut pattern = branch.pattern.clone();
        ByReference.visit_pat_mut(&mut pattern);
        quote! {
            #k => if #disabled & (1u64 << #k) == 0 {
                // SAFETY: only a reference to the tuple remains in scope, so it is never moved again.
                let future = unsafe { ::core::pin::Pin::new_unchecked(&mut #futures.#index) };
                match #select.poll(turn, future, #cx) {
                    ::core::task::Poll::Pending => pending = true,
                    ::core::task::Poll::Ready(value) => {
                        #disabled |= 1u64 << #k;
                        #[allow(unreachable_patterns, unused_variables)]
                        match &value {
                            #pattern => return ::core::task::Poll::Ready(#out::#name(value)),
                            _ => {}
                        }
                    }
                }
            }
        }
    });
    let arms = branches.iter().enumerate().map(|(k, branch)| {
        let (name, pattern, handler) = (&names[k], &branch.pattern, &branch.handler);
        quote!(#out::#name(#pattern) => #handler,)
    });
    let otherwise = otherwise.map_or_else(
        || quote!(::core::panic!("all branches are disabled and there is no else branch")),
        |handler| quote!(#handler),
    );
    Ok(quote! {{
        // Tokio's macro brings these names into scope, and programs use them.
        #[allow(unused_imports)]
        use ::core::future::Future;
        #[allow(unused_imports)]
        use ::core::pin::Pin;
        enum #out<#(#names),*> { #(#names(#names),)* Disabled }
        let mut #disabled: u64 = 0;
        #(#conditions)*
        let output = {
            // The values are stored before they become futures, so that temporary values in them live as long as with tokio.
            let #futures = (#(#starts,)*);
            let mut #futures = (#(::core::future::IntoFuture::into_future(#futures.#index),)*);
            let mut #futures = &mut #futures;
            let mut #select = #shim::whippet::Selecting::new(#biased, #count);
            ::core::future::poll_fn(|#cx| {
                let mut pending = false;
                for turn in 0..#count {
                    match #select.branch(turn) {
                        #(#polls)*
                        _ => ::core::unreachable!("there are as many turns as branches"),
                    }
                }
                if pending {
                    #select.waits();
                    ::core::task::Poll::Pending
                } else {
                    ::core::task::Poll::Ready(#out::Disabled)
                }
            }).await
        };
        #[allow(unreachable_patterns, unreachable_code)]
        match output {
            #(#arms)*
            #out::Disabled => #otherwise,
            _ => ::core::unreachable!("the pattern matched by reference"),
        }
    }})
}
