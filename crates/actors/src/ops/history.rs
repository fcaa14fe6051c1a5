//! The operations by which every actor records what it does on an object.
//!
//! See [`actor_ops`](super::actor_ops) for why these are macros.

/// Defines the methods that record a history.
macro_rules! history_ops {
    () => {
        /// Records in a history that this actor invokes an operation: see [`History`](crate::History). An actor performs one
        /// operation at a time.
        ///
        /// ```
        /// # use whippet::{Answer, Counter, CounterOp, prelude::*};
        /// # whippet::check(|sys| {
        /// let history = sys.linearizable(Counter::default());
        /// # sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        /// cx.invoked(history, CounterOp::Add(1));
        /// // Here, the actor asks the object under test.
        /// cx.returned(history, Answer::Done);
        /// # });
        /// # });
        /// ```
        pub fn invoked<S: $crate::Sequential>(&mut self, history: $crate::History<S>, op: S::Op) {
            self.context.engine.borrow_mut().record_end(history, op, false);
        }

        /// Records in a history that the operation that this actor invoked last has returned.
        ///
        /// ```
        /// # use whippet::{Answer, Register, RegisterOp, prelude::*};
        /// let failure = Checker::new("forgetful").try_check(|sys| {
        ///     let history = sys.linearizable(Register::new(1));
        ///     let client = sys.spawn_fn(async move |cx: &mut Inbox<u32>| {
        ///         cx.invoked(history, RegisterOp::Read);
        ///         let value = cx.receive().await;
        ///         cx.returned(history, Answer::Value(value));
        ///     });
        ///     sys.send(client, 2);
        /// }).unwrap_err().to_string();
        /// assert!(failure.contains("then Read of actor would return Value(1), not Value(2)"), "{failure}");
        /// ```
        pub fn returned<S: $crate::Sequential>(&mut self, history: $crate::History<S>, ret: S::Ret) {
            self.context.engine.borrow_mut().record_end(history, ret, true);
        }
    };
}

pub(crate) use history_ops;
