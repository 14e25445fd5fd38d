//! The conditional expression `a if test else b`.
//!
//! In: the expression. Out: the side that is known to be taken, the operand that both sides share, or a phi of
//! both values. Sides that are tuples are joined item by item, so each item has the type that it would have
//! alone.

use kps_syntax::Span;
use kps_syntax::ast::Expr;

use super::expr::SideEnd;
use super::operand::{Facts, Operand, Row};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::assumptions::WeakKey;
use crate::infer::control::joins::same_static;
use crate::infer::control::stmts::Condition;
use crate::infer::places::selected_arrays::ArraySetId;
use crate::infer::places::vars::Missing;
use crate::ir::{Block, NodeId, NodeKind, Stmt};
use crate::types::Type;

/// The possible results of a conditional expression, before it is inferred.
enum Choice {
    /// Both sides are the same.
    Same(Operand),
    Items(Vec<Choice>),
    /// Rows of one array, with a choice for each index of the first.
    Row(Row, Vec<Choice>),
    /// One of these arrays, with a choice of its id.
    Array(ArraySetId, Box<Choice>),
    One(Sides),
}

/// Two values with a common type.
struct Sides {
    sides: [Operand; 2],
    ty: Type,
    /// The type is a guess.
    guessed: bool,
    key: WeakKey,
}

/// One side: its statements and its end.
struct Arm {
    block: Block,
    end: SideEnd,
    span: Span,
}

impl Choice {
    /// The values in it, from left to right.
    fn sides(&self) -> Vec<&Sides> {
        match self {
            Choice::Same(_) => Vec::new(),
            Choice::Items(items) | Choice::Row(_, items) => items.iter().flat_map(Choice::sides).collect(),
            Choice::Array(_, number) => number.sides(),
            Choice::One(sides) => vec![sides],
        }
    }

    /// The operand for this choice, with `selected` as its values.
    fn with(&self, ctx: &mut Ctx, selected: &mut dyn Iterator<Item = Operand>) -> Operand {
        match self {
            Choice::Same(same) => same.clone(),
            Choice::Items(items) => {
                Operand::Tuple(items.iter().map(|item| item.with(ctx, selected)).collect())
            }
            Choice::Array(choice, number) => match number.with(ctx, selected) {
                Operand::Node(number) => Operand::Buffer(ctx.selected_buffer(*choice, number, "kps.choice")),
                _ => unreachable!("what chooses between nodes is one"),
            },
            Choice::Row(row, indices) => {
                let mut indices = indices.iter();
                Operand::Row(row.with_indices(|| {
                    match indices.next().expect("a row has as many indices").with(ctx, selected) {
                        Operand::Node(index) => index,
                        _ => unreachable!("what chooses between nodes is one"),
                    }
                }))
            }
            Choice::One(_) => selected.next().expect("one was selected for each"),
        }
    }
}

impl Ctx<'_> {
    pub fn ternary(&mut self, test: &Expr, then: &Expr, orelse: &Expr, span: Span) -> Operand {
        let condition = match self.condition(test) {
            Condition::Known(true) => return self.expr(then),
            Condition::Known(false) => return self.expr(orelse),
            Condition::Node(node) => Some(node),
            Condition::Error => None,
            Condition::Unknown => {
                self.walk_maybe_skipped(|ctx| drop(ctx.expr(then)));
                self.walk_maybe_skipped(|ctx| drop(ctx.expr(orelse)));
                return Operand::Error;
            }
        };
        let missing = Missing { span: test.span, text: "only on one side of this conditional expression" };
        let fork = self.fork();
        let [(a, mut then), (b, mut orelse)] = [(then, true), (orelse, false)].map(|(side, outcome)| {
            let (block, (value, end)) = self.sub_block(|ctx| {
                condition.iter().for_each(|test| ctx.learn_assigned(*test, outcome));
                let value = ctx.expr(side);
                (ctx.rows_to_join(value, side.span), ctx.end_side(fork, missing))
            });
            (value, Arm { block, end, span: side.span })
        });
        let Some(condition) = condition else { return Operand::Error };
        if a.has_error() || b.has_error() {
            return Operand::Error;
        }
        let Some(choice) = self.choice_of([(&a, then.span), (&b, orelse.span)], &mut WeakKey::At(span, 0))
        else {
            return self.unlike_sides((&a, then.span), (&b, orelse.span));
        };
        let sides = choice.sides();
        let (Some(then_values), Some(else_values)) =
            (self.side_values(&mut then, &sides, 0), self.side_values(&mut orelse, &sides, 1))
        else {
            return Operand::Error;
        };
        let values: Vec<[NodeId; 2]> =
            then_values.into_iter().zip(else_values).map(|(then, orelse)| [then, orelse]).collect();
        let nodes = self.stored_choice(condition, [then, orelse], (&sides, &values), missing, span);
        let selected: Vec<Operand> = nodes.into_iter().map(|node| self.value(node, span)).collect();
        let value = choice.with(self, &mut selected.into_iter());
        self.record_copied_of_shared(&value, span, [&a, &b]);
        value
    }

    /// A side whose rows can be joined with those of the other side.
    fn rows_to_join(&mut self, side: Operand, span: Span) -> Operand {
        match side {
            Operand::Row(row) => Operand::Row(self.row_to_join(&row, span)),
            Operand::Tuple(items) => {
                Operand::Tuple(items.iter().map(|item| self.rows_to_join(item.clone(), span)).collect())
            }
            side => side,
        }
    }

    /// `None` if two values have no common type.
    fn choice_of(&mut self, sides: [(&Operand, Span); 2], next: &mut WeakKey) -> Option<Choice> {
        let [(a, a_span), (b, b_span)] = sides;
        let key = next.advance();
        if same_static(a, b) {
            return Some(Choice::Same(a.clone()));
        }
        let (ty, guessed) = match (a, b) {
            (Operand::Tuple(a), Operand::Tuple(b)) if a.len() == b.len() => {
                return self.choices_of(a.iter().zip(b.iter()), [a_span, b_span], next).map(Choice::Items);
            }
            (Operand::Row(a), Operand::Row(b)) if (a.buffer, a.axis()) == (b.buffer, b.axis()) => {
                let indices = |row: &Row| row.indices.iter().copied().map(Operand::Node).collect::<Vec<_>>();
                let (of_a, of_b) = (indices(a), indices(b));
                let choices = self.choices_of(of_a.iter().zip(&of_b), [a_span, b_span], next)?;
                return Some(Choice::Row(a.clone(), choices));
            }
            (Operand::Buffer(a), Operand::Buffer(b)) => {
                let arrays = [a, b].into_iter().flat_map(|array| self.arrays_of(*array)).collect::<Vec<_>>();
                let among = self.array_set(arrays).ok()?;
                let sides = [(*a, a_span), (*b, b_span)]
                    .map(|(array, span)| Operand::Node(self.selector_of(array, span)));
                let number = Choice::One(Sides { sides, ty: Type::I32, guessed: false, key });
                return Some(Choice::Array(among, Box::new(number)));
            }
            (Operand::Tuple(_) | Operand::Place(_), _) => (self.join_values(&sides)?, false),
            _ => self.join_types(&sides, Some(key))?,
        };
        Some(Choice::One(Sides { sides: [a.clone(), b.clone()], ty, guessed, key }))
    }

    /// A choice for each pair of items.
    fn choices_of<'o>(
        &mut self,
        mut pairs: impl Iterator<Item = (&'o Operand, &'o Operand)>,
        [a_span, b_span]: [Span; 2],
        next: &mut WeakKey,
    ) -> Option<Vec<Choice>> {
        pairs.try_fold(Vec::new(), |mut choices, (a, b)| {
            choices.push(self.choice_of([(a, a_span), (b, b_span)], next)?);
            Some(choices)
        })
    }

    fn unlike_sides(&mut self, then: (&Operand, Span), orelse: (&Operand, Span)) -> Operand {
        if let Some(mistake) = self.ints_of_no_type(&[then, orelse]) {
            return self.fail(mistake);
        }
        let what = (self.describe(then.0), self.describe(orelse.0));
        let cast = self.alike_hint(then, orelse);
        let (then, orelse) = ((self.at(then.1), &what.0), (self.at(orelse.1), &what.1));
        self.fail(errors::ternary_types(then, orelse, cast))
    }

    /// The values of one side in their common types, computed at the end of its arm.
    fn side_values(&mut self, arm: &mut Arm, sides: &[&Sides], which: usize) -> Option<Vec<NodeId>> {
        let (tail, values) = self.sub_block(|ctx| {
            let mut sides = sides.iter();
            sides.try_fold(Vec::new(), |mut values, Sides { sides, ty, .. }| {
                values.push(ctx.try_convert(&sides[which], ty, arm.span)?);
                Some(values)
            })
        });
        arm.block.extend(tail);
        values
    }

    /// The values through locals, to which the arms store.
    fn stored_choice(
        &mut self,
        condition: NodeId,
        mut arms: [Arm; 2],
        (sides, values): (&[&Sides], &[[NodeId; 2]]),
        missing: Missing,
        span: Span,
    ) -> Vec<NodeId> {
        let mut stored = Vec::with_capacity(sides.len());
        for (of, values) in sides.iter().zip(values) {
            let local = self.new_local("kps.choice", of.ty.clone(), span);
            for (arm, value) in arms.iter_mut().zip(values) {
                arm.block.push(Stmt::Store { local, value: *value, span: arm.span });
            }
            stored.push(local);
        }
        let fork = self.fork();
        let [then, orelse] = arms.map(|arm| (arm.block, arm.end));
        self.join_arms(condition, then, orelse, (fork, missing), span);
        let loaded = sides.iter().zip(stored).map(|(of, local)| {
            let node = self.node(NodeKind::Load(local), of.ty.clone(), span);
            self.set_facts(node, Facts { guessed: of.guessed });
            self.note_choice(node, of.sides.each_ref(), of.key);
            node
        });
        loaded.collect()
    }
}
