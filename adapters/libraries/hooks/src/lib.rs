//! Actors of two libraries, which keep part of their state where tokio does not see it.
