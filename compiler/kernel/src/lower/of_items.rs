//! Functions of `math` whose arguments have items, where it matters what those are: the distance of points that
//! are tuples or lists, and a product that starts with a number of its own.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::FunctionDef;

use super::Ctx;
use super::calls::Arguments;
use super::operand::{Operand, Place};
use super::sequences::Spanned;
use crate::errors;
use crate::library;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// `None` where the function in the library takes the arguments as they are.
    pub fn call_of_items(
        &mut self,
        def: &Arc<FunctionDef>,
        args: &mut Arguments,
        span: Span,
    ) -> Option<Operand> {
        if !library::is_ours(def) {
            return None;
        }
        match (&*def.name.name, &args.positional[..], &args.keywords[..]) {
            ("dist", [p, q], []) if has_items(&p.0) || has_items(&q.0) => {
                let (p, q) = (p.clone(), q.clone());
                Some(self.distance_of_items(p, q, span))
            }
            ("prod", [xs], [(keyword, start, at)]) if &*keyword.name == "start" => {
                let (xs, start) = (xs.clone(), (start.clone(), *at));
                Some(self.product_from(xs, start, span))
            }
            _ => None,
        }
    }

    fn distance_of_items(&mut self, p: Spanned, q: Spanned, span: Span) -> Operand {
        let points = [p, q].map(|(point, at)| (self.as_list(point, at), at));
        let lens = [&points[0], &points[1]].map(|(point, _)| match point {
            Operand::Place(Place { ty: Type::Array(array), .. }) => Some(array.len),
            _ => None,
        });
        match lens {
            [Some(a), Some(b)] if a != b => self.fail(errors::distance_of_unlike(self.at(span), a, b)),
            [Some(_), Some(_)] => self.ours_of("distance", points.to_vec(), span),
            _ => {
                let wrong =
                    points.iter().zip(lens).find(|((point, _), len)| len.is_none() && !point.has_error());
                match wrong {
                    Some(((point, at), _)) => {
                        let what = self.describe(point);
                        self.fail(errors::distance_of(self.at(*at), &what))
                    }
                    None => Operand::Error,
                }
            }
        }
    }

    /// The coordinates of a point as a list.
    fn as_list(&mut self, point: Operand, at: Span) -> Operand {
        if matches!(&point, Operand::Place(place) if matches!(place.ty, Type::Array(_))) {
            return point;
        }
        match self.items_of(&point, at).filter(|items| !items.is_empty() && !self.is_matrix(&point)) {
            Some(items) => {
                let items: Vec<Spanned> = items.iter().map(|item| (item.clone(), at)).collect();
                self.array_of(&items, at)
            }
            None => point,
        }
    }

    /// A literal that the product starts with has the type of its factors.
    fn product_from(&mut self, xs: Spanned, (start, at): Spanned, span: Span) -> Operand {
        let start = match (&start, self.scalar_of_items(&xs.0)) {
            (Operand::Literal(literal), Some(scalar)) if literal.fit(scalar).is_some() => {
                self.literal_as(*literal, scalar, at)
            }
            _ => self.materialize(&start, at),
        };
        let Some(start) = start else { return Operand::Error };
        let start = Operand::Node(self.as_variable(start, at));
        self.ours_of("product_from", vec![xs, (start, at)], span)
    }

    /// The type of the items; where they differ, that of a float among them.
    fn scalar_of_items(&self, xs: &Operand) -> Option<Scalar> {
        let ty = match xs {
            Operand::Tuple(items) => {
                let scalars = items.iter().filter_map(|item| self.value_type(item)?.scalar());
                return scalars.max_by_key(|scalar| scalar.is_float());
            }
            Operand::Buffer(_) | Operand::Row(_) => {
                let (buffer, _) = self.array_place(xs);
                self.buffers[buffer.idx()].element.clone()
            }
            xs => match self.value_type(xs)? {
                Type::Array(array) => array.element.clone(),
                ty => ty,
            },
        };
        ty.scalar()
    }
}

/// Whether it is no vector, and no mistake.
fn has_items(operand: &Operand) -> bool {
    matches!(operand, Operand::Tuple(_) | Operand::Place(_))
}
