//! Licences and duplicates among all dependencies, by the lists in `deny.toml`, and what published packages must have.
//!
//! This is the part of `cargo deny check` that needs neither a network nor a tool that takes long to build.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use toml_edit::{DocumentMut, Item};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// Returns the platform of this machine: the packages for others may not have been downloaded.
fn host() -> String {
    let output = Command::new(env!("CARGO")).arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_string()
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &host()])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn rules() -> DocumentMut {
    std::fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap()
}

fn list(item: &Item) -> Vec<&toml_edit::Value> {
    item.as_array().unwrap().iter().collect()
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

#[test]
fn all_licences_are_allowed() {
    let rules = rules();
    let allowed: Vec<spdx::Expression> = list(&rules["licenses"]["allow"])
        .iter()
        .map(|name| spdx::Expression::parse(name.as_str().unwrap()).unwrap())
        .collect();
    let allows =
        |wanted: &spdx::LicenseReq| allowed.iter().any(|known| known.requirements().any(|known| known.req == *wanted));
    let refused: Vec<String> = packages()
        .iter()
        .filter(|package| {
            let expression = spdx::Expression::parse_mode(text(package, "license"), spdx::ParseMode::LAX);
            !expression.is_ok_and(|expression| expression.evaluate(allows))
        })
        .map(|package| format!("{} {}: {}", text(package, "name"), package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "licences that deny.toml does not allow:\n{}", refused.join("\n"));
}

#[test]
fn duplicates_are_known() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let lock: DocumentMut = std::fs::read_to_string(root().join("Cargo.lock")).unwrap().parse().unwrap();
    for package in lock["package"].as_array_of_tables().unwrap() {
        let text = |key: &str| package[key].as_str().unwrap().to_string();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    let rules = rules();
    for skip in list(&rules["bans"]["skip"]) {
        let skip = skip.as_inline_table().unwrap()["crate"].as_str().unwrap();
        let (name, version) = skip.split_once('@').unwrap();
        let known = versions.get_mut(name).filter(|known| known.len() > 1);
        let before = known.as_ref().map_or(0, |known| known.len());
        let after = known.map_or(0, |known| {
            known.retain(|known| known != version && !known.starts_with(&format!("{version}.")));
            known.len()
        });
        assert!(after < before, "{skip} is in deny.toml but is no duplicate");
    }
    versions.retain(|_, versions| versions.len() > 1);
    assert!(versions.is_empty(), "several versions of these packages, which deny.toml does not skip: {versions:?}");
}

#[test]
fn published_packages_are_complete() {
    let own: Vec<Value> = packages().into_iter().filter(|package| package["source"].is_null()).collect();
    let published: Vec<&Value> = own.iter().filter(|package| package["publish"].is_null()).collect();
    assert!(published.iter().any(|package| package["name"] == "whippet"));
    for package in &own {
        let directory = Path::new(text(package, "manifest_path")).parent().unwrap();
        let private = ["dev", "bench"].iter().any(|folder| directory.starts_with(root().join(folder)))
            || ["tokio", "parking_lot"].contains(&text(package, "name"));
        assert_eq!(private, !package["publish"].is_null(), "{}: is it published?", package["name"]);
    }
    for package in published {
        let name = text(package, "name");
        for key in ["description", "repository", "license", "readme", "rust_version"] {
            assert!(!text(package, key).is_empty(), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            let count = package[key].as_array().unwrap().len();
            assert!((1..=5).contains(&count), "{name} has {count} {key}");
        }
        let directory = Path::new(text(package, "manifest_path")).parent().unwrap();
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(directory.join(file).exists(), "{name} has no {file}");
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            // A dev-dependency without a version is left out of the package, so it cannot be part of a circle.
            let by_path = !dependency["path"].is_null();
            let wanted =
                if dependency["kind"] == "dev" { "*".into() } else { format!("={}", text(package, "version")) };
            assert!(!by_path || dependency["req"] == *wanted, "{name} requires {dependency}, expected {wanted}");
        }
    }
}

/// Packages with `autotests = false` have one test binary, `tests/all.rs`. A file that it does not name would never run.
#[test]
fn no_test_is_left_out() {
    let mut checked = 0;
    for package in packages().iter().filter(|package| package["source"].is_null()) {
        let manifest = Path::new(text(package, "manifest_path"));
        let directory = manifest.parent().unwrap().join("tests");
        let parsed: DocumentMut = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
        if parsed["package"].get("autotests").is_none() {
            continue;
        }
        let all = std::fs::read_to_string(directory.join("all.rs")).unwrap();
        let targets = package["targets"].as_array().unwrap();
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_test = path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").exists();
            let named = all.contains(&format!("mod {name};")) || all.contains(&format!("\"{name}.rs\""));
            let alone = targets.iter().any(|target| target["kind"][0] == "test" && target["name"] == name);
            assert!(!is_test || named || alone, "{} is not in tests/all.rs", path.display());
            checked += usize::from(is_test);
        }
    }
    assert!(checked > 0, "no package has a test file: this test must be wrong");
}
