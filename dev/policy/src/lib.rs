//! Rules that hold for all packages of the repository, and for their dependencies. They are tests: see `tests`.
