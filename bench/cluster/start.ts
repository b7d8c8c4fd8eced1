import type { Box } from "../../test/cluster/chaos/box.ts";
import { request } from "../../test/cluster/chaos/request.ts";

/** What became of one command, as its sender was told. Times are of the monotonic clock. */
export interface Sent {
  readonly id: string;
  readonly robotId: string;
  readonly askedAtMs: number;
  readonly toldAtMs: number;
  /** `succeeded`, or an outcome with its code; `no answer`: the box is away. */
  readonly outcome: string;
  readonly box: string;
}

const CONVEYOR = 1;
const EXPIRES_IN_MS = 10_000;
/** One user may wait for a few outcomes only. */
const USERS = 12;
let number = 0;

/** A new conveyor command: CW and CCW in turn are starts. */
export function send(box: Box, robotId: string, motor: "CW" | "STOP" = "CW"): Promise<Sent> {
  number += 1;
  return ask(box, `b${number}`, number, robotId, motor);
}

async function ask(box: Box, id: string, user: number, robotId: string, motor: string): Promise<Sent> {
  const askedAtMs = performance.now();
  const command = `COMMAND_CONVEYOR_MOTOR_${motor}`;
  const answer = await request(
    box,
    "PUT",
    `commands/${id}`,
    { "fleetgate-user": `bench-${user % USERS}`, prefer: "wait=3" },
    {
      operation: "ControlConveyor",
      request: { robotId, commands: [{ index: CONVEYOR, command }] },
      expires_in_ms: EXPIRES_IN_MS,
    },
  );
  const { outcome, code } = answer?.body ?? {};
  const told = answer?.status === 202 ? "open" : outcome === "succeeded" ? "succeeded" : `${outcome} ${code}`;
  return {
    ...{ id, robotId, askedAtMs, toldAtMs: performance.now(), box: box.name },
    outcome: answer === null ? "no answer" : told,
  };
}

/** Asks again what became of a command whose sender was told nothing. */
export async function askAgain(box: Box, sent: Sent): Promise<Sent> {
  const again = await ask(box, sent.id, Number(sent.id.slice(1)), sent.robotId, "CW");
  return { ...again, askedAtMs: sent.askedAtMs };
}
