//! ABS: front end, interpreter as a machine, static summaries.
