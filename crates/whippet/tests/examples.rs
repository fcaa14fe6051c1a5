//! Checks that every public item has an example that runs: its own, or a use by name in an example of the type it
//! belongs to. Examples that take too long are at least compiled (`no_run`).
//!
//! The check is a plain walk over the sources: the lint `unreachable_pub` ensures that every `pub` item can be reached.
//! Fields and variants are covered by the examples of their type.

use std::path::{Path, PathBuf};
use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, TraitItem, Visibility};

/// The crates that users may import, and the generator of programs.
const CRATES: &[&str] = &[
    "crates/whippet",
    "crates/macros",
    "crates/model",
    "crates/report",
    "crates/search",
    "crates/actors",
    "crates/subjects",
    "crates/net",
    "crates/abs",
    "dev/generate",
];

#[test]
fn every_public_item_has_an_example_that_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut without = Vec::new();
    let mut count = 0;
    for name in CRATES {
        for file in sources(&root.join(name).join("src")) {
            let source = std::fs::read_to_string(&file).unwrap();
            let parsed = syn::parse_file(&source).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut walk = Walk::default();
            walk.items(&parsed.items);
            count += walk.count;
            let file = file.strip_prefix(root).unwrap().display();
            without.extend(walk.without().map(|item| format!("  {file}: {item}")));
        }
    }
    assert!(count > 0, "the walk found no public item at all: it must be wrong");
    assert!(
        without.is_empty(),
        "{} of {count} public items have no example that runs:\n{}",
        without.len(),
        without.join("\n")
    );
}

/// Returns all Rust files below a directory, in a fixed order.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            files.extend(sources(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            files.push(entry);
        }
    }
    files
}

/// The public items of one file, and the examples of its types.
#[derive(Default)]
struct Walk {
    count: usize,
    /// The types and traits, each with the code of its examples.
    types: Vec<(String, String)>,
    /// The items without an example of their own: the type they belong to, if any, and their name.
    bare: Vec<(Option<String>, String)>,
}

impl Walk {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Struct(it) => self.item(&it.vis, &it.attrs, &it.ident, true),
                Item::Enum(it) => self.item(&it.vis, &it.attrs, &it.ident, true),
                Item::Union(it) => self.item(&it.vis, &it.attrs, &it.ident, true),
                Item::Type(it) => self.item(&it.vis, &it.attrs, &it.ident, false),
                Item::Const(it) => self.item(&it.vis, &it.attrs, &it.ident, false),
                Item::Static(it) => self.item(&it.vis, &it.attrs, &it.ident, false),
                Item::Fn(it) => self.item(&it.vis, &it.attrs, &it.sig.ident, false),
                Item::Macro(it) if it.attrs.iter().any(|a| a.path().is_ident("macro_export")) => {
                    let name = it.ident.as_ref().expect("an exported macro has a name");
                    self.item(&Visibility::Public(Default::default()), &it.attrs, name, false);
                }
                Item::Trait(it) => {
                    self.item(&it.vis, &it.attrs, &it.ident, true);
                    if public(&it.vis, &it.attrs) {
                        for inner in &it.items {
                            self.in_trait(&it.ident.to_string(), inner);
                        }
                    }
                }
                Item::Impl(it) if it.trait_.is_none() => {
                    let syn::Type::Path(of) = &*it.self_ty else { continue };
                    let of = of.path.segments.last().expect("a path is not empty").ident.to_string();
                    for inner in &it.items {
                        match inner {
                            ImplItem::Fn(f) => self.member(&of, &f.vis, &f.attrs, &f.sig.ident),
                            ImplItem::Const(c) => self.member(&of, &c.vis, &c.attrs, &c.ident),
                            _ => {}
                        }
                    }
                }
                Item::Mod(it) if !only_in_tests(&it.attrs) => {
                    let Some((_, inner)) = &it.content else { continue };
                    self.item(&it.vis, &it.attrs, &it.ident, false);
                    self.items(inner);
                }
                _ => {}
            }
        }
    }

    fn in_trait(&mut self, of: &str, item: &TraitItem) {
        let public = Visibility::Public(Default::default());
        match item {
            TraitItem::Fn(f) => self.member(of, &public, &f.attrs, &f.sig.ident),
            TraitItem::Const(c) => self.member(of, &public, &c.attrs, &c.ident),
            TraitItem::Type(t) => self.member(of, &public, &t.attrs, &t.ident),
            _ => {}
        }
    }

    fn item(&mut self, vis: &Visibility, attrs: &[Attribute], name: &syn::Ident, has_members: bool) {
        if !public(vis, attrs) {
            return;
        }
        let code = examples(attrs);
        self.count += 1;
        if code.is_empty() {
            self.bare.push((None, name.to_string()));
        }
        if has_members {
            self.types.push((name.to_string(), code));
        }
    }

    fn member(&mut self, of: &str, vis: &Visibility, attrs: &[Attribute], name: &syn::Ident) {
        if !public(vis, attrs) {
            return;
        }
        self.count += 1;
        if examples(attrs).is_empty() {
            self.bare.push((Some(of.to_owned()), name.to_string()));
        }
    }

    /// Returns the items that no example shows.
    fn without(&self) -> impl Iterator<Item = String> + '_ {
        self.bare.iter().filter_map(|(of, name)| match of {
            None => Some(name.clone()),
            Some(of) => {
                let shown = self.types.iter().any(|(known, code)| known == of && uses(code, name));
                (!shown).then(|| format!("{of}::{name}"))
            }
        })
    }
}

fn public(vis: &Visibility, attrs: &[Attribute]) -> bool {
    let hidden = attrs.iter().any(|a| {
        a.path().is_ident("doc") && matches!(&a.meta, Meta::List(list) if list.tokens.to_string().contains("hidden"))
    });
    matches!(vis, Visibility::Public(_)) && !hidden && !only_in_tests(attrs)
}

fn only_in_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|a| a.path().is_ident("cfg") && matches!(&a.meta, Meta::List(l) if l.tokens.to_string() == "test"))
}

/// Returns the code of the examples in doc comments that are run.
fn examples(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|a| match &a.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let (mut code, mut fenced, mut runs) = (String::new(), false, false);
    for line in lines {
        if let Some(tags) = line.trim().strip_prefix("```") {
            fenced = !fenced;
            runs = fenced && matches!(tags, "" | "rust" | "should_panic" | "no_run");
        } else if runs {
            code.push_str(&line);
            code.push('\n');
        }
    }
    code
}

/// Returns `true` if the code contains a name as a whole word.
fn uses(code: &str, name: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}
