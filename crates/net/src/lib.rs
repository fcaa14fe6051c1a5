//! Mailbox-and-mutex programs, their machine and the unfolding search's relation.
