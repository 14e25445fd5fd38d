//! Vectors whose components are not adjacent in memory: rows of matrices, which are stored by column, and
//! swizzles.
//!
//! Each component is loaded and stored where it is, so its neighbours are not touched. An index that is known
//! only at run time is tested once for all components. Out of range, a load yields 0 and a store is discarded.

mod inference;

use std::rc::Rc;

use kps_syntax::Span;

use crate::infer::expressions::operand::Operand;
use crate::ir::{NodeId, Place, Step};
use crate::types::Type;

#[derive(Clone)]
pub(crate) struct ScatteredVector {
    /// The place of each component. A single component is a number.
    pub places: Vec<Place>,
    /// If this is false, the places are not the requested ones, since an index is out of range.
    pub inside: Option<NodeId>,
    pub tested: Vec<TestedIndex>,
}

/// A tested index, for reports.
#[derive(Clone)]
pub(crate) struct TestedIndex {
    /// Index and length along each axis.
    pub axes: Vec<(Step, u32)>,
    /// Where the indexed value and the whole expression are written.
    pub places: (Span, Span),
}

impl ScatteredVector {
    /// Components of a vector in memory.
    pub fn of_vector(vector: &Place, components: &[u32]) -> ScatteredVector {
        let number = Type::from(vector.ty.scalar().expect("components are of vectors"));
        let places = components.iter().map(|at| vector.part(Step::Part(*at), number.clone())).collect();
        ScatteredVector { places, inside: None, tested: Vec::new() }
    }

    pub fn ty(&self) -> Type {
        let number = self.places[0].ty.scalar().expect("components are numbers");
        Type::of(self.places.len() as u8, number)
    }

    /// Some of the components.
    pub fn components(&self, components: &[u32]) -> ScatteredVector {
        let places = components.iter().map(|at| self.places[*at as usize].clone()).collect();
        ScatteredVector { places, ..self.clone() }
    }

    /// A single component in range is a plain place.
    pub fn into_operand(self) -> Operand {
        match (&self.places[..], self.inside) {
            ([place], None) => Operand::Place(place.clone()),
            _ => Operand::Scattered(Rc::new(self)),
        }
    }
}
