//! Lowering in the checked mode: adds sites before instructions, with their operands.
//!
//! Checked kps kernels state the source's intent in instructions of the set [`CHECKS`]. All other
//! instructions may be guarded, and have no checks: guards are no mistakes, and must not hide any. In
//! external modules, the instructions themselves are checked.

use kps_scalar::Scalar;
use rspirv::spirv::Op;

use super::named::ChainName;
use super::pointers::{MemoryPlace, Place, Pointer};
use super::{Data, Lowerer};
use crate::cpu::lane::{self, Binary, CheckSite, Compare, SiteKind, Space, Ty, Unary};
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::Type;
use crate::cpu::module::{ExtInstSet, Id, Instruction};
use crate::findings::{Arithmetic, ArrayName, Beyond};
use crate::interface::checks::{self as instruction, CHECKS};
use crate::{Access, Check, Checks, Result};

/// A value with its type.
pub(super) type Number = (Scalar, lane::Value);

/// Consecutive indices of an access chain that form one check.
#[derive(Clone)]
pub(super) struct Run {
    array: Option<ArrayName>,
    /// Arrays of arrays; otherwise a matrix or a vector.
    of_arrays: bool,
    axes: Vec<Axis>,
}

#[derive(Clone)]
pub(super) struct Axis {
    /// The index in the access chain.
    pub id: Id,
    pub index: Number,
    /// `None` if it is known only at run time.
    pub len: Option<u32>,
    /// The length, in 64 bits.
    pub bound: lane::Value,
}

impl Lowerer<'_> {
    /// Adds the checks of an instruction.
    pub(super) fn check(&mut self, inst: &Instruction, checks: Checks) -> Result<()> {
        match inst.op {
            Op::ExtInst if self.set(inst)? == Some(ExtInstSet::Checks) => {
                self.check_instruction(inst, checks)
            }
            _ if self.module.is_instrumented() => Ok(()),
            Op::FunctionCall
            | Op::ExtInst
            | Op::ULessThan
            | Op::VectorExtractDynamic
            | Op::Bitcast
            | Op::Select => self.check_guard(inst, checks),
            Op::SDiv | Op::SRem | Op::SMod | Op::UDiv | Op::UMod if checks.has(Check::Division) => {
                let signed = !matches!(inst.op, Op::UDiv | Op::UMod);
                let (_, _, operands) = self.elementwise(inst)?;
                let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
                let number = if signed { a.scalar.as_signed() } else { a.scalar.as_unsigned() };
                self.check_division(number, &a.parts, &b.parts);
                Ok(())
            }
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic
                if checks.has(Check::Shift) =>
            {
                let (_, _, operands) = self.elementwise(inst)?;
                let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
                let amounts = self.guarded.unsigned.get(&self.id(inst, 3)?).copied().unwrap_or(b.scalar);
                self.check_shift(a.scalar, amounts, &b.parts);
                Ok(())
            }
            Op::ConvertFToS | Op::ConvertFToU if checks.has(Check::Conversion) => {
                let (_, to, operands) = self.elementwise(inst)?;
                let [a] = &operands[..] else { return Err(self.wrong_operands(inst)) };
                if !to.is_int() {
                    return Err(self.wrong_operands(inst));
                }
                let to = if inst.op == Op::ConvertFToS { to.as_signed() } else { to.as_unsigned() };
                let parts = self.guarded.floats.get(&self.id(inst, 2)?).unwrap_or(&a.parts).clone();
                self.check_conversion((a.scalar, a.scalar.digits()), to, &parts);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn set(&self, inst: &Instruction) -> Result<Option<ExtInstSet>> {
        Ok(self.module.ext_inst_sets.get(&self.id(inst, 2)?).copied())
    }

    /// Checks an instruction of the set [`CHECKS`]. Unselected checks are skipped.
    fn check_instruction(&mut self, inst: &Instruction, checks: Checks) -> Result<()> {
        match self.word(inst, 3)? {
            instruction::INDEX if checks.has(Check::Bounds) => self.check_index_instruction(inst),
            instruction::DIVISION if checks.has(Check::Division) => {
                let [(scalar, a), (_, b)] = self.operand_pair(inst, 4)?;
                self.check_division(scalar, &a.parts, &b.parts);
                Ok(())
            }
            instruction::SHIFT if checks.has(Check::Shift) => {
                let [(scalar, _), (amount, b)] = self.operand_pair(inst, 4)?;
                self.check_shift(scalar, amount, &b.parts);
                Ok(())
            }
            instruction::CONVERSION if checks.has(Check::Conversion) => {
                let [(from, a), (to, _)] = self.operand_pair(inst, 4)?;
                let n_digits = self.constant_int(inst, 6)? as u32;
                self.check_conversion((from, n_digits), to, &a.parts);
                Ok(())
            }
            instruction::UNIFORM if checks.has(Check::Uniform) => self.check_uniform(inst),
            instruction::ARITHMETIC if checks.has(Check::Overflow) => self.check_arithmetic(inst),
            instruction::NON_FINITE if checks.has(Check::Nan) => self.check_non_finite(inst),
            instruction::INDEX..=instruction::NON_FINITE => Ok(()),
            other => Err(self.unsupported(inst, &format!("`{CHECKS}` has no instruction {other}"))),
        }
    }

    pub(super) fn operand_pair(&mut self, inst: &Instruction, first: usize) -> Result<[(Scalar, Data); 2]> {
        let (a, b) = (self.scalars(inst, first)?, self.scalars(inst, first + 1)?);
        match a.1.parts.len() == b.1.parts.len() {
            true => Ok([a, b]),
            false => Err(self.wrong_operands(inst)),
        }
    }

    fn check_index_instruction(&mut self, inst: &Instruction) -> Result<()> {
        let array = self.id(inst, 4)?;
        let is_part = self.module.strings.has(array);
        let array = self.module.source_name(array);
        let access = match self.constant_int(inst, 5)? {
            0 => Access::Read,
            1 => Access::Write,
            _ => Access::ReadWrite,
        };
        let mut axes = Vec::new();
        for i in (6..self.module.operands(inst).len()).step_by(2) {
            let ((index, at), (len, n)) = (self.int(inst, i)?, self.int(inst, i + 1)?);
            axes.push(((index, at), (len, n)));
        }
        // Members are checked axis by axis, a buffer as a whole.
        let beyond = if is_part || axes.len() == 1 { Beyond::Nothing } else { Beyond::Row };
        self.check_index((array, access, beyond), &axes);
        Ok(())
    }

    /// `axes` has the index and the length of each.
    pub(super) fn check_index(
        &mut self,
        (array, access, beyond): (Option<ArrayName>, Access, Beyond),
        axes: &[(Number, Number)],
    ) {
        let (mut outside, mut values, mut indices) = (None, Vec::new(), Vec::new());
        for &((scalar, index), (len_scalar, len)) in axes {
            // Lengths of 32 bits are below 2^31.
            let is_narrow = scalar.bits() == 32 && len_scalar.bits() == 32;
            let [at, len] = match is_narrow {
                true => [index, len],
                false => [self.wide_index(scalar, index), self.wide_index(len_scalar, len)],
            };
            // An unsigned comparison also catches negative indices.
            let is_outside = self.builder.compare(Compare::GeU, at, len);
            outside = Some(match outside {
                None => is_outside,
                Some(before) => self.builder.binary(Binary::Or, before, is_outside),
            });
            values.extend([at, len]);
            // The original sign of the index, for the report.
            indices.push(match (is_narrow, scalar.is_signed()) {
                (true, true) => Scalar::I32,
                (true, false) => Scalar::U32,
                (false, true) => Scalar::I64,
                (false, false) => Scalar::U64,
            });
        }
        let Some(outside) = outside else { return };
        self.report_when(outside, CheckSite::Index { array, access, indices, beyond }, values);
    }

    /// Adds a step in an access chain of an external module, into an array of known or unknown length.
    /// Consecutive steps through arrays of arrays, or a matrix and its columns, become axes of one check, if
    /// their lengths are known.
    pub(super) fn check_step(
        &mut self,
        pointer: &Pointer,
        chain: &mut ChainName,
        (id, index): (Id, Number),
        len: Option<u32>,
    ) {
        let goes_on = match self.module.types.get(pointer.pointee) {
            Type::Array { .. } | Type::RuntimeArray { .. } => {
                chain.run.as_ref().is_some_and(|run| run.of_arrays)
            }
            Type::Vector { .. } => chain.run.as_ref().is_some_and(|run| !run.of_arrays),
            _ => false,
        };
        if !goes_on {
            self.check_axes(chain.run.take());
        }
        let Place::Memory(place) = &pointer.place else { return };
        let bound = match len {
            Some(len) => Some(self.builder.int(Ty::I64, i64::from(len))),
            None => self.run_time_len(pointer, place),
        };
        let Some(bound) = bound else { return self.check_axes(chain.run.take()) };
        let of_arrays =
            matches!(self.module.types.get(pointer.pointee), Type::Array { .. } | Type::RuntimeArray { .. });
        let array = chain.array();
        let run = chain.run.get_or_insert_with(|| Run { array, of_arrays, axes: Vec::new() });
        run.axes.push(Axis { id, index, len, bound });
    }

    /// Checks the axes that were collected from an access chain.
    pub(super) fn check_axes(&mut self, run: Option<Run>) {
        let Some(Run { array, axes, .. }) = run else { return };
        if self.name_guarded(array.as_ref(), &axes) {
            return;
        }
        let wide = Scalar::U64;
        let axes: Vec<(Number, Number)> = axes.iter().map(|axis| (axis.index, (wide, axis.bound))).collect();
        self.check_index((array, Access::ReadWrite, Beyond::Nothing), &axes);
    }

    /// The length of a buffer's run-time array; `None` if the buffer is not known.
    fn run_time_len(&mut self, pointer: &Pointer, place: &MemoryPlace) -> Option<lane::Value> {
        let types = &self.module.types;
        let Type::RuntimeArray { element, stride } = *types.get(pointer.pointee) else { return None };
        let stride = types.stride(element, stride, place.layout)?;
        let Space::Buffer(buffer) = place.space else { return None };
        if !place.others.is_empty() || place.dynamic.is_some() || stride == 0 {
            return None;
        }
        let size = self.builder.buffer_size(buffer);
        let start = self.builder.int(Ty::I64, place.constant as i64);
        let rest = self.builder.binary(Binary::Sub, size, start);
        let stride = self.builder.int(Ty::I64, stride as i64);
        Some(self.builder.binary(Binary::DivU, rest, stride))
    }

    /// Checks the coordinates of a texel, which are an operand.
    pub(super) fn check_texel(
        &mut self,
        inst: &Instruction,
        operand: usize,
        (image, place): (u32, &[lane::Value]),
        access: Access,
    ) -> Result<()> {
        if self.checks.is_none_or(|checks| !checks.has(Check::Bounds)) {
            return Ok(());
        }
        let signed = self.scalars(inst, operand)?.0.is_signed();
        let (mut outside, mut values) = (None, Vec::new());
        for (axis, &at) in place.iter().enumerate() {
            let size = self.builder.image_size(image, axis as u8);
            let is_outside = self.builder.compare(Compare::GeU, at, size);
            outside = Some(match outside {
                None => is_outside,
                Some(before) => self.builder.binary(Binary::Or, before, is_outside),
            });
            values.extend([at, size]);
        }
        let Some(outside) = outside else { return Ok(()) };
        let site = CheckSite::Texel {
            image: Some(self.module.image_name(self.builder.kernel.images[image as usize])),
            access,
            signed,
        };
        self.report_when(outside, site, values);
        Ok(())
    }

    pub(super) fn check_division(&mut self, number: Scalar, a: &[lane::Value], b: &[lane::Value]) {
        for (&dividend, &divisor) in a.iter().zip(b) {
            let ty = self.builder.ty(divisor);
            let (equal, zero) = match number.is_float() {
                false => (Compare::Eq, self.builder.int(ty, 0)),
                true => (Compare::FEq, self.builder.float(ty, 0.0)),
            };
            let is_zero = self.builder.compare(equal, divisor, zero);
            self.report_when(is_zero, CheckSite::Division { number }, vec![dividend]);
        }
    }

    fn check_shift(&mut self, scalar: Scalar, amounts: Scalar, parts: &[lane::Value]) {
        for &part in parts {
            let width = self.builder.int(self.builder.ty(part), i64::from(scalar.bits()));
            let is_wide = self.builder.compare(Compare::GeU, part, width);
            self.report_when(is_wide, CheckSite::Shift { amount: amounts, width: scalar.bits() }, vec![part]);
        }
    }

    fn check_conversion(&mut self, (from, n_digits): (Scalar, u32), to: Scalar, parts: &[lane::Value]) {
        let ty = lane_ty(from);
        let bits = to.bits() as i32;
        let (least, past) = match to.is_signed() {
            true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
            false => (0.0, 2f64.powi(bits)),
        };
        // Values less than 1 below the minimum truncate to it. If the float type cannot represent them, the
        // minimum itself is the bound.
        let digits = if ty == Ty::F32 { 24 } else { 53 };
        let (above, bound) = match to.is_signed() && bits > digits {
            true => (Compare::FGe, least),
            false => (Compare::FGt, least - 1.0),
        };
        for &part in parts {
            let bound = self.builder.float(ty, bound);
            let past = self.builder.float(ty, past);
            let is_above = self.builder.compare(above, part, bound);
            let is_below = self.builder.compare(Compare::FLt, part, past);
            let fits = self.builder.binary(Binary::And, is_above, is_below);
            let is_lost = self.builder.unary(Unary::Not, fits);
            let site = CheckSite::Conversion { from, n_digits, to };
            self.report_when(is_lost, site, vec![part]);
        }
    }

    fn check_uniform(&mut self, inst: &Instruction) -> Result<()> {
        let (scalar, data) = self.scalars(inst, 4)?;
        let site = CheckSite::Uniform { number: scalar };
        self.builder.report_always(SiteKind::Check(site), data.parts.to_vec());
        Ok(())
    }

    fn check_arithmetic(&mut self, inst: &Instruction) -> Result<()> {
        let op = match self.constant_int(inst, 4)? {
            0 => Arithmetic::Sum,
            1 => Arithmetic::Difference,
            2 => Arithmetic::Product,
            3 => Arithmetic::Negation,
            4 => Arithmetic::Magnitude,
            _ => Arithmetic::Quotient,
        };
        let [(scalar, a), (_, b)] = self.operand_pair(inst, 5)?;
        if !scalar.is_int() {
            return Err(self.wrong_operands(inst));
        }
        for (&a, &b) in a.parts.iter().zip(b.parts.iter()) {
            let wraps = match scalar.bits() {
                _ if op == Arithmetic::Quotient => self.has_no_opposite(scalar, a, b),
                64 => self.wraps_64(op, scalar.is_signed(), a, b),
                _ => self.wraps_narrow(op, scalar, a, b),
            };
            self.report_when(wraps, CheckSite::Overflow { op, number: scalar }, vec![a, b]);
        }
        Ok(())
    }

    /// Whether the minimum of a signed type is divided by -1.
    fn has_no_opposite(&mut self, scalar: Scalar, a: lane::Value, b: lane::Value) -> lane::Value {
        let [is_least, is_minus_1] = [(a, -1i64 << (scalar.bits() - 1)), (b, -1)].map(|(int, known)| {
            let (int, known) = (self.wide_index(scalar, int), self.builder.int(Ty::I64, known));
            self.builder.compare(Compare::Eq, int, known)
        });
        self.builder.binary(Binary::And, is_least, is_minus_1)
    }

    /// Whether a result of up to 32 bits differs from the exact one in 64.
    fn wraps_narrow(
        &mut self,
        op: Arithmetic,
        scalar: Scalar,
        a: lane::Value,
        b: lane::Value,
    ) -> lane::Value {
        let [a, b] = [a, b].map(|part| self.wide_index(scalar, part));
        let exact = self.builder.binary(operation(op), a, b);
        let unused = self.builder.int(Ty::I64, 64 - i64::from(scalar.bits()));
        let high = self.builder.binary(Binary::Shl, exact, unused);
        let back = if scalar.is_signed() { Binary::ShrS } else { Binary::ShrU };
        let extended = self.builder.binary(back, high, unused);
        self.builder.compare(Compare::Ne, extended, exact)
    }

    fn wraps_64(&mut self, op: Arithmetic, signed: bool, a: lane::Value, b: lane::Value) -> lane::Value {
        let zero = self.builder.int(Ty::I64, 0);
        let result = self.builder.binary(operation(op), a, b);
        match (op, signed) {
            (Arithmetic::Sum, false) => self.builder.compare(Compare::LtU, result, a),
            (Arithmetic::Product, false) => {
                let high = self.builder.binary(Binary::MulHighU, a, b);
                self.builder.compare(Compare::Ne, high, zero)
            }
            (Arithmetic::Product, true) => {
                let high = self.builder.binary(Binary::MulHighS, a, b);
                let most = self.builder.int(Ty::I64, 63);
                let sign = self.builder.binary(Binary::ShrS, result, most);
                self.builder.compare(Compare::Ne, high, sign)
            }
            // The negative operands.
            (_, false) => self.builder.compare(Compare::LtU, a, b),
            // The sign of the result differs from that of `a`, and from what `b` implies.
            (_, true) => {
                let other = if op == Arithmetic::Sum { result } else { a };
                let first = self.builder.binary(Binary::Xor, a, result);
                let second = self.builder.binary(Binary::Xor, b, other);
                let both = self.builder.binary(Binary::And, first, second);
                self.builder.compare(Compare::LtS, both, zero)
            }
        }
    }

    /// Checks for a NaN or an infinity that was created from finite operands.
    fn check_non_finite(&mut self, inst: &Instruction) -> Result<()> {
        let (scalar, made) = self.scalars(inst, 4)?;
        let mut parents = Vec::new();
        for i in 5..self.module.operands(inst).len() {
            parents.push(self.scalars(inst, i)?);
        }
        if !scalar.is_float() {
            return Err(self.wrong_operands(inst));
        }
        for (i, &part) in made.parts.iter().enumerate() {
            let mut is_created = self.is_strange(part);
            let (mut values, mut of) = (vec![part], Vec::new());
            for (scalar, parent) in &parents {
                // A vector's length depends on all of its components.
                let own = parent.parts.len() == made.parts.len();
                let all = if own { &parent.parts[i..=i] } else { &parent.parts[..] };
                for &parent in all {
                    values.push(parent);
                    of.push(*scalar);
                    if !scalar.is_float() {
                        continue;
                    }
                    let strange = self.is_strange(parent);
                    let plain = self.builder.unary(Unary::Not, strange);
                    is_created = self.builder.binary(Binary::And, is_created, plain);
                }
            }
            self.report_when(is_created, CheckSite::NonFinite { number: scalar, of }, values);
        }
        Ok(())
    }

    /// Whether a float is not finite: then its difference from itself is not 0.
    fn is_strange(&mut self, value: lane::Value) -> lane::Value {
        let zero = self.builder.float(self.builder.ty(value), 0.0);
        let rest = self.builder.binary(Binary::FSub, value, value);
        self.builder.compare(Compare::FNe, rest, zero)
    }

    fn report_when(&mut self, when: lane::Value, site: CheckSite, values: Vec<lane::Value>) {
        self.builder.report_when(when, SiteKind::Check(site), values);
    }
}

fn operation(op: Arithmetic) -> Binary {
    match op {
        Arithmetic::Sum => Binary::Add,
        // The minimum of a signed type has no magnitude in it.
        Arithmetic::Difference | Arithmetic::Negation | Arithmetic::Magnitude => Binary::Sub,
        Arithmetic::Product => Binary::Mul,
        Arithmetic::Quotient => Binary::DivS,
    }
}
