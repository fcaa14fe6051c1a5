//! The smallest program (figure 3.10 of the Basset dissertation): one actor that says hello.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "helloworld",
    about: "one actor that says hello",
    parameters: &[],
    reconstructed: None,
    body: |_| {
        body(|sys| {
            let greeter = sys.spawn(Greeter { said: None });
            sys.send(greeter, Greet);
        })
    },
};

#[derive(Clone, Debug, Hash)]
struct Greeter {
    said: Option<&'static str>,
}

#[derive(Clone, Debug, Hash)]
struct Greet;

impl Actor for Greeter {
    type Msg = Greet;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, _: Greet, _: &mut Cx<Self>) {
        self.said = Some("Hello World");
    }
}
