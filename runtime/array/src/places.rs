//! The places of elements, as a kernel computes them from one index.
//!
//! The axes of an expression are merged where all its views allow it: views that lie in one piece have a single
//! axis, whatever their shape. What remains decides the text of the kernel; lengths and strides are parameters.

use kps_compute::Number;
use smallvec::SmallVec;

use crate::layout::{Layout, Strides};
use crate::shape::Shape;

/// The merged axes of an expression.
#[derive(Clone)]
pub struct Space {
    /// The lengths of the axes. Without an axis there is one element.
    pub lens: Shape,
    /// The strides of each view along these axes.
    strides: SmallVec<[Strides; 8]>,
    starts: SmallVec<[usize; 8]>,
}

impl Space {
    /// The space of views that all have this shape.
    pub fn of<'a>(shape: &[usize], layouts: impl Iterator<Item = &'a Layout>) -> Space {
        let layouts: SmallVec<[&Layout; 8]> = layouts.collect();
        let mut space = Space {
            lens: Shape::new(),
            strides: layouts.iter().map(|_| Strides::new()).collect(),
            starts: layouts.iter().map(|layout| layout.start).collect(),
        };
        for (axis, len) in shape.iter().copied().enumerate().filter(|(_, len)| *len != 1) {
            let merges = space.lens.last().is_some()
                && layouts.iter().zip(&space.strides).all(|(layout, strides)| {
                    let outer = *strides.last().expect("there is an axis");
                    outer == layout.strides[axis] * len as isize
                });
            if merges {
                *space.lens.last_mut().expect("there is an axis") *= len;
            } else {
                space.lens.push(len);
            }
            for (layout, strides) in layouts.iter().zip(&mut space.strides) {
                if merges {
                    *strides.last_mut().expect("there is an axis") = layout.strides[axis];
                } else {
                    strides.push(layout.strides[axis]);
                }
            }
        }
        space
    }

    pub fn size(&self) -> usize {
        self.lens.iter().product()
    }

    /// The first elements of a space of one axis, a multiple of `width`, and the others. A space of several axes
    /// stays whole.
    pub fn divided(self, width: usize) -> (Space, Option<Space>) {
        let [len] = self.lens[..] else { return (self, None) };
        let n_rest = len % width;
        if n_rest == 0 {
            return (self, None);
        }
        let n = len - n_rest;
        let moved =
            |(start, strides): (&usize, &Strides)| (*start as isize + n as isize * strides[0]) as usize;
        let starts = self.starts.iter().zip(&self.strides).map(moved).collect();
        let rest = Space { lens: Shape::from_slice(&[n_rest]), strides: self.strides.clone(), starts };
        (Space { lens: Shape::from_slice(&[n]), ..self }, Some(rest))
    }

    /// The space whose last axis counts vectors of neighbouring elements; `None` if a view has no vectors there,
    /// nor one element for each.
    pub fn in_vectors(&self, width: usize) -> Option<Vectors> {
        let (last, outer) = self.lens.split_last()?;
        let mut space = Space {
            lens: outer.iter().copied().chain([last / width]).collect(),
            strides: self.strides.clone(),
            starts: self.starts.clone(),
        };
        let mut are_vectors = SmallVec::new();
        for (start, strides) in space.starts.iter_mut().zip(&mut space.strides) {
            let (inner, others) = strides.split_last_mut()?;
            are_vectors.push(*inner == 1);
            if *inner == 1 {
                let is_aligned =
                    *start % width == 0 && others.iter().all(|stride| stride % width as isize == 0);
                if !is_aligned {
                    return None;
                }
                *start /= width;
                others.iter_mut().for_each(|stride| *stride /= width as isize);
            } else if *inner != 0 {
                return None;
            }
        }
        (last % width == 0).then_some(Vectors { space, are_vectors })
    }

    /// The type of indices, and the id of an invocation in it.
    pub fn index(&self) -> (&'static str, &'static str) {
        if self.is_narrow() { ("i32", "global_id.x") } else { ("i64", "global_id64.x") }
    }

    /// Whether the elements of a view lie one behind the other from its start on.
    fn is_flat(&self, view: usize) -> bool {
        let mut expected = 1;
        self.lens.iter().zip(&self.strides[view]).rev().all(|(len, stride)| {
            let is_next = *stride == expected;
            expected *= *len as isize;
            is_next
        })
    }

    /// Whether neighbouring elements of this space lie closer together than those of the other, for most views.
    pub fn is_inner_to(&self, other: &Space) -> bool {
        let closest = |strides: &Strides| {
            strides
                .iter()
                .map(|stride| stride.unsigned_abs())
                .filter(|stride| *stride > 0)
                .min()
                .unwrap_or(usize::MAX)
        };
        let pairs = self.strides.iter().zip(&other.strides);
        let inner = pairs.filter(|(own, others)| closest(own) <= closest(others)).count();
        2 * inner > self.strides.len()
    }

    /// Whether a 32-bit int has each place of each view, and each index.
    pub fn is_narrow(&self) -> bool {
        let ends = self.starts.iter().zip(&self.strides).map(|(start, strides)| {
            let reach = |(len, stride): (&usize, &isize)| *len as u64 * stride.unsigned_abs() as u64;
            *start as u64 + self.lens.iter().zip(strides).map(reach).sum::<u64>()
        });
        let most = ends.max().unwrap_or(0).max(self.size() as u64);
        i32::try_from(most).is_ok()
    }
}

/// A space in which some views consist of vectors.
pub struct Vectors {
    pub space: Space,
    are_vectors: SmallVec<[bool; 8]>,
}

impl Vectors {
    /// Whether a view consists of vectors; else one element stands for all of a vector.
    pub fn is_vector(&self, view: usize) -> bool {
        self.are_vectors[view]
    }
}

/// The text of the places, with the ints that it uses as parameters.
#[derive(Default)]
pub struct Places {
    /// Statements that compute the index along each axis.
    pub lines: Vec<String>,
    /// The terms of each view's index.
    terms: Vec<Vec<String>>,
    /// Parameters by name.
    pub ints: Vec<(String, Number)>,
}

impl Places {
    /// The places of views with these names in a space whose elements `index` counts.
    pub fn of(space: &Space, names: &[String], index: &str) -> Places {
        let mut places = Places::default();
        let is_one_axis = space.lens.len() <= 1;
        let along = |axis: usize| if is_one_axis { index.to_owned() } else { format!("{index}{axis}") };
        let mut uses_axes = false;
        for (view, name) in names.iter().enumerate() {
            let mut terms = Vec::new();
            if space.starts[view] > 0 {
                terms.push(places.int(format!("{name}_start"), space.starts[view] as i128));
            }
            if space.is_flat(view) && !space.lens.is_empty() {
                terms.push(index.to_owned());
            } else {
                for (axis, stride) in
                    space.strides[view].iter().enumerate().filter(|(_, stride)| **stride != 0)
                {
                    uses_axes |= !is_one_axis;
                    terms.push(match stride {
                        1 => along(axis),
                        _ => {
                            let name = format!("{name}_{}", along(axis));
                            format!("{} * {}", along(axis), places.int(name, *stride as i128))
                        }
                    });
                }
            }
            places.terms.push(terms);
        }
        if uses_axes {
            let mut rest = index.to_owned();
            for axis in (1..space.lens.len()).rev() {
                let len = places.int(format!("n_{}", along(axis)), space.lens[axis] as i128);
                let outer = if axis == 1 { along(0) } else { format!("{index}_rest{axis}") };
                places.lines.push(format!("{outer}, {} = divmod({rest}, {len})", along(axis)));
                rest = outer;
            }
        }
        places
    }

    /// The index of each view.
    pub fn indices(&self) -> Vec<String> {
        self.terms.iter().map(|terms| sum(terms)).collect()
    }

    /// The index of each view in the space of both: one part of its axes is here, the rest in `other`.
    pub fn indices_with(&self, other: &Places) -> Vec<String> {
        self.terms.iter().zip(&other.terms).map(|(own, others)| sum(&[&own[..], others].concat())).collect()
    }

    fn int(&mut self, name: String, value: i128) -> String {
        self.ints.push((name.clone(), Number::Int(value)));
        name
    }
}

fn sum(terms: &[String]) -> String {
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}
