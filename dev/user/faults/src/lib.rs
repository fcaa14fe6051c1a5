//! A library without code: its tests end their process, or depend on state that survives an execution.
