//! `order=`: the order of an array's elements in memory, and in iteration.

use super::array::NdArray;
use super::errors;
use super::layout::Layout;
use crate::value::{Result, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last axis changes fastest.
    C,
    /// The first axis changes fastest.
    F,
    /// `F` if the array is stored so, else `C`.
    A,
    /// The array's order in memory.
    K,
}

impl Order {
    /// The order that an argument `order` names.
    pub fn from_argument(value: Option<&Value>, default: Order) -> Result<Order> {
        let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(default) };
        Ok(match value.as_str() {
            Some("C" | "c") => Order::C,
            Some("F" | "f") => Order::F,
            Some("A" | "a") => Order::A,
            Some("K" | "k") => Order::K,
            Some(other) => return Err(errors::bad_order(other)),
            None => return Err(errors::order_not_text(value)),
        })
    }

    /// The axes of a layout, from the one that changes slowest.
    pub fn axes(self, layout: &Layout) -> Vec<usize> {
        let mut axes: Vec<usize> = (0..layout.n_axes()).collect();
        match self {
            Order::C => {}
            Order::F => axes.reverse(),
            Order::A if layout.is_fortran() && !layout.is_contiguous() => axes.reverse(),
            Order::A => {}
            Order::K => axes.sort_by_key(|&axis| std::cmp::Reverse(layout.strides[axis].unsigned_abs())),
        }
        axes
    }
}

impl NdArray {
    /// A copy whose elements are in an order.
    pub fn copied_in(&self, order: Order) -> Result<NdArray> {
        let axes = order.axes(self.layout());
        let moved = self.clone().with_layout(self.layout().permute(&axes));
        let copy = moved.copied(moved.shape())?;
        let layout = copy.layout().permute(&inverse(&axes));
        Ok(copy.with_layout(layout))
    }

    /// The same array if its elements are in an order already, else a copy.
    pub fn in_order(self, order: Order) -> Result<NdArray> {
        let lies_so = match order {
            Order::C => self.layout().is_contiguous(),
            Order::F => self.layout().is_fortran(),
            Order::A => self.layout().is_contiguous() || self.layout().is_fortran(),
            Order::K => true,
        };
        if lies_so { Ok(self) } else { self.copied_in(order) }
    }

    /// A view with permuted axes: C order in the view is another order in the array.
    pub fn arranged(&self, order: Order) -> NdArray {
        let axes = order.axes(self.layout());
        self.clone().with_layout(self.layout().permute(&axes))
    }
}

/// The inverse of a permutation.
fn inverse(axes: &[usize]) -> Vec<usize> {
    let mut back = vec![0; axes.len()];
    for (at, &axis) in axes.iter().enumerate() {
        back[axis] = at;
    }
    back
}
