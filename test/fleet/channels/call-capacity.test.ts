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

/** Never used: nothing is called on it. */
function newClient(): Client {
  const client = new Client("localhost:1", credentials.createInsecure());
  clients.push(client);
  return client;
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
  capacity.add(newClient(), 3);
  await Promise.all([call("a", start("r1")), call("b", start("r2"))]);
  const late = call("late", start("r3"));
  await clock.settle(WAIT_MS / 2);
  const others = [call("c", start("r4")), call("d", start("r5")), call("stop", stop("r6"))];
  await clock.settle(WAIT_MS / 2);
  await late;
  expect(capacity.waiting()).toBe(3);
  for (const name of ["a", "b", "stop"]) {
    permits.get(name)?.release();
    await clock.settle(0);
  }
  await Promise.all(others);
  expect(ended).toEqual(["a", "b", "late: none", "stop", "c", "d"]);
  expect(capacity.figures()).toEqual({ connections: 1, calls: 2 });
});

test("a stop takes the connection on which a start of its robot is under way", async () => {
  const { capacity, permits, call } = open();
  const [first, second] = [newClient(), newClient()];
  const full = capacity.add(first, 2);
  await call("fills the first", start("r1"));
  capacity.add(second, 10);
  await call("start", start("r2"));
  permits.get("fills the first")?.release();
  await call("stop", stop("r2"));
  expect(permits.get("stop")?.client).toBe(second);
  await call("other stop", stop("r3"));
  expect(permits.get("other stop")?.client).toBe(first);
  full.remove();
  expect(capacity.figures()).toEqual({ connections: 1, calls: 2 });
});
