//! Whippet's native actors and the machine that runs them.
