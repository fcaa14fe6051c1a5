//! The papers' programs, with the published and the true counts beside each.
