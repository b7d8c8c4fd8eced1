import { compileAssignment, locatorOfAssignable, store } from "./assignment.ts";
import { compileCall } from "./call-compiler.ts";
import { convert, convertToBoolean, convertToInteger } from "./conversion.ts";
import { typeName } from "./data-type.ts";
import { compileExpression, compilePath } from "./expression-compiler.ts";
import { boundOf } from "./operator.ts";
import type { Scope } from "./scope.ts";
import { StructuredTextError } from "./structured-text-error.ts";
import type { Branch, ForStatement, Statement } from "./syntax.ts";
import { asNumber, type Value, valueAt } from "./value.ts";

/** Runs a statement, and says whether the next one follows, or the loop or the whole body ends. */
type Run = (slots: Value[]) => "next" | "exit" | "return";

/** @throws StructuredTextError for unknown names, types that do not fit, and an EXIT outside of loops */
export function compileBody(scope: Scope, body: readonly Statement[]): (slots: Value[]) => void {
  const run = compileStatements(scope, body, false);
  return (slots) => {
    run(slots);
  };
}

function compileStatements(scope: Scope, statements: readonly Statement[], inLoop: boolean): Run {
  const runs = statements.map((statement) => {
    const run = compileStatement(scope, statement, inLoop);
    return (slots: Value[]) => {
      scope.machine.count(statement.at);
      return run(slots);
    };
  });
  return (slots) => {
    for (const run of runs) {
      const next = run(slots);
      if (next !== "next") return next;
    }
    return "next";
  };
}

function compileStatement(scope: Scope, statement: Statement, inLoop: boolean): Run {
  switch (statement.kind) {
    case "assign":
      return compileAssign(scope, statement);
    case "call":
      return thenNext(compileCall(scope, statement.at, statement.block, statement.parameters));
    case "if":
      return compileIf(scope, statement, inLoop);
    case "case":
      return compileCase(scope, statement, inLoop);
    case "for":
      return compileFor(scope, statement);
    case "while":
    case "repeat":
      return compileLoop(scope, statement.kind, statement.loop);
    case "exit":
      if (!inLoop) throw new StructuredTextError(statement.at, "a loop expected around EXIT");
      return () => "exit";
    case "return":
      return () => "return";
  }
}

type StatementOf<Kind> = Extract<Statement, { readonly kind: Kind }>;

function compileAssign(scope: Scope, { target, value }: StatementOf<"assign">): Run {
  const source = compileExpression(scope, value);
  return thenNext(compileAssignment(scope.machine, compilePath(scope, target), source));
}

function thenNext(run: (slots: Value[]) => void): Run {
  return (slots) => {
    run(slots);
    return "next";
  };
}

function compileIf(scope: Scope, { branches, otherwise }: StatementOf<"if">, inLoop: boolean): Run {
  const compiled = branches.map(({ condition, body }) => ({
    isMet: convertToBoolean(compileExpression(scope, condition)),
    run: compileStatements(scope, body, inLoop),
  }));
  const runOtherwise = compileStatements(scope, otherwise, inLoop);
  return (slots) => (compiled.find(({ isMet }) => isMet(slots))?.run ?? runOtherwise)(slots);
}

function compileCase(scope: Scope, statement: StatementOf<"case">, inLoop: boolean): Run {
  const select = convertToInteger(compileExpression(scope, statement.selector));
  const cases = statement.cases.map(({ labels, body }) => ({
    labels,
    run: compileStatements(scope, body, inLoop),
  }));
  const runOtherwise = compileStatements(scope, statement.otherwise, inLoop);
  return (slots) => {
    const value = select(slots);
    const found = cases.find(({ labels }) =>
      labels.some(({ first, last }) => first <= value && value <= last),
    );
    return (found?.run ?? runOtherwise)(slots);
  };
}

function compileLoop(scope: Scope, kind: "while" | "repeat", { condition, body }: Branch): Run {
  const isMet = convertToBoolean(compileExpression(scope, condition));
  const run = compileStatements(scope, body, true);
  const isOver = (slots: Value[]) => isMet(slots) === (kind === "repeat");
  return (slots) => {
    if (kind === "while" && isOver(slots)) return "next";
    do {
      scope.machine.count(condition.at);
      const next = run(slots);
      if (next !== "next") return next === "exit" ? "next" : next;
    } while (!isOver(slots));
    return "next";
  };
}

/** The end and the step are evaluated once; after the last pass the variable is one step beyond the end. */
function compileFor(scope: Scope, statement: ForStatement): Run {
  const { at, variable, by, body } = statement;
  const target = compilePath(scope, variable);
  const { type } = target;
  if (type.kind !== "INT" && type.kind !== "DINT")
    throw new StructuredTextError(variable.at, `a variable of INT or DINT expected, found ${typeName(type)}`);
  const locate = locatorOfAssignable(target);
  const bound = boundOf(type, at);
  const from = asNumber(convert(compileExpression(scope, statement.from), type));
  const to = asNumber(convert(compileExpression(scope, statement.to), type));
  const step = by === null ? () => 1 : asNumber(convert(compileExpression(scope, by), type));
  const run = compileStatements(scope, body, true);

  return (slots) => {
    const place = locate(slots);
    const current = () => valueAt(place.holder, place.index) as number;
    const [first, end, width] = [from(slots), to(slots), step(slots)];
    if (width === 0) throw new StructuredTextError(at, "a step other than 0 expected after BY");
    store(scope.machine, place, first);
    while (width > 0 ? current() <= end : current() >= end) {
      scope.machine.count(at);
      const next = run(slots);
      if (next !== "next") return next === "exit" ? "next" : next;
      store(scope.machine, place, bound(current() + width));
    }
    return "next";
  };
}
