//! Parameters of functions and arguments of calls: their kinds and their required order.

use crate::ast::{Argument, ArgumentKind, Expr, ExprKind, Ident, Param, Parameters};
use crate::errors;
use crate::source::Span;

use super::Builder;

/// A parameter as it is written.
pub(crate) struct ParamItem {
    kind: ParamKind,
    /// `None` for a bare `*` or `/`.
    param: Option<Param>,
    span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParamKind {
    Plain,
    Star,
    DoubleStar,
    BareStar,
    Slash,
}

impl Builder<'_> {
    pub fn param(
        &mut self,
        start: u32,
        kind: ParamKind,
        name: Ident,
        annotation: Option<Expr>,
        default: Option<Expr>,
        end: u32,
    ) -> Box<ParamItem> {
        let span = Span::new(start, end);
        if let (ParamKind::Star | ParamKind::DoubleStar, Some(default)) = (kind, &default) {
            let at = self.at(default.span);
            self.report(errors::default_of_variadic(at, self.source.slice(Span::new(start, name.span.end))));
        }
        Box::new(ParamItem { kind, param: Some(Param { name, annotation, default, span }), span })
    }

    pub fn param_mark(&mut self, start: u32, kind: ParamKind, end: u32) -> Box<ParamItem> {
        Box::new(ParamItem { kind, param: None, span: Span::new(start, end) })
    }

    /// Sorts parameters by kind; one out of order is reported and dropped.
    pub fn parameters(&mut self, items: Vec<ParamItem>) -> Parameters {
        let mut params = Parameters::default();
        let mut star: Option<Span> = None;
        let mut slash: Option<Span> = None;
        let mut defaulted: Option<Ident> = None;
        for ParamItem { kind, param, span } in items {
            if let Some(last) = &params.var_keyword {
                let diagnostic = errors::parameter_after_kwargs(self.at(span), self.at(last.span));
                self.report(diagnostic);
                continue;
            }
            match (kind, param) {
                (ParamKind::Plain, Some(param)) if star.is_some() => params.keyword_only.push(param),
                (ParamKind::Plain, Some(param)) => {
                    self.check_default_order(&param, &mut defaulted);
                    params.regular.push(param);
                }
                (ParamKind::Slash, _) => match (star, slash) {
                    (Some(star), _) => self.report(errors::slash_after_star(self.at(span), self.at(star))),
                    (_, Some(first)) => self.report(errors::second_slash(self.at(span), self.at(first))),
                    _ if params.regular.is_empty() => self.report(errors::slash_first(self.at(span))),
                    _ => {
                        slash = Some(span);
                        params.positional_only = std::mem::take(&mut params.regular);
                    }
                },
                (ParamKind::Star | ParamKind::BareStar, param) => match star {
                    Some(first) => self.report(errors::second_star(self.at(span), self.at(first))),
                    None => {
                        star = Some(span);
                        params.var_positional = param;
                    }
                },
                (ParamKind::DoubleStar, param) => params.var_keyword = param,
                (ParamKind::Plain, None) => unreachable!("only marks have no parameter"),
            }
        }
        if let Some(star) = star
            && params.var_positional.is_none()
            && params.keyword_only.is_empty()
        {
            self.report(errors::nothing_after_star(self.at(star)));
        }
        self.check_duplicates(&params);
        params
    }

    fn check_default_order(&mut self, param: &Param, defaulted: &mut Option<Ident>) {
        match (&param.default, &defaulted) {
            (Some(_), None) => *defaulted = Some(param.name.clone()),
            (None, Some(earlier)) => {
                let (at, before) = (self.at(param.name.span), self.at(earlier.span));
                self.report(errors::missing_default(at, &param.name.name, before, &earlier.name));
            }
            _ => {}
        }
    }

    fn check_duplicates(&mut self, params: &Parameters) {
        let mut names: Vec<&Ident> = params.iter().map(|param| &param.name).collect();
        if names.len() < 2 {
            return;
        }
        names.sort_by(|a, b| a.name.cmp(&b.name).then(a.span.cmp(&b.span)));
        for pair in names.windows(2) {
            if pair[0].name == pair[1].name {
                let (first, again) = (self.at(pair[0].span), self.at(pair[1].span));
                self.report(errors::duplicate_parameter(again, &pair[1].name, first));
            }
        }
    }

    pub fn positional(&mut self, value: Expr) -> Argument {
        Argument { span: value.span, kind: ArgumentKind::Positional(value) }
    }

    /// `name=value`, where the text before the `=` may not be a name.
    pub fn keyword(&mut self, name: Expr, value: Expr) -> Argument {
        let span = name.span.to(value.span);
        match name.kind {
            ExprKind::Name(text) if self.text.as_bytes()[name.span.start as usize] != b'(' => {
                let name = Ident { name: text, span: name.span };
                Argument { span, kind: ArgumentKind::Keyword(name, value) }
            }
            _ => {
                let at = self.at(name.span);
                self.report(errors::keyword_is_no_name(at, self.source.slice(span), self.describe(&name)));
                Argument { span, kind: ArgumentKind::Positional(value) }
            }
        }
    }

    pub fn spread(&mut self, start: u32, value: Expr) -> Argument {
        Argument { span: Span::new(start, value.span.end), kind: ArgumentKind::Spread(value) }
    }

    pub fn keyword_spread(&mut self, start: u32, value: Expr) -> Argument {
        Argument { span: Span::new(start, value.span.end), kind: ArgumentKind::KeywordSpread(value) }
    }

    pub(super) fn check_arguments(&mut self, args: &[Argument]) {
        let mut keyword: Option<&Argument> = None;
        let mut keyword_spread: Option<&Argument> = None;
        for arg in args {
            match &arg.kind {
                ArgumentKind::Positional(value) => {
                    if let Some(before) = keyword_spread.or(keyword) {
                        let diagnostic = errors::positional_after_keyword(
                            self.at(arg.span),
                            self.at(before.span),
                            keyword_spread.is_some(),
                        );
                        self.report(diagnostic);
                        return;
                    }
                    if args.len() > 1 && self.is_bare_generator(value) {
                        self.report(errors::bare_generator(
                            self.at(value.span),
                            self.source.slice(value.span),
                        ));
                    }
                }
                ArgumentKind::Spread(_) => {
                    if let Some(before) = keyword_spread {
                        self.report(errors::spread_after_keyword_spread(
                            self.at(arg.span),
                            self.at(before.span),
                        ));
                        return;
                    }
                }
                ArgumentKind::Keyword(..) => keyword = keyword.or(Some(arg)),
                ArgumentKind::KeywordSpread(_) => keyword_spread = keyword_spread.or(Some(arg)),
            }
        }
        if keyword.is_some() {
            self.check_repeated_keywords(args);
        }
    }

    /// A generator that uses the parentheses of the call.
    fn is_bare_generator(&self, value: &Expr) -> bool {
        let in_own_parens = self.in_parens(value) && self.source.slice(value.span).ends_with(')');
        matches!(value.kind, ExprKind::Generator { .. }) && !in_own_parens
    }

    fn check_repeated_keywords(&mut self, args: &[Argument]) {
        let mut names: Vec<&Ident> = args
            .iter()
            .filter_map(|arg| match &arg.kind {
                ArgumentKind::Keyword(name, _) => Some(name),
                _ => None,
            })
            .collect();
        names.sort_by(|a, b| a.name.cmp(&b.name).then(a.span.cmp(&b.span)));
        for pair in names.windows(2) {
            if pair[0].name == pair[1].name {
                let (first, again) = (self.at(pair[0].span), self.at(pair[1].span));
                self.report(errors::repeated_keyword(again, &pair[1].name, first));
            }
        }
    }
}
