import { UserTokenType } from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newClient, openSession, type RunningServer, scada, startServer } from "./opcua-harness.ts";

/** As docs/operate.md states it. */
const STATED_MS = 10_000;
const WRONG_CLIENTS = 25;
const TRIES = 3;

let running: RunningServer;
let isOver = false;

beforeAll(async () => {
  running = await startServer({ users: [scada] });
  // The first client makes the keys of all.
  await (await openSession(running.url)).close();
});
afterAll(() => running.stop());

/** Logs on with another wrong password each time, without a pause. Returns how many were refused. */
async function guess(number: number): Promise<number> {
  let refused = 0;
  const client = newClient();
  await client.connect(running.url);
  while (!isOver) {
    const password = `guess ${number} ${refused}`;
    const identity = { type: UserTokenType.UserName, userName: scada.name, password } as const;
    await expect(client.createSession(identity)).rejects.toThrow();
    refused += 1;
  }
  await client.disconnect();
  return refused;
}

// Real time: what is tested is how long clients wait.
it("a right client gets in at each try, beside 25 wrong ones of the same user and address", async () => {
  const guessing = Array.from({ length: WRONG_CLIENTS }, (_, number) => guess(number));
  const user = { name: scada.name, password: "scada secret" };
  const waitedMs: number[] = [];
  try {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const beganMs = performance.now();
      const caller = await openSession(running.url, { user });
      waitedMs.push(performance.now() - beganMs);
      await caller.close();
    }
  } finally {
    isOver = true;
  }
  const refused = await Promise.all(guessing);
  expect(Math.max(...waitedMs)).toBeLessThan(STATED_MS);
  expect(Math.min(...refused)).toBeGreaterThan(1);
});
