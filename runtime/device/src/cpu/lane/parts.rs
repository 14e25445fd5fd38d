//! The structure of a variable in memory. It maps a byte offset to the path of the part there, such as `[2,
//! 0].pos`.

use std::sync::Arc;

use crate::findings::Part;

#[derive(Clone, Debug)]
pub enum Parts {
    /// A number, a vector, a matrix.
    Whole,
    /// The stride between elements in bytes.
    Elements {
        stride: u64,
        element: Arc<Parts>,
    },
    Members(Arc<[Member]>),
}

#[derive(Clone, Debug)]
pub struct Member {
    pub name: Option<String>,
    pub offset: u64,
    pub parts: Parts,
}

impl Parts {
    /// The path of the part at an offset. Arrays of arrays have one index with several axes.
    pub fn path(&self, mut offset: u64) -> Vec<Part> {
        let (mut parts, mut path) = (self, Vec::new());
        loop {
            match parts {
                Parts::Whole => return path,
                Parts::Elements { stride, element } => {
                    let stride = (*stride).max(1);
                    match path.last_mut() {
                        Some(Part::Index(index)) => index.push(offset / stride),
                        _ => path.push(Part::Index(vec![offset / stride])),
                    }
                    offset %= stride;
                    parts = element;
                }
                Parts::Members(members) => {
                    let Some(member) = members.iter().rev().find(|member| member.offset <= offset) else {
                        return path;
                    };
                    path.extend(member.name.clone().map(Part::Member));
                    offset -= member.offset;
                    parts = &member.parts;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Member, Parts};
    use crate::findings::Part;

    fn array(stride: u64, element: Parts) -> Parts {
        Parts::Elements { stride, element: Arc::new(element) }
    }

    fn member(name: &str, offset: u64, parts: Parts) -> Member {
        Member { name: Some(name.to_owned()), offset, parts }
    }

    #[track_caller]
    fn check(parts: &Parts, offset: u64, expect: &[Part]) {
        assert_eq!(parts.path(offset), expect);
    }

    #[test]
    fn a_byte_belongs_to_a_part() {
        let near = array(8, array(4, Parts::Whole));
        let cell = Parts::Members([member("mass", 0, Parts::Whole), member("near", 4, near)].into());
        let cells = array(20, cell);
        let name = |name: &str| Part::Member(name.to_owned());
        check(&cells, 2, &[Part::Index(vec![0]), name("mass")]);
        check(&cells, 20, &[Part::Index(vec![1]), name("mass")]);
        check(&cells, 36, &[Part::Index(vec![1]), name("near"), Part::Index(vec![1, 1])]);
        check(&Parts::Whole, 3, &[]);
    }

    #[test]
    fn what_the_source_does_not_know_of_has_no_name() {
        let block = Member { name: None, offset: 0, parts: array(4, Parts::Whole) };
        check(&Parts::Members([block].into()), 12, &[Part::Index(vec![3])]);
    }
}
