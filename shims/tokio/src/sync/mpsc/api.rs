//! The API that bounded and unbounded channels have in common, under different type names.

/// Defines the receiver `$name`, the sender `$sender` and the weak sender `$weak` of one kind of channel.
macro_rules! channel_kind {
    ($name:ident, $sender:ident, $weak:ident) => {
        pub struct $name<T>(Rx<T>);
        pub struct $sender<T> {
            pub(super) chan: Arc<Queue<T>>,
        }
        pub struct $weak<T> {
            chan: Arc<Queue<T>>,
        }
        impl<T> $name<T> {
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> + use<'_, T> {
                let place = Location::caller();
                poll_fn(move |cx| self.0.poll_recv(cx, place))
            }
            #[track_caller]
            pub fn recv_many<'a>(
                &'a mut self,
                buffer: &'a mut Vec<T>,
                limit: usize,
            ) -> impl Future<Output = usize> + use<'a, T> {
                let place = Location::caller();
                poll_fn(move |cx| self.0.poll_recv_many(cx, buffer, limit, place))
            }
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                self.0.poll_recv(cx, Location::caller())
            }
            #[track_caller]
            pub fn poll_recv_many(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
                self.0.poll_recv_many(cx, buffer, limit, Location::caller())
            }
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.0.try_recv(Location::caller())
            }
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                $crate::task::blocking::check_blocking();
                self.0.chan.take_here(Location::caller())
            }
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                $crate::task::blocking::check_blocking();
                whippet_runtime::block_on_here(self.recv_many(buffer, limit)).unwrap_or(0)
            }
            #[track_caller]
            pub fn close(&mut self) {
                self.0.chan.close(Location::caller());
            }
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.0.chan.has_ended(Location::caller())
            }
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.0.chan.len(Location::caller()) == 0
            }
            #[track_caller]
            pub fn len(&self) -> usize {
                self.0.chan.len(Location::caller())
            }
            #[track_caller]
            pub fn sender_strong_count(&self) -> usize {
                self.0.chan.senders.strong_count(Location::caller())
            }
            #[track_caller]
            pub fn sender_weak_count(&self) -> usize {
                self.0.chan.senders.weak_count(Location::caller())
            }
        }
        opaque!($name $sender $weak);
        impl<T> Clone for $sender<T> {
            #[track_caller]
            fn clone(&self) -> $sender<T> {
                self.chan.senders.clone_one(Location::caller());
                $sender { chan: self.chan.clone() }
            }
        }
        impl<T> Drop for $sender<T> {
            #[track_caller]
            fn drop(&mut self) {
                self.chan.senders.drop_one(Location::caller());
            }
        }
        impl<T> $sender<T> {
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                event(Action::new(whippet_runtime::Point::LooksAtChannel, self.chan.object, Location::caller()));
                read(self.chan.object.part(Part::Closed));
                self.chan.is_closed()
            }
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
                let place = Location::caller();
                let mut waiter = Waiter::new();
                poll_fn(move |cx| {
                    let action = Action::new(whippet_runtime::Point::WaitsForEnd, self.chan.object, place);
                    waiter.poll(cx, || (self.chan.to_close(), action))
                })
            }
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.chan, &other.chan)
            }
            #[track_caller]
            pub fn downgrade(&self) -> $weak<T> {
                self.chan.senders.clone_weak(Location::caller());
                $weak { chan: self.chan.clone() }
            }
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.chan.senders.strong_count(Location::caller())
            }
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                self.chan.senders.weak_count(Location::caller())
            }
        }
        impl<T> $weak<T> {
            #[track_caller]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                self.chan.senders.upgrade(Location::caller()).then(|| $sender { chan: self.chan.clone() })
            }
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.chan.senders.strong_count(Location::caller())
            }
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                self.chan.senders.weak_count(Location::caller())
            }
        }
        impl<T> Clone for $weak<T> {
            #[track_caller]
            fn clone(&self) -> $weak<T> {
                self.chan.senders.clone_weak(Location::caller());
                $weak { chan: self.chan.clone() }
            }
        }
        impl<T> Drop for $weak<T> {
            #[track_caller]
            fn drop(&mut self) {
                self.chan.senders.drop_weak(Location::caller());
            }
        }
    };
}
