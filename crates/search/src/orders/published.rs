//! The sort behind the published numbers of `sgr`. A comparator that is not transitive gives different results with
//! different sorting algorithms, so this one makes the same comparisons: insertion sort below seven elements, merge
//! sort above.

use std::cmp::Ordering;

/// The length from which on halves are merged.
const MERGE: usize = 7;

/// Sorts `list`, with `scratch` as temporary memory.
pub(super) fn sort<T: Copy>(list: &mut [T], scratch: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering + Copy) {
    scratch.clear();
    scratch.extend_from_slice(list);
    merge(scratch, list, compare);
}

/// Sorts into `to` the elements that both slices contain.
fn merge<T: Copy>(from: &mut [T], to: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Copy) {
    if to.len() < MERGE {
        for i in 0..to.len() {
            let mut j = i;
            while j > 0 && compare(&to[j - 1], &to[j]) == Ordering::Greater {
                to.swap(j - 1, j);
                j -= 1;
            }
        }
        return;
    }
    let middle = to.len() / 2;
    let (to_low, to_high) = to.split_at_mut(middle);
    let (from_low, from_high) = from.split_at_mut(middle);
    merge(to_low, from_low, compare);
    merge(to_high, from_high, compare);
    if compare(&from[middle - 1], &from[middle]) != Ordering::Greater {
        to.copy_from_slice(from);
        return;
    }
    let (mut low, mut high) = (0, middle);
    for place in to {
        let take_low = high >= from.len() || low < middle && compare(&from[low], &from[high]) != Ordering::Greater;
        let next = if take_low { &mut low } else { &mut high };
        *place = from[*next];
        *next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn a_transitive_comparator_is_sorted_stably() {
        for n in 0..40usize {
            let mut list: Vec<(usize, usize)> = (0..n).map(|i| (i * 7919 % 5, i)).collect();
            let mut stable = list.clone();
            stable.sort_by_key(|x| x.0);
            sort(&mut list, &mut Vec::new(), |a, b| a.0.cmp(&b.0));
            assert_eq!(list, stable);
        }
    }
}
