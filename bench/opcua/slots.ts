import { setTimeout as pause } from "node:timers/promises";
import {
  AttributeIds,
  type ClientSession,
  DataType,
  StatusCodes,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { nodeIdOf } from "./session.ts";

/** Numbers in `Command`: the ticket, the conveyor, what it is to do; the others are 0. */
const COMMAND_LENGTH = 12;
const CONVEYOR = 1;
const CLOCKWISE = 2;
/** As often a command is written: as the pace of `commands` at rest. */
const PACE_MS = 20;
const LOOK_MS = 5;
const DONE_WITHIN_MS = 20_000;

/** Writes a command into the conveyor slot of each robot, the next when one is done; when each write left. */
export async function writeSlots(session: ClientSession, robots: readonly string[]): Promise<number[]> {
  const sentAtMs: number[] = [];
  for (const robot of robots) sentAtMs.push(await command(session, `Robots.${robot}.ConveyorSlot`));
  return sentAtMs;
}

/**
 * Lets the slot run one command; when the write left that was taken. A number is replaced 30 s after it was
 * first shown. It may have been read just before, so a closed one is followed by a new one (plc.md, the rules
 * of a slot).
 */
async function command(session: ClientSession, slot: string): Promise<number> {
  for (;;) {
    const number = await shownNumber(session, slot);
    await pause(PACE_MS);
    const sentAtMs = performance.timeOrigin + performance.now();
    await write(session, slot, number);
    if ((await ends(session, slot, number)) === "done") return sentAtMs;
  }
}

async function write(session: ClientSession, slot: string, number: number): Promise<void> {
  const command = Int32Array.from({ length: COMMAND_LENGTH });
  command.set([number, CONVEYOR, CLOCKWISE]);
  const status = await session.write({
    nodeId: nodeIdOf(`${slot}.Command`),
    attributeId: AttributeIds.Value,
    value: {
      value: new Variant({ dataType: DataType.Int32, arrayType: VariantArrayType.Array, value: command }),
    },
  });
  if (status !== StatusCodes.Good) throw new Error(`${slot}.Command: ${status.name}`);
}

/** Waits until the slot says what became of the number: its command has ended, or nothing was sent. */
async function ends(session: ClientSession, slot: string, number: number): Promise<"done" | "closed"> {
  return look(session, slot, async () => {
    const [done, closed] = await values(session, slot, ["DoneId", "Closed"]);
    if (done === number) return "done";
    return Array.from(closed as Iterable<number>).includes(number) ? "closed" : null;
  });
}

/** The number that the slot shows, once there is one. */
async function shownNumber(session: ClientSession, slot: string): Promise<number> {
  return look(session, slot, async () => {
    const [next] = await values(session, slot, ["NextId"]);
    return next === 0 ? null : Number(next);
  });
}

/** Looks until there is something. */
async function look<Seen>(
  session: ClientSession,
  slot: string,
  glance: () => Promise<Seen | null>,
): Promise<Seen> {
  const endMs = performance.now() + DONE_WITHIN_MS;
  for (;;) {
    const seen = await glance();
    if (seen !== null) return seen;
    if (performance.now() > endMs) throw new Error(`${slot} stands still: ${await said(session, slot)}`);
    await pause(LOOK_MS);
  }
}

/** What the slot says of itself, for the error. */
async function said(session: ClientSession, slot: string): Promise<string> {
  const names = ["NextId", "AcceptedId", "DoneId", "RejectedId", "RejectedText", "ErrorText"];
  const told = await values(session, slot, names);
  return names.map((name, at) => `${name} ${told[at]}`).join(", ");
}

async function values(session: ClientSession, slot: string, names: readonly string[]): Promise<unknown[]> {
  const nodes = names.map((name) => ({
    nodeId: nodeIdOf(`${slot}.${name}`),
    attributeId: AttributeIds.Value,
  }));
  return (await session.read(nodes)).map(({ value }) => value.value);
}
