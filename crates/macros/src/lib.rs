//! The attribute #[whippet::test].
