//! Checks the dependencies between the crates of the workspace.

use std::collections::BTreeMap;
use std::process::Command;

/// Returns, for each crate, the workspace crates that it may use. Machines use no search, searches use no program.
fn allowed() -> BTreeMap<&'static str, &'static [&'static str]> {
    const MODEL: &str = "whippet-model";
    const SEARCH: &str = "whippet-search";
    const REPORT: &str = "whippet-report";
    const ACTORS: &str = "whippet-actors";
    const EXPLORER: &str = "whippet-explorer";
    BTreeMap::from([
        (MODEL, &[][..]),
        (SEARCH, &[MODEL]),
        (ACTORS, &[MODEL]),
        ("whippet-net", &[MODEL, SEARCH]),
        ("whippet-abs", &[MODEL, SEARCH]),
        (REPORT, &[MODEL, SEARCH]),
        ("whippet-macros", &[]),
        ("whippet", &[ACTORS, EXPLORER, "whippet-macros", MODEL, REPORT, SEARCH, "whippet-protocol"]),
        ("whippet-subjects", &["whippet", MODEL, SEARCH]),
        ("whippet-generate", &["whippet", ACTORS, MODEL, SEARCH]),
        (EXPLORER, &[MODEL, REPORT, SEARCH]),
        (
            "whippet-cli",
            &["whippet", ACTORS, "whippet-abs", EXPLORER, MODEL, "whippet-net", REPORT, SEARCH, "whippet-subjects"],
        ),
        ("whippet-runtime", &[MODEL, REPORT, SEARCH]),
        ("whippet-tokio-macros", &[]),
        ("whippet-std", &[MODEL, "whippet-runtime"]),
        ("whippet-core", &["whippet-std"]),
        // A shim, too.
        ("parking_lot", &["whippet-runtime", "whippet-std"]),
        // The shim is a package of the name `tokio`. Tests depend on the real one of that name as well.
        ("tokio", &[EXPLORER, MODEL, REPORT, SEARCH, "whippet-protocol", "whippet-runtime", "whippet-tokio-macros"]),
        ("whippet-protocol", &[MODEL, REPORT, SEARCH]),
        ("conformance", &["tokio", MODEL, SEARCH, "whippet-runtime"]),
        ("libraries", &["tokio", MODEL, REPORT, SEARCH, "whippet-runtime"]),
        // Tests of the repository itself.
        ("policy", &[]),
        // The reference model judges the others and shares no code with them.
        ("tokio-reference", &[]),
        ("tokio-judge", &["tokio", "tokio-reference", MODEL, SEARCH, "whippet-runtime"]),
        ("abs-wild", &["whippet-abs", MODEL, SEARCH]),
        ("mbi", &["whippet-net", MODEL, SEARCH]),
        ("growth", &["whippet", "whippet-abs", "whippet-net", REPORT]),
        ("whippet-pages", &["tokio", "whippet", EXPLORER, MODEL, "whippet-net", REPORT, "whippet-runtime", SEARCH]),
        ("cargo-whippet", &[MODEL, REPORT, SEARCH, "whippet-protocol"]),
    ])
}

#[test]
fn crates_depend_only_in_the_directions_of_the_architecture() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let names: Vec<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let allowed = allowed();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let may = allowed.get(name).unwrap_or_else(|| panic!("say in this test what {name} may depend on"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            // Dependencies of tests only are not restricted.
            if dependency["kind"].is_null() && names.contains(&on) {
                assert!(may.contains(&on), "{name} must not depend on {on}: see ARCHITECTURE.md");
            }
        }
    }
}
