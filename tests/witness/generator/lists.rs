//! Random functions over lists, as scripts that run each in a kernel and on the host.
//!
//! Names share lists, lists are stored in others, selected, swapped, passed to functions and returned. On the host they
//! are Python's lists. A kernel copies some of them, and must refuse the function where that changes its result.

use crate::random::Random;

/// Names of lists of two ints, and of lists of two such lists.
const LISTS: [&str; 4] = ["a", "b", "c", "d"];
const ROWS: [&str; 2] = ["m", "w"];

const FUNCTIONS: &str = "\
import numpy as np


def same(v):
    return v


def pick(u, v, n):
    if n > 1:
        return u
    return v


def set_first(v, x):
    v[0] = x


def replace_first(rows, x):
    rows[0] = [x, x]


";

const RUN: &str = "

@kernel
def k(o: Array[i32]):
    o[0] = f(o[0])


for n in range(5):
    o = Tensor(np.array([n], dtype=np.int32))
    k[1](o)
    assert int(o[0]) == f(n), f'{n}: {int(o[0])} in the kernel, {f(n)} on the host'
";

/// The script for a seed. It fails if the kernel has another result than the host.
pub fn generate_lists(seed: u64) -> String {
    let mut writer = Writer { random: Random::new(seed), text: FUNCTIONS.to_owned() };
    writer.function();
    writer.text + RUN
}

struct Writer {
    random: Random,
    text: String,
}

impl Writer {
    fn line(&mut self, indent: usize, text: &str) {
        self.text += &"    ".repeat(indent);
        self.text += text;
        self.text.push('\n');
    }

    fn function(&mut self) {
        self.line(0, "def f(n: i32) -> i32:");
        self.line(1, "t = 0");
        for (at, name) in LISTS.iter().enumerate() {
            match at > 0 && self.random.one_in(3) {
                true => self.line(1, &format!("{name} = {}", LISTS[at - 1])),
                false => self.line(1, &format!("{name} = [{at}, {}]", at + 1)),
            }
        }
        self.line(1, "m = [[1, 2], [3, 4]]");
        self.line(1, "w = [[5, 6], [7, 8]]");
        for _ in 0..3 + self.random.below(6) {
            self.statement(1, 2, false);
        }
        let n_read = 2 + self.random.below(5);
        let read: Vec<String> =
            (0..n_read).map(|at| format!("{} * {}", 1 << (3 * at), self.element())).collect();
        self.line(1, &format!("return t + {}", read.join(" + ")));
    }

    fn block(&mut self, indent: usize, depth: usize, in_loop: bool) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(indent, depth, in_loop);
        }
    }

    fn statement(&mut self, indent: usize, depth: usize, in_loop: bool) {
        let (list, rows) = (*self.random.pick(&LISTS), *self.random.pick(&ROWS));
        let at = self.random.below(2);
        let text = match self.random.below(20) {
            0..4 => format!("{list} = {}", self.list()),
            4..7 => format!("{list}[{at}] {} {}", self.random.pick(&["=", "+="]), self.number()),
            7..9 => format!("{rows}[{}] = {}", self.random.pick(&["0", "1", "n % 2"]), self.list()),
            9 => format!("{rows}[{at}][{}] = {}", self.random.below(2), self.number()),
            10 => format!("{rows} = {}", self.rows()),
            11 => {
                let other = self.random.pick(&LISTS);
                format!("{list}, {other} = {other}, {list}")
            }
            12 => format!("set_first({}, {})", self.list(), self.number()),
            13 => format!("replace_first({rows}, {})", self.number()),
            14..17 if depth > 0 => return self.branches(indent, depth, in_loop),
            17..19 if depth > 0 => {
                let over = if self.random.one_in(2) { list } else { "range(n)" };
                self.line(indent, &format!("for i{indent} in {over}:"));
                return self.block(indent + 1, depth - 1, true);
            }
            19 if in_loop => {
                let condition = self.condition();
                self.line(indent, &format!("if {condition}:"));
                let exit = *self.random.pick(&["break", "continue"]);
                return self.line(indent + 1, exit);
            }
            _ => format!("t += {}", self.number()),
        };
        self.line(indent, &text);
    }

    fn branches(&mut self, indent: usize, depth: usize, in_loop: bool) {
        let condition = self.condition();
        self.line(indent, &format!("if {condition}:"));
        self.block(indent + 1, depth - 1, in_loop);
        if self.random.one_in(2) {
            self.line(indent, "else:");
            self.block(indent + 1, depth - 1, in_loop);
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(4) {
            0 => "n > 1".to_owned(),
            1 => "n % 2 == 0".to_owned(),
            2 => "n < 3".to_owned(),
            _ => format!("{} > {}", self.element(), self.random.below(10)),
        }
    }

    fn element(&mut self) -> String {
        match self.random.one_in(3) {
            true => {
                let rows = *self.random.pick(&ROWS);
                format!("{rows}[{}][{}]", self.random.below(2), self.random.below(2))
            }
            false => format!("{}[{}]", self.random.pick(&LISTS), self.random.below(2)),
        }
    }

    fn number(&mut self) -> String {
        match self.random.below(4) {
            0 => "n".to_owned(),
            1 => self.random.below(10).to_string(),
            _ => self.element(),
        }
    }

    fn list(&mut self) -> String {
        match self.random.below(20) {
            0..6 => (*self.random.pick(&LISTS)).to_owned(),
            6..9 => format!("[{}, {}]", self.random.below(10), self.random.below(10)),
            9..12 => format!("{}[{}]", self.random.pick(&ROWS), self.random.pick(&["0", "1", "n % 2"])),
            12..14 => format!("({} if {} else {})", self.list(), self.condition(), self.list()),
            14..16 => format!("same({})", self.list()),
            16 => format!("pick({}, {}, n)", self.list(), self.list()),
            17 => format!("[*{}]", self.random.pick(&LISTS)),
            _ => format!("[{}, {}]", self.number(), self.number()),
        }
    }

    fn rows(&mut self) -> String {
        match self.random.below(8) {
            0..4 => format!("[{}, {}]", self.list(), self.list()),
            4 => (*self.random.pick(&ROWS)).to_owned(),
            5 => format!("[[{}] * 2] * 2", self.number()),
            6 => format!("[[{}] * 2, {}]", self.number(), self.list()),
            _ => {
                let rows = *self.random.pick(&ROWS);
                format!("({rows} if {} else [{}, {}])", self.condition(), self.list(), self.list())
            }
        }
    }
}
