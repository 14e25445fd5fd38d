//! `sorted` and `list.sort`: stable, with `key` and `reverse`; comparisons may be scripts and may fail.
//!
//! This is a separate merge sort, because Rust's may panic when a script's comparison is inconsistent. It
//! merges indices, so an error amid sorting loses no item.

use std::cmp::Ordering;

use super::list;
use super::support::{flag, given};
use crate::errors;
use crate::ops::order;
use crate::value::{Args, CompareOp, Result, Value};
use crate::vm::Vm;

/// Runs of this many items are sorted by insertion.
const RUN: usize = 12;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// `sorted(iterable, *, key=None, reverse=False)`.
pub fn sorted(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("sorted");
    let items = parser.positional("iterable")?;
    let (key, reverse) = (given(parser.keyword_only("key")), parser.keyword_only("reverse"));
    parser.finish()?;
    let items = vm.collect(items)?;
    let direction = direction(vm, reverse)?;
    Ok(Value::list(sort(vm, items, key, direction).map_err(|(raise, _)| raise)?))
}

/// `list.sort(*, key=None, reverse=False)`. The list is empty meanwhile, so a script that changes it is
/// detected.
pub fn list_sort(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("sort");
    let (key, reverse) = (given(parser.keyword_only("key")), parser.keyword_only("reverse"));
    parser.finish()?;
    let direction = direction(vm, reverse)?;
    let list = list::this(args)?;
    let items = std::mem::take(&mut *list.borrow_mut());
    let (items, result) = match sort(vm, items, key, direction) {
        Ok(items) => (items, Ok(Value::None)),
        Err((raise, items)) => (items, Err(raise)),
    };
    let meanwhile = std::mem::replace(&mut *list.borrow_mut(), items);
    if result.is_ok() && !meanwhile.is_empty() {
        return Err(errors::value_error("list modified during sort"));
    }
    result
}

fn direction(vm: &mut Vm, reverse: Option<&Value>) -> Result<Direction> {
    Ok(if flag(vm, reverse, false)? { Direction::Descending } else { Direction::Ascending })
}

/// The sorted items; on an error they are returned in their original order.
pub fn sort(
    vm: &mut Vm,
    items: Vec<Value>,
    key: Option<&Value>,
    direction: Direction,
) -> std::result::Result<Vec<Value>, (crate::value::Raise, Vec<Value>)> {
    let keys = match key {
        None => None,
        Some(key) => match items.iter().map(|item| vm.call(key, std::slice::from_ref(item))).collect() {
            Ok(keys) => Some::<Vec<Value>>(keys),
            Err(raise) => return Err((raise, items)),
        },
    };
    let order = match order_of(vm, keys.as_deref().unwrap_or(&items), direction) {
        Ok(order) => order,
        Err(raise) => return Err((raise, items)),
    };
    let mut items: Vec<Option<Value>> = items.into_iter().map(Some).collect();
    Ok(order.into_iter().map(|at| items[at].take().expect("an order names each item once")).collect())
}

/// The positions of the keys in sorted order.
fn order_of(vm: &mut Vm, keys: &[Value], direction: Direction) -> Result<Vec<usize>> {
    crate::memory::grant_items::<usize>(keys.len())?;
    let mut order: Vec<usize> = (0..keys.len()).collect();
    if let Some(compare) = plain_comparison(keys) {
        order::sort_by(&mut order, |&left, &right| match direction {
            Direction::Ascending => compare(&keys[left], &keys[right]),
            Direction::Descending => compare(&keys[right], &keys[left]),
        })?;
        return Ok(order);
    }
    Sorter { vm, keys, direction }.sort(&mut order)?;
    Ok(order)
}

/// A comparison that needs no script, when all keys are of one plain type.
fn plain_comparison(keys: &[Value]) -> Option<fn(&Value, &Value) -> Ordering> {
    if keys.iter().all(|key| matches!(key, Value::Int(_))) {
        return Some(|left, right| match (left, right) {
            (Value::Int(left), Value::Int(right)) => left.cmp(right),
            _ => Ordering::Equal,
        });
    }
    if keys.iter().all(|key| matches!(key, Value::Str(_))) {
        return Some(|left, right| match (left, right) {
            (Value::Str(left), Value::Str(right)) => left.as_str().cmp(right.as_str()),
            _ => Ordering::Equal,
        });
    }
    // NaN has no order: with a NaN, the result is that of CPython's comparisons.
    if keys.iter().all(|key| matches!(key, Value::Float(float) if !float.is_nan())) {
        return Some(|left, right| match (left, right) {
            (Value::Float(left), Value::Float(right)) => left.partial_cmp(right).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        });
    }
    None
}

struct Sorter<'a> {
    vm: &'a mut Vm,
    keys: &'a [Value],
    direction: Direction,
}

impl Sorter<'_> {
    /// Whether the key at `left` must precede the one at `right`, which currently precedes it.
    fn is_before(&mut self, left: usize, right: usize) -> Result<bool> {
        self.vm.poll()?;
        let (left, right) = match self.direction {
            Direction::Ascending => (left, right),
            Direction::Descending => (right, left),
        };
        let less = self.vm.compare(CompareOp::Less, &self.keys[left], &self.keys[right])?;
        self.vm.truth(&less)
    }

    fn sort(&mut self, order: &mut Vec<usize>) -> Result<()> {
        let n_items = order.len();
        for start in (0..n_items).step_by(RUN) {
            self.insert_all(&mut order[start..(start + RUN).min(n_items)])?;
        }
        let mut width = RUN;
        let mut merged = Vec::with_capacity(n_items);
        while width < n_items {
            merged.clear();
            for start in (0..n_items).step_by(2 * width) {
                let middle = (start + width).min(n_items);
                let end = (start + 2 * width).min(n_items);
                self.merge(&order[start..middle], &order[middle..end], &mut merged)?;
            }
            std::mem::swap(order, &mut merged);
            width *= 2;
        }
        Ok(())
    }

    /// Sorts a short run by insertion: each item goes after the last one that it does not precede.
    fn insert_all(&mut self, run: &mut [usize]) -> Result<()> {
        for at in 1..run.len() {
            let item = run[at];
            if !self.is_before(item, run[at - 1])? {
                continue;
            }
            let (mut low, mut high) = (0, at - 1);
            while low < high {
                let middle = (low + high) / 2;
                if self.is_before(item, run[middle])? { high = middle } else { low = middle + 1 }
            }
            run[low..=at].rotate_right(1);
        }
        Ok(())
    }

    fn merge(&mut self, left: &[usize], right: &[usize], merged: &mut Vec<usize>) -> Result<()> {
        let (Some(&last), Some(&first)) = (left.last(), right.first()) else {
            merged.extend_from_slice(left);
            return Ok(());
        };
        // Parts that are in order already cost one comparison.
        if !self.is_before(first, last)? {
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
            return Ok(());
        }
        let (mut left, mut right) = (left, right);
        while let ([left_item, left_rest @ ..], [right_item, right_rest @ ..]) = (left, right) {
            if self.is_before(*right_item, *left_item)? {
                merged.push(*right_item);
                right = right_rest;
            } else {
                merged.push(*left_item);
                left = left_rest;
            }
        }
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
        Ok(())
    }
}
