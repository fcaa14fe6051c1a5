//! The attribute `#[whippet::test]`.

use proc_macro::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, ItemFn, Token, parse_macro_input};

/// One setting: `delivery = Delivery::Fifo`, or `first_bug` alone.
struct Setting {
    name: Ident,
    value: Option<Expr>,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Setting> {
        let name = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Setting { name, value })
    }
}

/// The known settings; `true` if the setting takes a value.
const SETTINGS: [(&str, bool); 17] = [
    ("delivery", true),
    ("environment", true),
    ("network", true),
    ("reduction", true),
    ("order", true),
    ("jobs", true),
    ("samples", true),
    ("seed", true),
    ("first_bug", false),
    ("undeliverable_is_error", false),
    ("limit_executions", true),
    ("limit_time", true),
    ("limit_steps", true),
    ("limit_handler", true),
    ("partial_is_enough", false),
    ("determinism_check", true),
    ("regressions", true),
];

/// Turns a function over a `System` into a test of every order of its messages.
///
/// A finding fails the test with the counterexample and the command that replays it. The settings are the methods of
/// `Checker`: `#[whippet::test(delivery = Delivery::Fifo, first_bug)]`.
///
/// The function may return `Result<(), E>` where `E: Debug`. An error that it returns is a finding.
///
/// ```
/// # // A test exists only in a test build: the macro runs the same body here.
/// # macro_rules! run {
/// #     ($(#[$test:meta])* fn $name:ident($sys:ident: &mut System) $body:block) => {
/// #         $(#[$test])* fn $name($sys: &mut System) $body
/// #         whippet::check(|$sys| $body);
/// #     };
/// # }
/// use whippet::prelude::*;
///
/// # run! {
/// #[whippet::test(delivery = Delivery::Fifo)]
/// fn received_in_order(sys: &mut System) {
///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
///         let (first, second) = (inbox.receive().await, inbox.receive().await);
///         assert!(first + second == 3);
///     });
///     sys.send(reader, 1);
///     sys.send(reader, 2);
/// }
/// # }
/// ```
#[proc_macro_attribute]
pub fn test(settings: TokenStream, item: TokenStream) -> TokenStream {
    let settings = parse_macro_input!(settings with Punctuated::<Setting, Token![,]>::parse_terminated);
    let function = parse_macro_input!(item as ItemFn);
    expand(settings, function).unwrap_or_else(|error| error.to_compile_error().into())
}

fn expand(settings: Punctuated<Setting, Token![,]>, function: ItemFn) -> syn::Result<TokenStream> {
    let signature = &function.sig;
    if let Some(keyword) = &signature.asyncness {
        return Err(Error::new(
            keyword.span(),
            "a whippet test sets up actors and is not async: to wait for something, spawn an actor that does",
        ));
    }
    if signature.inputs.len() != 1 || !signature.generics.params.is_empty() {
        return Err(Error::new(signature.span(), "a whippet test takes one argument: `sys: &mut System`"));
    }
    let mut calls = Vec::new();
    for Setting { name, value } in settings {
        let Some((_, takes_value)) = SETTINGS.iter().find(|(known, _)| name == known) else {
            let known: Vec<&str> = SETTINGS.iter().map(|(known, _)| *known).collect();
            return Err(Error::new(
                name.span(),
                format!("unknown setting `{name}`; the settings are {}", known.join(", ")),
            ));
        };
        calls.push(match (value, takes_value) {
            (Some(value), true) => quote_spanned!(name.span()=> .#name(#value)),
            (None, false) => quote_spanned!(name.span()=> .#name()),
            (None, true) => return Err(Error::new(name.span(), format!("`{name}` needs a value: `{name} = …`"))),
            (Some(value), false) => return Err(Error::new(value.span(), format!("`{name}` takes no value"))),
        });
    }
    if function.attrs.iter().any(|attribute| attribute.path().is_ident("should_panic")) {
        // A failure that is expected is not worth keeping.
        calls.insert(0, quote!(.regressions(false)));
    }
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &signature.ident);
    let (input, output, body) = (&signature.inputs, &signature.output, &function.block);
    Ok(quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        #visibility fn #name() {
            fn body(#input) #output #body
            let path = concat!(module_path!(), "::", stringify!(#name));
            // The name that the test runner uses: without the crate.
            let name = path.split_once("::").map_or(path, |(_, name)| name);
            ::whippet::Checker::new(name)#(#calls)*.check(body);
        }
    }
    .into())
}
