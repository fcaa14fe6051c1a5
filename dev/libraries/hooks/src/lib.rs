//! Actors of two libraries that keep part of their state in memory that tokio does not see.
