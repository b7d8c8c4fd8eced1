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
  for (const robot of robots) {
    const slot = `Robots.${robot}.ConveyorSlot`;
    const number = await shown(session, `${slot}.NextId`, (next) => next !== 0);
    await pause(PACE_MS);
    const command = Int32Array.from({ length: COMMAND_LENGTH });
    command.set([number, CONVEYOR, CLOCKWISE]);
    sentAtMs.push(performance.timeOrigin + performance.now());
    const status = await session.write({
      nodeId: nodeIdOf(`${slot}.Command`),
      attributeId: AttributeIds.Value,
      value: {
        value: new Variant({ dataType: DataType.Int32, arrayType: VariantArrayType.Array, value: command }),
      },
    });
    if (status !== StatusCodes.Good) throw new Error(`${slot}.Command: ${status.name}`);
    await shown(session, `${slot}.DoneId`, (done) => done === number);
  }
  return sentAtMs;
}

/** What the tag shows as soon as it is so. */
async function shown(
  session: ClientSession,
  path: string,
  isSo: (value: number) => boolean,
): Promise<number> {
  const endMs = performance.now() + DONE_WITHIN_MS;
  for (;;) {
    const { value } = await session.read({ nodeId: nodeIdOf(path), attributeId: AttributeIds.Value });
    const number = Number(value.value);
    if (isSo(number)) return number;
    if (performance.now() > endMs)
      throw new Error(`${path} is still ${number}: ${await said(session, path)}`);
    await pause(LOOK_MS);
  }
}

/** What the slot of this tag says of itself, for the error. */
async function said(session: ClientSession, path: string): Promise<string> {
  const slot = path.slice(0, path.lastIndexOf("."));
  const names = ["NextId", "AcceptedId", "DoneId", "RejectedId", "RejectedText", "ErrorText"];
  const nodes = names.map((name) => ({
    nodeId: nodeIdOf(`${slot}.${name}`),
    attributeId: AttributeIds.Value,
  }));
  const values = await session.read(nodes);
  return names.map((name, at) => `${name} ${values[at]?.value.value}`).join(", ");
}
