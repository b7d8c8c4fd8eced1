import { convert, type Expr } from "./conversion.ts";
import type { CompiledPath } from "./expression-compiler.ts";
import type { Locator, Machine } from "./scope.ts";
import { StructuredTextError } from "./structured-text-error.ts";
import type { Place, Value } from "./value.ts";

/** Assigns a value to a variable. @throws StructuredTextError when that is read-only or of another type */
export function compileAssignment(
  machine: Machine,
  target: CompiledPath,
  source: Expr,
): (slots: Value[]) => void {
  const locate = locatorOfAssignable(target);
  const evaluate = convert(source, target.type);
  return (slots) => {
    const value = evaluate(slots);
    store(machine, locate(slots), value);
  };
}

/** Finds a variable that is to be assigned. @throws StructuredTextError when it must not be */
export function locatorOfAssignable({ at, locate, readOnly }: CompiledPath): Locator {
  if (readOnly !== null) throw new StructuredTextError(at, `${readOnly}; another variable expected`);
  return locate;
}

/** Puts a value in its place. */
export function store(machine: Machine, { holder, index, shared }: Place, value: Value): void {
  holder[index] = value;
  if (shared !== null) machine.noteWritten(shared);
}
