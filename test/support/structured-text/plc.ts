import type { DataType } from "./data-type.ts";
import { compileInitial } from "./initial-value.ts";
import { parseType } from "./parser.ts";
import {
  type Cell,
  findCell,
  type HostValue,
  type Memory,
  readCell,
  retainedCells,
  type Snapshot,
  writeCell,
} from "./plc-memory.ts";
import {
  type CompiledUnit,
  createInstance,
  type Machine,
  type SharedMemory,
  type Variable,
  variablesOf,
} from "./scope.ts";
import { clock, standardBlocks } from "./standard-block.ts";
import { StructuredTextError } from "./structured-text-error.ts";
import type { Declaration, Program, Unit } from "./syntax.ts";
import { createUnitRegistry, type UnitRegistry } from "./unit-registry.ts";

/** How many statements a cycle may run before it is taken for one that does not end. */
const mostStatements = 100_000;

export interface PlcOptions {
  /** Milliseconds, for the timers; looked at once a cycle. */
  readonly nowMs: () => number;
  /** Variables that the host provides, with their types: `{ NextId: "DINT" }`. */
  readonly externals?: Readonly<Record<string, string>>;
  /** What an earlier PLC with the same program retained. */
  readonly retained?: Snapshot;
  /** The PROGRAM to run, or a FUNCTION_BLOCK to run an instance of; needed where there is not one PROGRAM. */
  readonly run?: string;
}

/** A PLC with a program, which runs when the host says so. */
export interface Plc {
  /**
   * Runs the program once.
   * @returns the external and global variables that it assigned, in the order in which it assigned them last
   * @throws StructuredTextError where the program goes wrong: the cycle ends there, as on a PLC that stops
   */
  cycle(): readonly string[];
  /** A variable's value, by name or path (`fb.Q`); TIME is in milliseconds. @throws Error if unknown */
  get(name: string): HostValue;
  /** @throws Error for no such variable, and for a value that is not of its type */
  set(name: string, value: HostValue): void;
  /** The values of all RETAIN variables, those in instances of function blocks too. */
  retained(): Snapshot;
}

/**
 * Compiles a program and makes its variables; nothing runs yet.
 * @throws StructuredTextError for unknown names and wrong types, in the unit to run and in all blocks
 */
export function createPlc(program: Program, options: PlcOptions): Plc {
  const written = new Set<string>();
  let statements = 0;
  const machine: Machine = {
    count(at) {
      statements += 1;
      if (statements > mostStatements)
        throw new StructuredTextError(at, `end of the cycle expected within ${mostStatements} statements`);
    },
    noteWritten(name) {
      written.delete(name);
      written.add(name);
    },
  };

  const time: SharedMemory = { variables: variablesOf([clock], () => () => 0), slots: [0] };
  const variables = new Map<string, Variable>();
  const shared: SharedMemory = { variables, slots: [] };
  const registry = createUnitRegistry(machine, [
    ...standardBlocks.map((unit) => ({ unit, shared: time })),
    ...program.units.filter(({ kind }) => kind === "block").map((unit) => ({ unit, shared })),
  ]);
  const declarations = [...program.globals, ...externalsOf(options.externals ?? {})];
  for (const [key, variable] of variablesOf(declarations, (one) => compileInitial(registry.block, one)))
    variables.set(key, variable);
  shared.slots.push(...createInstance(variables));
  const unit = unitToRun(registry, program, shared, options.run);
  registry.compileBodies();
  const instance: Memory = { variables: unit.variables, slots: createInstance(unit.variables) };

  const retainedOnes = () =>
    new Map([
      ...retainedCells(registry.block, instance, ""),
      ...retainedCells(registry.block, shared, "VAR_GLOBAL."),
    ]);
  const cellOf = (name: string) => {
    const cell = findCell(registry.block, instance, name) ?? findCell(registry.block, shared, name);
    if (cell === null) throw new Error(`${name}: the program has no such variable`);
    return cell;
  };
  restore(retainedOnes(), options.retained ?? {});

  return {
    cycle() {
      written.clear();
      statements = 0;
      time.slots[0] = options.nowMs();
      unit.run(instance.slots);
      return [...written];
    },
    get: (name) => readCell(name, cellOf(name)),
    set: (name, value) => writeCell(name, cellOf(name), value),
    retained: () =>
      Object.fromEntries([...retainedOnes()].map(([name, cell]) => [name, readCell(name, cell)])),
  };
}

function externalsOf(externals: Readonly<Record<string, string>>): readonly Declaration[] {
  return Object.entries(externals).map(([name, type]) => ({
    at: clock.at,
    name,
    section: "VAR_GLOBAL",
    retain: false,
    type: externalType(name, type),
    initial: null,
  }));
}

function externalType(name: string, text: string): DataType {
  try {
    return parseType(text);
  } catch (cause) {
    throw new Error(`external ${name}: a type such as "DINT" expected, found "${text}"`, { cause });
  }
}

function unitToRun(
  registry: UnitRegistry,
  program: Program,
  shared: SharedMemory,
  name: string | undefined,
): CompiledUnit {
  const isMeant = (unit: Unit) =>
    name === undefined ? unit.kind === "program" : unit.name.toLowerCase() === name.toLowerCase();
  const [unit, another] = program.units.filter(isMeant);
  if (unit === undefined || another !== undefined) {
    const names = program.units.map((one) => one.name || "(statements without PROGRAM)").join(", ");
    throw new Error(`one ${name ?? "PROGRAM"} to run expected, found: ${names || "nothing"}`);
  }
  return unit.kind === "block" ? registry.block(unit.name, unit.at) : registry.declare(unit, shared);
}

function restore(cells: ReadonlyMap<string, Cell>, retained: Snapshot): void {
  for (const [name, value] of Object.entries(retained)) {
    const cell = cells.get(name);
    if (cell === undefined) throw new Error(`${name}: the program retains no such variable`);
    writeCell(name, cell, value);
  }
}
