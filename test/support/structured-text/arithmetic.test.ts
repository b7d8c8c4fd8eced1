import fc from "fast-check";
import { expect, test } from "vitest";
import { plcOf } from "./structured-text-harness.ts";

type Operator = "+" | "-" | "*" | "/" | "MOD";
type Tree =
  | { readonly kind: "number"; readonly value: bigint }
  | { readonly kind: "variable"; readonly name: "a" | "b" | "c" }
  | { readonly kind: "minus"; readonly operand: Tree }
  | { readonly kind: "pair"; readonly operator: Operator; readonly left: Tree; readonly right: Tree };

const strength: Readonly<Record<Operator, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, MOD: 2 };
const least = -(2n ** 31n);
const most = 2n ** 31n - 1n;

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.record({ kind: fc.constant("number" as const), value: fc.bigInt(0n, 40n) }),
    fc.record({ kind: fc.constant("variable" as const), name: fc.constantFrom("a", "b", "c") }),
    fc.record({ kind: fc.constant("minus" as const), operand: tie("tree") }),
    fc.record({
      kind: fc.constant("pair" as const),
      operator: fc.constantFrom<Operator[]>("+", "-", "*", "/", "MOD"),
      left: tie("tree"),
      right: tie("tree"),
    }),
  ),
}));

const dint = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom(Number(least), Number(most)),
  fc.integer(),
);

/** The value by arithmetic without bounds, or what is wrong with it. */
function reference(node: Tree, values: Readonly<Record<string, bigint>>): bigint | "overflow" | "zero" {
  switch (node.kind) {
    case "number":
      return node.value;
    case "variable":
      return values[node.name] ?? 0n;
    case "minus": {
      const operand = reference(node.operand, values);
      return typeof operand === "string" ? operand : within(-operand);
    }
    case "pair": {
      const left = reference(node.left, values);
      if (typeof left === "string") return left;
      const right = reference(node.right, values);
      if (typeof right === "string") return right;
      if (right === 0n && (node.operator === "/" || node.operator === "MOD")) return "zero";
      return within(calculate(node.operator, left, right));
    }
  }
}

function within(value: bigint): bigint | "overflow" {
  return value < least || value > most ? "overflow" : value;
}

function calculate(operator: Operator, left: bigint, right: bigint): bigint {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "MOD":
      return left % right;
  }
}

/** With no more parentheses than the precedence of the standard asks for. */
function textOf(node: Tree, outer = 0): string {
  switch (node.kind) {
    case "number":
      return `${node.value}`;
    case "variable":
      return node.name;
    case "minus":
      return `-${textOf(node.operand, 3)}`;
    case "pair": {
      const own = strength[node.operator];
      const text = `${textOf(node.left, own)} ${node.operator} ${textOf(node.right, own + 1)}`;
      return own < outer ? `(${text})` : text;
    }
  }
}

test("the arithmetic of DINT is that of integers, and what a DINT cannot hold is an error", () => {
  const seen = { value: 0, overflow: 0, zero: 0 };
  fc.assert(
    fc.property(tree, dint, dint, dint, (node, a, b, c) => {
      const expected = reference(node, { a: BigInt(a), b: BigInt(b), c: BigInt(c) });
      const externals = { a: "DINT", b: "DINT", c: "DINT", result: "DINT" };
      const run = () => {
        const plc = plcOf(`result := ${textOf(node)};`, { externals });
        for (const [name, value] of Object.entries({ a, b, c })) plc.set(name, value);
        plc.cycle();
        return plc.get("result");
      };
      seen[typeof expected === "string" ? expected : "value"] += 1;
      if (expected === "zero") expect(run).toThrow("division by zero");
      else if (expected === "overflow") expect(run).toThrow("is outside DINT");
      else expect(run()).toBe(Number(expected));
    }),
    { numRuns: 2_000, seed: 61_131 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(20);
});
