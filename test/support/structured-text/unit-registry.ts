import { compileInitial } from "./initial-value.ts";
import { type CompiledUnit, type Machine, type Scope, type SharedMemory, variablesOf } from "./scope.ts";
import { compileBody } from "./statement-compiler.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import type { Unit } from "./syntax.ts";
import type { Value } from "./value.ts";

/** The units of a program and the standard blocks. Variables come first, bodies when all names are known. */
export interface UnitRegistry {
  /** A block by its name. @throws StructuredTextError when there is none, or it contains itself */
  readonly block: Scope["block"];
  /** Declares the variables of a unit, which sees this shared memory. */
  declare(unit: Unit, shared: SharedMemory): CompiledUnit;
  /** @throws StructuredTextError for names that are unknown and types that do not fit */
  compileBodies(): void;
}

/** What is known of a block: `declaring` while the types of its own variables are looked up. */
type Entry =
  | { readonly state: "read"; readonly unit: Unit; readonly shared: SharedMemory }
  | { readonly state: "declaring" }
  | { readonly state: "declared"; readonly compiled: CompiledUnit };

/** @throws StructuredTextError for two blocks of one name */
export function createUnitRegistry(
  machine: Machine,
  blocks: readonly { readonly unit: Unit; readonly shared: SharedMemory }[],
): UnitRegistry {
  const entries = new Map<string, Entry>();
  const pending: (() => void)[] = [];

  const declare = (unit: Unit, shared: SharedMemory): CompiledUnit => {
    const variables = variablesOf(unit.declarations, (declaration) => compileInitial(block, declaration));
    let body: (slots: Value[]) => void = () => {
      throw new Error(`the body of "${unit.name}" is not compiled yet`);
    };
    pending.push(() => {
      body = compileBody({ machine, shared, block, locals: variables }, unit.body);
    });
    return { name: unit.name, variables, run: (slots) => body(slots) };
  };

  const block = (name: string, at: Position): CompiledUnit => {
    const key = name.toLowerCase();
    const entry = entries.get(key);
    switch (entry?.state) {
      case undefined:
        throw new StructuredTextError(at, `unknown type "${name}"; a type or a function block expected`);
      case "declaring":
        throw new StructuredTextError(at, `function block ${name} contains itself; another type expected`);
      case "declared":
        return entry.compiled;
      case "read": {
        const { unit, shared } = entry;
        entries.set(key, { state: "declaring" });
        const compiled = declare(unit, shared);
        entries.set(key, { state: "declared", compiled });
        return compiled;
      }
    }
  };

  for (const { unit, shared } of blocks) {
    const key = unit.name.toLowerCase();
    if (entries.has(key))
      throw new StructuredTextError(
        unit.at,
        `there is a block "${unit.name}" already; another name expected`,
      );
    entries.set(key, { state: "read", unit, shared });
  }
  for (const { unit } of blocks) block(unit.name, unit.at);

  return {
    block,
    declare,
    compileBodies() {
      for (const compile of pending) compile();
    },
  };
}
