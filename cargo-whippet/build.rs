//! Embeds the sources of the shim in the binary, so that it works without a clone of the repository.
//!
//! They are in `embedded`, which has links to the packages of this repository. Cargo follows them when it packages
//! `cargo-whippet`, so the published package has the files themselves. A manifest is called `manifest.toml` there,
//! because cargo leaves out directories with a `Cargo.toml`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("embedded");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, Path::new(""), &mut files);
    files.sort();
    let mut code = String::from("pub(crate) static FILES: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.to_str().expect("our file names are plain").replace('\\', "/");
        let name = name.replace("manifest.toml", "Cargo.toml");
        writeln!(code, "    ({name:?}, include_str!({:?})),", root.join(file)).expect("strings take everything");
    }
    code += "];\n";
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("sources.rs"), code).expect("the output directory can be written");
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(root.join(directory)).unwrap_or_else(|error| {
        panic!("cannot read embedded/{}: {error}; does git make links here?", directory.display())
    });
    for entry in entries {
        let path = directory.join(entry.expect("the directory can be read").file_name());
        if !root.join(&path).is_dir() {
            files.push(path);
            continue;
        }
        // Cargo looks for changes in a directory but not behind links.
        println!("cargo::rerun-if-changed={}", root.join(&path).canonicalize().expect("it was just read").display());
        collect(root, &path, files);
    }
}
