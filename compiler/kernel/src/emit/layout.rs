//! The layout of values in memory that the host sees: the types of buffers, which differ from those of values.
//!
//! Everything is packed as in NumPy, which is the scalar block layout. Without that feature a vector in a struct, and
//! an array element of three components, is an array of its components. A matrix is an array of its rows.

use rspirv::spirv::Word;

use super::module::Module;
use crate::types::Type;

/// Whether vectors in memory are vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Packing {
    /// With scalar block layout.
    Vectors,
    /// Without: only an element of two or four components is one.
    Elements,
    /// Within a struct or an array, without scalar block layout.
    Components,
}

impl Packing {
    pub fn of_element(scalar_layout: bool) -> Packing {
        if scalar_layout { Packing::Vectors } else { Packing::Elements }
    }

    /// The packing of the parts of a value with this packing.
    pub fn of_part(self) -> Packing {
        match self {
            Packing::Vectors => Packing::Vectors,
            Packing::Elements | Packing::Components => Packing::Components,
        }
    }

    /// Whether a vector of `n` components is stored as a vector.
    pub fn keeps_vector(self, n: u8) -> bool {
        match self {
            Packing::Vectors => true,
            Packing::Elements => n != 3,
            Packing::Components => false,
        }
    }
}

impl Module {
    /// The type of a value in memory that the host sees.
    pub fn laid_type(&mut self, ty: &Type, packing: Packing) -> Word {
        match ty {
            Type::Vector(n, scalar) if !packing.keeps_vector(*n) => {
                let component = self.laid_type(&Type::Scalar(*scalar), packing);
                self.laid_array(component, u32::from(*n), scalar.bytes())
            }
            // Row by row.
            Type::Matrix { columns, rows, scalar } => {
                let row = Type::Vector(*columns, *scalar);
                let laid = self.laid_type(&row, packing.of_part());
                self.laid_array(laid, u32::from(*rows), row.packed_size())
            }
            Type::Array(array) => {
                let element = self.laid_type(&array.element, packing.of_part());
                self.laid_array(element, array.len, array.element.packed_size())
            }
            Type::Struct(of) => {
                let part = packing.of_part();
                let members: Vec<Word> =
                    of.members.iter().map(|member| self.laid_type(&member.ty, part)).collect();
                self.laid_struct(of, part, &members)
            }
            ty => {
                if let Some(scalar) = ty.scalar() {
                    self.need_storage(scalar);
                }
                self.stored(ty)
            }
        }
    }
}
