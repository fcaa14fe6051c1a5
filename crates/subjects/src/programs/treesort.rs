//! Sorting by a tree of actors: quicksort and mergesort.
//!
//! A sorter whose list is not trivially sorted creates two further sorters, sends a part of the list to each, and
//! joins their results, in whatever order they arrive. Quicksort uses the first element as the pivot; the elements
//! equal to it go to the smaller part, on a tie to the right one, but always to a part that would be empty. Mergesort
//! splits in the middle. On boot, a quicksorter creates the first sorter, while a mergesorter sends the list to
//! itself.
//!
//! Scala: there is no boot message; the first sorter receives the list directly.

use super::java_random::JavaRandom;
use super::prelude::*;

pub(crate) const QUICKSORT: Subject = Subject {
    name: "quicksort",
    about: "a tree of actors that sorts by a pivot",
    parameters: &[SIZE, DATA, VARIANT],
    reconstructed: None,
    body: |settings| sort(settings, SortKind::Quick),
};

pub(crate) const MERGESORT: Subject = Subject {
    name: "mergesort",
    about: "a tree of actors that sorts by merging halves",
    parameters: &[Parameter { default: "4", ..SIZE }, DATA, VARIANT],
    reconstructed: None,
    body: |settings| sort(settings, SortKind::Merge),
};

const SIZE: Parameter = Parameter::new("n", "6", Values::Number(1, 12), "number of values, from the papers' generator");
const DATA: Parameter = Parameter::new(
    "data",
    "",
    Values::Checked(|text| numbers(text).map(|_| ())),
    "the numbers themselves instead: `4 0 3`",
);

/// Parses a list of numbers such as `4 0 3`.
fn numbers(text: &str) -> Result<Vec<i32>, String> {
    text.split([' ', ','])
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().map_err(|_| format!("`{word}` is not a number; expected a list like `4 0 3`")))
        .collect()
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum SortKind {
    Quick,
    Merge,
}

impl SortKind {
    /// Returns the numbers that the published programs sort.
    fn data(self, n: usize) -> Vec<i32> {
        match self {
            SortKind::Quick => JavaRandom::list(19 + n as u64, n, 100),
            SortKind::Merge => JavaRandom::list(12, n, (n * n) as i32),
        }
    }

    /// Splits a list into two parts. Returns `None` if the list is trivially sorted.
    fn split(self, list: &[i32]) -> Option<(Vec<i32>, Vec<i32>)> {
        match self {
            SortKind::Merge if list.len() <= 1 => None,
            SortKind::Merge => {
                let (left, right) = list.split_at(list.len() / 2);
                Some((left.to_vec(), right.to_vec()))
            }
            SortKind::Quick if list.iter().all(|x| *x == list[0]) => None,
            SortKind::Quick => {
                let part = |keep: fn(&i32, &i32) -> bool| list.iter().copied().filter(|x| keep(x, &list[0])).collect();
                let (mut left, middle, mut right): (Vec<_>, Vec<_>, Vec<_>) =
                    (part(|x, p| x < p), part(|x, p| x == p), part(|x, p| x > p));
                let to_right = !left.is_empty() && right.len() <= left.len() || right.is_empty();
                (if to_right { &mut right } else { &mut left }).extend(middle);
                Some((left, right))
            }
        }
    }

    /// Joins two lists into one sorted list.
    fn join(self, a: Vec<i32>, b: Vec<i32>) -> Vec<i32> {
        let mut all = [a, b].concat();
        all.sort_unstable();
        all
    }
}

#[derive(Clone, Debug, Hash)]
struct Sorter {
    kind: SortKind,
    caller: Option<Addr<Sorter>>,
    first: Option<Vec<i32>>,
}

#[derive(Clone, Debug, Hash)]
enum SorterMsg {
    Boot(Vec<i32>),
    Sort(Option<Addr<Sorter>>, Vec<i32>),
    Done(Vec<i32>),
}

impl Sorter {
    fn new(kind: SortKind) -> Sorter {
        Sorter { kind, caller: None, first: None }
    }

    fn answer(&self, sorted: Vec<i32>, cx: &mut Cx<Self>) {
        if let Some(caller) = self.caller {
            cx.send(caller, SorterMsg::Done(sorted));
        }
    }
}

impl Actor for Sorter {
    type Msg = SorterMsg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: SorterMsg, cx: &mut Cx<Self>) {
        match msg {
            SorterMsg::Boot(list) => {
                let first = if self.kind == SortKind::Quick { cx.spawn(Sorter::new(self.kind)) } else { cx.this() };
                cx.send(first, SorterMsg::Sort(None, list));
            }
            SorterMsg::Sort(caller, list) => {
                self.caller = caller;
                let Some((left, right)) = self.kind.split(&list) else { return self.answer(list, cx) };
                let sorters = [cx.spawn(Sorter::new(self.kind)), cx.spawn(Sorter::new(self.kind))];
                for (sorter, part) in sorters.into_iter().zip([left, right]) {
                    cx.send(sorter, SorterMsg::Sort(Some(cx.this()), part));
                }
            }
            SorterMsg::Done(list) => match self.first.take() {
                None => self.first = Some(list),
                Some(first) => self.answer(self.kind.join(first, list), cx),
            },
        }
    }
}

fn sort(settings: &Settings, kind: SortKind) -> Body {
    let mut data = numbers(settings.text("data")).expect("checked when it was set");
    if data.is_empty() {
        data = kind.data(settings.number("n"));
    }
    if settings.is_scala() {
        return body(move |sys| {
            let first = sys.spawn(Sorter::new(kind));
            sys.send(first, SorterMsg::Sort(None, data.clone()));
        });
    }
    body(move |sys| {
        let first = sys.spawn(Sorter::new(kind));
        sys.send(first, SorterMsg::Boot(data.clone()));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_elements_go_to_the_smaller_side() {
        assert_eq!(SortKind::Quick.split(&[4, 0, 3, 2, 1]), Some((vec![0, 3, 2, 1], vec![4])));
        assert_eq!(SortKind::Quick.split(&[0, 3]), Some((vec![0], vec![3])));
        assert_eq!(SortKind::Quick.split(&[2, 1, 3, 4]), Some((vec![1, 2], vec![3, 4])));
        assert_eq!(SortKind::Quick.split(&[2, 1, 3]), Some((vec![1], vec![3, 2])));
        assert_eq!(SortKind::Quick.split(&[7, 7]), None);
        assert_eq!(SortKind::Merge.split(&[1, 2, 3]), Some((vec![1], vec![2, 3])));
    }

    #[test]
    fn a_list_may_have_commas() {
        assert_eq!(numbers("4, 0 3"), Ok(vec![4, 0, 3]));
        assert!(numbers("4 x").unwrap_err().contains("`x` is not a number"));
    }
}
