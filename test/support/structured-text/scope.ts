import type { DataType } from "./data-type.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import type { Declaration, Section } from "./syntax.ts";
import type { Evaluator, Place, Value } from "./value.ts";

/** A variable that is declared; `slot` is its index in the instance, or among the shared variables. */
export interface Variable {
  readonly name: string;
  readonly type: DataType;
  readonly section: Section;
  readonly retain: boolean;
  readonly slot: number;
  /** A value for a new instance. */
  readonly create: () => Value;
}

/** Variables by their name in small letters, in the order of declaration. */
export type Variables = ReadonlyMap<string, Variable>;

export interface CompiledUnit {
  readonly name: string;
  readonly variables: Variables;
  /** Runs the body once. */
  readonly run: (slots: Value[]) => void;
}

/** What all compiled code of a PLC calls. */
export interface Machine {
  /** Counts a statement that runs. @throws StructuredTextError when a cycle has too many */
  count(at: Position): void;
  /** Notes that a shared variable was assigned. */
  noteWritten(name: string): void;
}

/** Variables that all units see, and their values. */
export interface SharedMemory {
  readonly variables: Variables;
  readonly slots: Value[];
}

/** What names mean inside a unit. */
export interface Scope {
  readonly machine: Machine;
  readonly locals: Variables;
  readonly shared: SharedMemory;
  /** The block of this name. @throws StructuredTextError when there is none, or it contains itself */
  block(name: string, at: Position): CompiledUnit;
}

/** The variables of declarations, in slots from 0. */
export function variablesOf(
  declarations: readonly Declaration[],
  createOf: (declaration: Declaration) => () => Value,
): Map<string, Variable> {
  const variables = new Map<string, Variable>();
  const lines = new Map<string, number>();
  for (const declaration of declarations) {
    const { at, name, type, section, retain } = declaration;
    const key = name.toLowerCase();
    const line = lines.get(key);
    if (line !== undefined)
      throw new StructuredTextError(
        at,
        `"${name}" is declared already, in line ${line}; another name expected`,
      );
    lines.set(key, at.line);
    variables.set(key, { name, type, section, retain, slot: variables.size, create: createOf(declaration) });
  }
  return variables;
}

/** An instance in which every variable has its initial value. */
export function createInstance(variables: Variables): Value[] {
  return [...variables.values()].map((variable) => variable.create());
}

export interface LocatedVariable {
  readonly variable: Variable;
  readonly locate: Locator;
}

/** Finds a variable's place for the instance that runs. */
export type Locator = (slots: Value[]) => Place;

/** The variable that a name means in a scope. @throws StructuredTextError when it is declared nowhere */
export function locateVariable(scope: Scope, name: string, at: Position): LocatedVariable {
  const key = name.toLowerCase();
  const local = scope.locals.get(key);
  if (local !== undefined) {
    const { slot } = local;
    return local.section === "VAR_IN_OUT"
      ? { variable: local, locate: (slots) => slots[slot] as Place }
      : { variable: local, locate: (slots) => ({ holder: slots, index: slot, shared: null }) };
  }
  const global = scope.shared.variables.get(key);
  if (global === undefined)
    throw new StructuredTextError(at, `"${name}" is declared nowhere; a declaration in a VAR block expected`);
  const place: Place = { holder: scope.shared.slots, index: global.slot, shared: global.name };
  return { variable: global, locate: () => place };
}

/** A compiled expression. */
export interface Typed<Type> {
  readonly at: Position;
  readonly type: Type;
  readonly evaluate: Evaluator;
}
