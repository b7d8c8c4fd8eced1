import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import {
  type Caller,
  type CallPermit,
  createCallCapacity,
} from "../../../src/fleet/channels/call-capacity.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const WAIT_MS = 1_000;
const start = (robot: string): Caller => ({ isStop: false, robot });
const stop = (robot: string): Caller => ({ isStop: true, robot });

const clients: Client[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

/** Its client is never used: nothing is called on it. */
function newConnection(streamLimit: number, onLate: (call: number) => void = () => {}) {
  const client = new Client("localhost:1", credentials.createInsecure());
  clients.push(client);
  return { client, streamLimit, onLate };
}

function open() {
  const clock = createManualClock();
  const capacity = createCallCapacity({ clock, problem: () => "none yet", onShort() {} });
  /** How each call's wait ended, in this order. */
  const ended: string[] = [];
  const permits = new Map<string, CallPermit>();
  async function call(name: string, caller: Caller): Promise<void> {
    const found = await capacity.acquire(caller, WAIT_MS);
    ended.push(typeof found === "string" ? `${name}: none` : name);
    if (typeof found !== "string") permits.set(name, found);
  }
  return { clock, capacity, ended, permits, call };
}

test("stops come first, then the call that has waited longest; one whose time is over is left out", async () => {
  const { clock, capacity, ended, permits, call } = open();
  // Two calls, of which none is kept for stops; one stream is left for the sign of life.
  capacity.add(newConnection(3));
  await Promise.all([call("a", start("r1")), call("b", start("r2"))]);
  const late = call("late", start("r3"));
  await clock.settle(WAIT_MS / 2);
  const others = [call("c", start("r4")), call("d", start("r5")), call("stop", stop("r6"))];
  await clock.settle(WAIT_MS / 2);
  await late;
  expect(capacity.waiting()).toBe(3);
  for (const name of ["a", "b", "stop"]) {
    permits.get(name)?.release("answered");
    await clock.settle(0);
  }
  await Promise.all(others);
  expect(ended).toEqual(["a", "b", "late: none", "stop", "c", "d"]);
  expect(capacity.figures()).toEqual({ connections: 1, calls: 2 });
});

test("a stop takes the connection on which a start of its robot is under way", async () => {
  const { capacity, permits, call } = open();
  const [first, second] = [newConnection(2), newConnection(10)];
  const full = capacity.add(first);
  await call("fills the first", start("r1"));
  capacity.add(second);
  await call("start", start("r2"));
  permits.get("fills the first")?.release("answered");
  await call("stop", stop("r2"));
  expect(permits.get("stop")?.client).toBe(second.client);
  await call("other stop", stop("r3"));
  expect(permits.get("other stop")?.client).toBe(first.client);
  full.remove();
  expect(capacity.figures()).toEqual({ connections: 1, calls: 2 });
});

test("a call that is given up is told, unless the service has answered what was asked after it", async () => {
  const { capacity, permits, call } = open();
  const late: number[] = [];
  const connection = capacity.add(newConnection(10, (number) => void late.push(number)));
  await call("first", start("r1"));
  await call("second", start("r2"));
  permits.get("second")?.release("answered");
  permits.get("first")?.release("late");
  expect(late).toEqual([]);

  await call("third", start("r3"));
  connection.ask()();
  permits.get("third")?.release("late");
  expect(late).toEqual([]);

  const answered = connection.ask();
  await call("fourth", start("r4"));
  answered();
  await call("given up as well", start("r5"));
  permits.get("given up as well")?.release("unanswered");
  permits.get("fourth")?.release("late");
  expect(late).toEqual([6]);
  expect(connection.hasAnswered(6)).toBe(false);
  connection.ask()();
  expect(connection.hasAnswered(6)).toBe(true);
});
