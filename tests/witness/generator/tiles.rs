//! Kernels with cooperative matrices, whose workgroups are one subgroup. Matrices are loaded and stored in
//! rows and in columns, inside of arrays and across their ends, multiplied, and used in componentwise
//! operations.
//!
//! The arrays have small integers, so that sums are mostly exact in any order. Every store has its own array,
//! and every workgroup its part of it.

use kps_kernel::{Kind, Scalar};

use super::Writer;
use crate::data;

/// A cooperative matrix.
#[derive(Clone)]
pub struct Tile {
    name: String,
    scalar: Scalar,
    rows: u32,
    columns: u32,
    purpose: &'static str,
}

/// Types of factors and sums in products. Devices support most of them natively.
const NUMBERS: [(Scalar, Scalar); 9] = [
    (Scalar::F16, Scalar::F32),
    (Scalar::F16, Scalar::F32),
    (Scalar::F16, Scalar::F16),
    (Scalar::Bf16, Scalar::F32),
    (Scalar::I8, Scalar::I32),
    (Scalar::U8, Scalar::U32),
    (Scalar::F32, Scalar::F32),
    (Scalar::F64, Scalar::F64),
    (Scalar::I16, Scalar::I64),
];
const SIZES: [[u32; 3]; 6] = [[8, 8, 8], [16, 8, 8], [8, 8, 16], [16, 8, 16], [16, 16, 16], [4, 8, 3]];

const N_INVOCATIONS: usize = 8;
/// Number of elements of the shared array.
const N_SHARED: u32 = 300;

impl Tile {
    fn is_like(&self, other: &Tile) -> bool {
        let what = |tile: &Tile| (tile.scalar, tile.rows, tile.columns, tile.purpose);
        what(self) == what(other)
    }

    fn made(&self) -> String {
        let Tile { scalar, rows, columns, purpose, .. } = self;
        format!("coop_matrix({scalar}, {rows}, {columns}, \"{purpose}\")")
    }
}

impl Writer {
    pub fn tile_kernel(&mut self) {
        let (factor, sum) = *self.random.pick(&NUMBERS);
        let [m, n, k] = *self.random.pick(&SIZES);
        let outputs: Vec<(String, Scalar)> = (0..1 + self.random.below(2))
            .map(|_| (self.name(data::TILES), *self.random.pick(&[sum, sum, sum, factor, Scalar::F32])))
            .collect();
        let inputs = [factor, factor, sum].map(|scalar| (self.name(data::TILES), scalar));
        let arrays = inputs.iter().chain(&outputs);
        let params: Vec<String> = arrays.map(|(name, scalar)| format!("{name}: Array[{scalar}]")).collect();
        self.line("def twice(m, other):");
        self.line("    return m * 2 + other");
        self.line("");
        self.line(&format!("@kernel(local_size=({N_INVOCATIONS},))"));
        self.block(&format!("def random_kernel({}, n: i32):", params.join(", ")), |writer| {
            writer.line("g = group_id.x");
            writer.line(&format!("part = shared({factor}, {N_SHARED})"));
            writer.line(&format!("for at in range(local_id.x, {N_SHARED}, {N_INVOCATIONS}):"));
            writer.line(&format!("    part[at] = {factor}(at % 3)"));
            writer.line("barrier()");
            let first = [("a", factor, m, k, "a"), ("b", factor, k, n, "b"), ("c", sum, m, n, "accumulator")];
            for (name, scalar, rows, columns, purpose) in first {
                let tile = Tile { name: name.to_owned(), scalar, rows, columns, purpose };
                writer.line(&format!("{name} = {}", tile.made()));
                writer.load_tile(&tile, &inputs);
                writer.tiles.push(tile);
            }
            for _ in 0..3 + writer.random.below(4) {
                writer.tile_statement(2, &inputs);
            }
            outputs.iter().for_each(|(name, scalar)| writer.store_tile(name, *scalar));
        });
    }

    fn tile_statement(&mut self, depth: usize, inputs: &[(String, Scalar)]) {
        let tile = self.random.pick(&self.tiles).clone();
        match self.random.below(if depth == 0 { 9 } else { 11 }) {
            0 => self.load_tile(&tile, inputs),
            1 => {
                let value = if self.random.one_in(2) { "3" } else { "n % 4" };
                self.line(&format!("coop_fill({}, {}({value}))", tile.name, tile.scalar));
            }
            2..5 => self.line("coop_multiply_add(c, a, b)"),
            5 => self.change_tile(&tile),
            6 | 7 => self.new_tile(&tile),
            8 => self.tile_through_shared(),
            9 => {
                let head = format!("for k in range({}):", self.random.pick(&["2", "n % 4", "g + 1"]));
                self.tile_block(&head, depth, inputs);
            }
            _ => {
                let condition = *self.random.pick(&["n % 2 == 0", "g > 0", "n > 3 or g == 1"]);
                self.tile_block(&format!("if {condition}:"), depth, inputs);
                if self.random.one_in(2) {
                    self.tile_block("else:", depth, inputs);
                }
            }
        }
    }

    fn tile_block(&mut self, head: &str, depth: usize, inputs: &[(String, Scalar)]) {
        let n_tiles = self.tiles.len();
        self.block(head, |writer| {
            for _ in 0..1 + writer.random.below(3) {
                writer.tile_statement(depth - 1, inputs);
            }
        });
        self.tiles.truncate(n_tiles);
    }

    /// From an array of its numbers, if there is one.
    fn load_tile(&mut self, tile: &Tile, inputs: &[(String, Scalar)]) {
        let fitting: Vec<&(String, Scalar)> =
            inputs.iter().filter(|(_, scalar)| *scalar == tile.scalar).collect();
        if fitting.is_empty() {
            return self.change_tile(tile);
        }
        let array = self.random.pick(&fitting).0.clone();
        let start =
            *self.random.pick(&["0", "16", "g * 64", "g * 64", "(n % 5) * 16", "n % 50", "n", "-3", "290"]);
        let (width, lines) = self.lines_of(tile);
        let stride = match self.random.below(6) {
            0 => format!("n % {}", 2 * width),
            1 => (width + 3).to_string(),
            2 => (width + 8).to_string(),
            _ => width.to_string(),
        };
        self.line(&format!("coop_load({}, {array}, {start}, {stride}{lines})", tile.name));
    }

    /// Elements of a line in memory, and the argument for its direction.
    fn lines_of(&mut self, tile: &Tile) -> (u32, &'static str) {
        match self.random.below(3) {
            0 => (tile.rows, ", column_major=True"),
            1 => (tile.columns, ", column_major=False"),
            _ => (tile.columns, ""),
        }
    }

    /// Into the workgroup's part of an array.
    fn store_tile(&mut self, array: &str, scalar: Scalar) {
        let same: Vec<Tile> = self.tiles.iter().filter(|tile| tile.scalar == scalar).cloned().collect();
        let (tile, value) = match same.is_empty() {
            true => {
                let tile = self.random.pick(&self.tiles).clone();
                let value = format!("{scalar}({})", tile.name);
                (tile, value)
            }
            false => {
                let tile = self.random.pick(&same).clone();
                let value = tile.name.clone();
                (tile, value)
            }
        };
        let (width, lines) = self.lines_of(&tile);
        let stride = width + *self.random.pick(&[0, 0, 8, 3]);
        let first = *self.random.pick(&[0, 0, 16, 5]);
        let part = (tile.rows * tile.columns / width * stride + first).next_multiple_of(16);
        self.line(&format!("coop_store({value}, {array}, g * {part} + {first}, {stride}{lines})"));
    }

    fn change_tile(&mut self, tile: &Tile) {
        let others: Vec<Tile> = self.tiles.iter().filter(|other| other.is_like(tile)).cloned().collect();
        let other = self.random.pick(&others).name.clone();
        let name = &tile.name;
        let line = match self.random.below(4) {
            0 => format!("{name} += {other}"),
            1 => format!("{name} -= {other}"),
            2 if tile.scalar.is_float() => format!("{name} /= 2"),
            _ => format!("{name} *= {}", self.factor(tile.scalar)),
        };
        self.line(&line);
    }

    /// A small number, typed or untyped.
    fn factor(&mut self, scalar: Scalar) -> String {
        let value = *self.random.pick(&["2", "3", "n % 3"]);
        if value.len() == 1 && self.random.one_in(2) {
            value.to_owned()
        } else {
            format!("{scalar}({value})")
        }
    }

    fn new_tile(&mut self, of: &Tile) {
        let name = self.name("m");
        let others: Vec<Tile> = self.tiles.iter().filter(|other| other.is_like(of)).cloned().collect();
        let (a, b) = (&of.name, self.random.pick(&others).name.clone());
        let mut scalar = of.scalar;
        let value = match self.random.below(6) {
            0 => format!("{a} + {b}"),
            1 if scalar.kind() != Kind::Unsigned => format!("-{a}"),
            2 => format!("{} * {a}", self.factor(scalar)),
            3 => format!("twice({a}, {b})"),
            4 => {
                scalar =
                    *self.random.pick(&[Scalar::F32, Scalar::F32, Scalar::F16, Scalar::I32, Scalar::Bf16]);
                format!("{scalar}({a})")
            }
            _ => format!("{a} - {b}"),
        };
        self.line(&format!("{name} = {value}"));
        self.tiles.push(Tile { name, scalar, ..of.clone() });
    }

    /// Stores a factor to shared memory, and loads it again in the other direction or as the other factor.
    fn tile_through_shared(&mut self) {
        let [a, b] = [0, 1].map(|at| self.tiles[at].clone());
        let (from, to) = if self.random.one_in(2) { (a.clone(), b) } else { (a.clone(), a) };
        let [(width, lines), (into, by)] = [self.lines_of(&from), self.lines_of(&to)];
        let first = *self.random.pick(&[0, 0, 16, 60]);
        self.line(&format!("coop_store({}, part, {first}, {width}{lines})", from.name));
        self.line("barrier()");
        self.line(&format!("coop_load({}, part, 0, {into}{by})", to.name));
        self.line("barrier()");
    }
}
