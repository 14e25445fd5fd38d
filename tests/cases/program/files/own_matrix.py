from __future__ import annotations

class Matrix:
    def __init__(self, rows, columns, value=0):
        self.cells = [[value] * columns for _ in range(rows)]

class Vector:
    def __init__(self, *parts: Part):
        self.parts = parts

print(Matrix(2, 3, 1).cells, Vector(1, 2).parts)
