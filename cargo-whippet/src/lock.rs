//! The copy of the lock file in which the shim replaces tokio.

use crate::manifest;
use crate::project::Project;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::Stdio;

impl Project {
    /// Makes the copy of the lock file use the shim. The result is cached, because this takes a while.
    pub(crate) fn lock(&self) -> Result<(), String> {
        let from = self.root.join("Cargo.lock");
        let to = self.in_overlay(&from);
        let (kept, key_file) = (self.home.join("Cargo.lock"), self.home.join("Cargo.lock.key"));
        let key = {
            let mut hasher = DefaultHasher::new();
            (fs::read(&from).ok(), &self.layout.key, &self.root).hash(&mut hasher);
            format!("{:016x}", hasher.finish())
        };
        if fs::read_to_string(&key_file).is_ok_and(|known| known == key) && fs::copy(&kept, &to).is_ok() {
            return Ok(());
        }
        self.lock_anew(&from, &to)?;
        // If this fails, the copy is only made again the next time.
        let _ = fs::copy(&to, &kept).and_then(|_| fs::write(&key_file, key));
        Ok(())
    }

    fn lock_anew(&self, from: &Path, to: &Path) -> Result<(), String> {
        if from.exists() {
            fs::copy(from, to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
        } else {
            let mut command = self.cargo("generate-lockfile");
            command.arg("--manifest-path").arg(self.manifest());
            if !command.stderr(Stdio::inherit()).status().is_ok_and(|status| status.success()) {
                return Err("cargo could not resolve the dependencies".into());
            }
        }
        let versions = |name| Ok::<_, String>(manifest::locked(&manifest::parse(to)?, name));
        let tokios = versions("tokio")?;
        let Some(real) = tokios.iter().find(|version| version.starts_with("1.")) else {
            return match versions("whippet")?.is_empty() {
                true => Err("no package here depends on tokio 1 or on whippet: there is nothing to explore".into()),
                false => Ok(()),
            };
        };
        self.replace("tokio", real, &self.layout.version)?;
        // Other versions stay as they are: their locks are not seen.
        if let Some(real) = versions("parking_lot")?.iter().find(|version| version.starts_with("0.12.")) {
            self.replace("parking_lot", real, &self.layout.parking_lot_version)?;
        }
        Ok(())
    }

    /// Returns `true` if the packages depend on a version of parking_lot for which there is a shim. Without one, cargo
    /// would warn that the shim is not used.
    pub(crate) fn uses_parking_lot(&self) -> bool {
        let lock = manifest::parse(&self.in_overlay(&self.root.join("Cargo.lock")));
        lock.is_ok_and(|lock| manifest::locked(&lock, "parking_lot").iter().any(|version| version.starts_with("0.12.")))
    }

    /// Makes the copy of the lock file use `shim`, the version of the shim, instead of version `real` of a package.
    fn replace(&self, name: &str, real: &str, shim: &str) -> Result<(), String> {
        if real == shim {
            return Ok(());
        }
        let output = self
            .cargo("update")
            .arg("--manifest-path")
            .arg(self.manifest())
            .args(["-p", &format!("{name}@{real}"), "--precise", shim])
            .output()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("cargo cannot replace {name} {real} by the shim:\n{}", String::from_utf8_lossy(&output.stderr)))
    }
}
