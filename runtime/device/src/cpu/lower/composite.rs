//! Construction and extraction of composites. Without dynamic indices, this only selects scalars.

use rspirv::spirv::Op;

use super::{Data, Lowerer};
use crate::Result;
use crate::cpu::lane::Compare;
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::find;
use crate::cpu::module::types::Type;

impl Lowerer<'_> {
    /// `None` for instructions of other families.
    pub(super) fn composite(&mut self, inst: &Instruction) -> Option<Result<Data>> {
        Some(match inst.op {
            Op::CompositeConstruct => self.construct(inst),
            Op::CompositeExtract => self.extract(inst),
            Op::CompositeInsert => self.insert(inst),
            Op::CopyLogical => self.copy_logical(inst),
            Op::VectorShuffle => self.shuffle(inst),
            Op::VectorExtractDynamic => self.extract_dynamic(inst),
            Op::VectorInsertDynamic => self.insert_dynamic(inst),
            _ => return None,
        })
    }

    fn construct(&mut self, inst: &Instruction) -> Result<Data> {
        let ty = self.result_type(inst)?;
        let n_parts = self.value_scalars(inst, ty)?.len();
        let n_operands = self.module.operands(inst).len() - 2;
        let members = (2..2 + n_operands).map(|i| self.data(inst, i)).collect::<Result<Vec<_>>>()?;
        let types = &self.module.types;
        if let Type::Cooperative { scalar, .. } = *types.get(ty) {
            return match &members[..] {
                [member] if types.as_scalars(member.ty) == Some((scalar, 1)) => {
                    Ok(Data { ty, parts: (0..n_parts).map(|_| member.parts[0]).collect() })
                }
                _ => Err(self.malformed(inst, "its parts do not fit its type")),
            };
        }
        let fits = match types.get(ty) {
            // Vectors may be built from scalars and shorter vectors.
            Type::Vector { scalar, .. } => {
                members.iter().all(|member| types.as_scalars(member.ty).is_some_and(|(s, _)| s == *scalar))
            }
            _ => members.iter().enumerate().all(|(i, member)| {
                types.element(ty, i as u32).is_some_and(|(element, _)| types.same(element, member.ty))
            }),
        };
        let parts: Vec<_> = members.iter().flat_map(|member| member.parts.iter().copied()).collect();
        if !fits || parts.len() != n_parts {
            return Err(self.malformed(inst, "its parts do not fit its type"));
        }
        if matches!(types.get(ty), Type::Struct(_)) {
            self.note_struct(&parts);
        }
        Ok(Data { ty, parts: parts.into() })
    }

    fn extract(&mut self, inst: &Instruction) -> Result<Data> {
        let composite = self.data(inst, 2)?;
        let types = &self.module.types;
        let Some((ty, first)) = find(types, composite.ty, &self.module.operands(inst)[3..]) else {
            return Err(self.malformed(inst, "there is no such part"));
        };
        let n = types.n_scalars(ty) as usize;
        Ok(Data { ty, parts: composite.parts[first..first + n].into() })
    }

    fn insert(&mut self, inst: &Instruction) -> Result<Data> {
        let (object, composite) = (self.data(inst, 2)?, self.data(inst, 3)?);
        let types = &self.module.types;
        match find(types, composite.ty, &self.module.operands(inst)[4..]) {
            Some((ty, first)) if types.same(ty, object.ty) => {
                let mut parts = composite.parts.to_vec();
                parts[first..first + object.parts.len()].copy_from_slice(&object.parts);
                Ok(Data { ty: composite.ty, parts: parts.into() })
            }
            _ => Err(self.malformed(inst, "there is no such part")),
        }
    }

    fn copy_logical(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, data) = (self.result_type(inst)?, self.data(inst, 2)?);
        if self.value_scalars(inst, ty)? != self.module.types.scalars(data.ty) {
            return Err(self.malformed(inst, "the types do not match"));
        }
        Ok(Data { ty, parts: data.parts })
    }

    fn shuffle(&mut self, inst: &Instruction) -> Result<Data> {
        let ((scalar_a, a), (scalar_b, b)) = (self.scalars(inst, 2)?, self.scalars(inst, 3)?);
        let (ty, scalar, n) = self.result_scalars(inst)?;
        let all: Vec<_> = a.parts.iter().chain(b.parts.iter()).copied().collect();
        let picks = &self.module.operands(inst)[4..];
        // An undefined component may have any value; this is the first one.
        let pick = |&idx: &u32| all.get(if idx == u32::MAX { 0 } else { idx as usize }).copied();
        let parts: Option<Vec<_>> = picks.iter().map(pick).collect();
        match parts {
            Some(parts) if parts.len() == n && scalar == scalar_a && scalar == scalar_b => {
                Ok(Data { ty, parts: parts.into() })
            }
            _ => Err(self.malformed(inst, "its components do not fit its type")),
        }
    }

    fn extract_dynamic(&mut self, inst: &Instruction) -> Result<Data> {
        let (scalar, vector) = self.scalars(inst, 2)?;
        let (_, index) = self.int(inst, 3)?;
        let part = self.pick(vector.parts, index);
        Ok(Data { ty: self.module.types.scalar(scalar), parts: [part].into() })
    }

    fn insert_dynamic(&mut self, inst: &Instruction) -> Result<Data> {
        let ((scalar, vector), (part_scalar, part)) = (self.scalars(inst, 2)?, self.scalars(inst, 3)?);
        let (_, index) = self.int(inst, 4)?;
        if scalar != part_scalar || part.parts.len() != 1 {
            return Err(self.malformed(inst, "the component has another type"));
        }
        let ty = self.builder.ty(index);
        let mut parts = vector.parts.to_vec();
        for (i, old) in parts.iter_mut().enumerate() {
            let i = self.builder.int(ty, i as i64);
            let here = self.builder.compare(Compare::Eq, index, i);
            *old = self.builder.select(here, part.parts[0], *old);
        }
        Ok(Data { ty: vector.ty, parts: parts.into() })
    }
}
