//! Functions of `math` that take sequences whose item types matter: the distance of points that are tuples or
//! lists, a product with a start value, sums that are rounded once.

use kps_syntax::Span;
use kps_syntax::ast::Ident;

use crate::constant::Literal;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::calls::Arguments;
use crate::infer::control::sequences::Spanned;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::Place;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// `math.dist`: `None` for vectors, for which the library computes the length.
    pub fn dist_call(&mut self, args: &Arguments, span: Span) -> Option<Operand> {
        let ([p, q], []) = (&args.positional[..], &args.keywords[..]) else { return None };
        // The length of a vector of f64 squares its components, which may overflow.
        let is_of_items = !self.are_one_vector(&p.0, &q.0) || self.is_vector_of_doubles(&p.0);
        is_of_items.then(|| self.distance_of_items(p.clone(), q.clone(), span))
    }

    /// `math.prod`: `None` for a product that starts with 1 and has the type of its factors.
    pub fn prod_call(&mut self, args: &Arguments, span: Span) -> Option<Operand> {
        match (&args.positional[..], &args.keywords[..]) {
            ([xs], [(keyword, start, at)]) if &*keyword.name == "start" => {
                Some(self.product_from(xs.clone(), (start.clone(), *at), span))
            }
            // Narrow ints keep their type, as in a sum.
            ([xs], []) => {
                self.scalar_of_items(&xs.0).filter(|scalar| scalar.is_int() && scalar.bits() < 32)?;
                Some(self.product_from(xs.clone(), (Operand::int(1), span), span))
            }
            _ => None,
        }
    }

    /// `math.sumprod`: `None` for two lists.
    pub fn sumprod_call(&mut self, args: &Arguments, span: Span) -> Option<Operand> {
        let ([xs, ys], []) = (&args.positional[..], &args.keywords[..]) else { return None };
        if let (Some(n), Some(m)) = (self.n_items(&xs.0), self.n_items(&ys.0))
            && n != m
        {
            let text = self.f.source.slice(span).to_owned();
            let called = text.split('(').next().unwrap_or("sumprod").trim_end();
            return Some(self.fail(errors::unlike_lengths(self.at(span), called, n, m)));
        }
        [xs, ys].iter().any(|(of, _)| matches!(of, Operand::Tuple(_))).then(|| {
            let lists = [self.as_factors(xs, &ys.0), self.as_factors(ys, &xs.0)];
            self.call_library_with("sumprod", lists.to_vec(), span)
        })
    }

    /// `math.isclose`: `None` for floats.
    pub fn isclose_call(&mut self, args: &Arguments, span: Span) -> Option<Operand> {
        let [a, b] = &args.positional[..] else { return None };
        self.close_ints(a.clone(), b.clone(), &args.keywords, span)
    }

    /// `math.fsum`: `None` for ints that f32 represents exactly.
    pub fn fsum_call(&mut self, args: &Arguments, span: Span) -> Option<Operand> {
        let ([(xs, at)], []) = (&args.positional[..], &args.keywords[..]) else { return None };
        let scalar = self.scalar_of_items(xs)?;
        if scalar.is_float() {
            let xs = self.as_floats((xs.clone(), *at), scalar);
            return Some(self.exact_sum(xs, scalar, span));
        }
        (scalar.is_int() && scalar.bits() > 16).then(|| {
            let xs = (self.as_list(xs.clone(), *at), *at);
            let n_pieces = (Operand::int(i128::from(scalar.bits() / 16)), span);
            self.call_library_with("exact_sum_of_ints", vec![xs, n_pieces], span)
        })
    }

    /// The number of items. `None` if only the launch knows.
    fn n_items(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Tuple(items) => Some(items.len() as u32),
            operand => self.value_type(operand)?.n_parts(),
        }
    }

    /// `math.isclose` of ints of one type. `None` for other numbers, and for unknown keywords.
    fn close_ints(
        &mut self,
        a: Spanned,
        b: Spanned,
        tolerances: &[(&Ident, Operand, Span)],
        span: Span,
    ) -> Option<Operand> {
        if tolerances.iter().any(|(keyword, ..)| !matches!(&*keyword.name, "rel_tol" | "abs_tol")) {
            return None;
        }
        let scalar = [&a, &b].into_iter().find_map(|(side, _)| match side {
            Operand::Node(node) => self.ty(*node).scalar().filter(|scalar| scalar.is_int()),
            _ => None,
        })?;
        let mut sides = Vec::with_capacity(2);
        for (side, at) in [a, b] {
            let node = match &side {
                Operand::Literal(literal) if literal.fit(scalar).is_some() => {
                    self.literal_as(*literal, scalar, at)?
                }
                Operand::Node(node) if self.ty(*node).scalar() == Some(scalar) => *node,
                _ => return None,
            };
            sides.push((Operand::Node(self.as_variable(node, at)), at));
        }
        let tolerance = |name: &str, usual: f64| {
            let given = tolerances.iter().find(|(keyword, ..)| &*keyword.name == name);
            given.map_or((Operand::Literal(Literal::Float(usual)), span), |(_, given, at)| {
                (given.clone(), *at)
            })
        };
        let (relative, absolute) = (tolerance("rel_tol", 1e-9), tolerance("abs_tol", 0.0));
        let whole = Operand::Static(Static::Type(scalar.as_unsigned().into()));
        sides.extend([(whole, span), relative, absolute]);
        Some(self.call_library_with("is_close", sides, span))
    }

    fn distance_of_items(&mut self, p: Spanned, q: Spanned, span: Span) -> Operand {
        let points = [p, q].map(|(point, at)| (self.as_list(point, at), at));
        let lens = [&points[0], &points[1]].map(|(point, _)| match point {
            Operand::Place(Place { ty: Type::Array(array), .. }) => Some(array.len),
            _ => None,
        });
        match lens {
            [Some(a), Some(b)] if a != b => self.fail(errors::distance_of_unlike(self.at(span), a, b)),
            [Some(_), Some(_)] => self.call_library_with("distance", points.to_vec(), span),
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

    /// Whether both are vectors of floats of the same type.
    fn are_one_vector(&self, p: &Operand, q: &Operand) -> bool {
        let [p, q] = [p, q].map(|point| self.value_type(point));
        p == q && p.is_some_and(|ty| ty.is_vector() && ty.scalar().is_some_and(Scalar::is_float))
    }

    fn is_vector_of_doubles(&self, operand: &Operand) -> bool {
        self.value_type(operand).is_some_and(|ty| ty.is_vector() && ty.scalar() == Some(Scalar::F64))
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

    /// A literal start value has the type of the factors.
    fn product_from(&mut self, xs: Spanned, (start, at): Spanned, span: Span) -> Operand {
        let start = match (&start, self.scalar_of_items(&xs.0)) {
            (Operand::Literal(literal), Some(scalar)) if literal.fit(scalar).is_some() => {
                self.literal_as(*literal, scalar, at)
            }
            _ => self.materialize(&start, at),
        };
        let Some(start) = start else { return Operand::Error };
        let start = Operand::Node(self.as_variable(start, at));
        self.call_library_with("product_from", vec![xs, (start, at)], span)
    }

    /// The items to multiply with those of `others`, as a list. Literals adopt the type of those.
    fn as_factors(&mut self, (items, at): &Spanned, others: &Operand) -> Spanned {
        let are_literals = matches!(items, Operand::Tuple(items)
            if items.iter().all(|item| matches!(item, Operand::Literal(_))));
        match self.scalar_of_items(others).filter(|scalar| are_literals && scalar.is_float()) {
            Some(scalar) => self.as_floats((items.clone(), *at), scalar),
            None => (self.as_list(items.clone(), *at), *at),
        }
    }

    /// The items of a tuple as a list of floats.
    fn as_floats(&mut self, (xs, at): Spanned, scalar: Scalar) -> Spanned {
        let Operand::Tuple(items) = &xs else { return (xs, at) };
        let floats = items.iter().map(|item| {
            let node = match item {
                Operand::Literal(literal) if literal.fit(scalar).is_some() => {
                    self.literal_as(*literal, scalar, at)?
                }
                item => self.materialize(item, at)?,
            };
            Some((Operand::Node(self.convert(node, scalar, at)), at))
        });
        match floats.collect::<Option<Vec<Spanned>>>() {
            Some(floats) => (self.array_of(&floats, at), at),
            None => (Operand::Error, at),
        }
    }

    /// The type of the items. If they differ, that of the widest float among them. A literal adopts the type of
    /// another float.
    fn scalar_of_items(&self, xs: &Operand) -> Option<Scalar> {
        let ty = match xs {
            Operand::Tuple(items) => {
                let scalars = items.iter().filter_map(|item| {
                    let has_type = !matches!(item, Operand::Literal(_));
                    Some((self.value_type(item)?.scalar()?, has_type))
                });
                let widest =
                    scalars.max_by_key(|(scalar, has_type)| (scalar.is_float(), *has_type, scalar.bits()));
                return widest.map(|(scalar, _)| scalar);
            }
            Operand::Buffer(_) | Operand::Row(_) => {
                let (buffer, _) = self.array_place(xs);
                self.array(buffer).element.clone()
            }
            xs => match self.value_type(xs)? {
                Type::Array(array) => array.element.clone(),
                ty => ty,
            },
        };
        ty.scalar()
    }
}
