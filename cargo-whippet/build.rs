//! Embeds the sources of the shim in the binary, so that it works after the repository's clone is deleted.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The shim and the packages of this repository from which it is built.
const PARTS: [&str; 8] = [
    "crates/model",
    "crates/search",
    "crates/report",
    "runtime",
    "shims/macros",
    "shims/std",
    "shims/core",
    "shims/tokio",
];

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.join("..").canonicalize().expect("the workspace is one level up");
    let mut files = vec![PathBuf::from("Cargo.toml")];
    for part in PARTS {
        files.push(Path::new(part).join("Cargo.toml"));
        collect(&root, &Path::new(part).join("src"), &mut files);
        println!("cargo::rerun-if-changed={}", root.join(part).display());
    }
    files.sort();
    let mut code = String::from("pub(crate) static FILES: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.to_str().expect("our file names are plain").replace('\\', "/");
        writeln!(code, "    ({name:?}, include_str!({:?})),", root.join(file)).expect("strings take everything");
    }
    code += "];\n";
    let parts: Vec<String> = PARTS[..7].iter().map(|part| format!("{part:?}")).collect();
    writeln!(code, "pub(crate) const MEMBERS: &str = {:?};", parts.join(", ")).expect("strings take everything");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("sources.rs"), code).expect("the output directory can be written");
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(root.join(directory)).expect("the sources are there");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("it can be read").file_name()).collect();
    names.sort();
    for name in names {
        let path = directory.join(name);
        if root.join(&path).is_dir() {
            collect(root, &path, files);
        } else {
            files.push(path);
        }
    }
}
