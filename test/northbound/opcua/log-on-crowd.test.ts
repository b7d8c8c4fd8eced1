import { UserTokenType } from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPatientClock } from "../../support/patient-clock.ts";
import { newClient, openSession, type RunningServer, scada, startServer } from "./opcua-harness.ts";

/** As docs/security-and-certificates.md states it. */
const STATED_MS = 10_000;
const WRONG_CLIENTS = 25;
/** At least. */
const TRIES = 3;

let running: RunningServer;
let isOver = false;

beforeAll(async () => {
  running = await startServer({ users: [scada] });
  // The first client makes the keys of all.
  await (await openSession(running.url)).close();
});
afterAll(() => running.stop());

/** How many wrong passwords of each client were refused so far. */
const refused: number[] = Array(WRONG_CLIENTS).fill(0);

/** Logs on with another wrong password each time, without a pause, until the test is over. */
async function guess(number: number): Promise<void> {
  const client = newClient();
  await client.connect(running.url);
  while (!isOver) {
    const password = `guess ${number} ${refused[number]}`;
    const identity = { type: UserTokenType.UserName, userName: scada.name, password } as const;
    await expect(client.createSession(identity)).rejects.toThrow();
    refused[number] = (refused[number] ?? 0) + 1;
  }
  await client.disconnect();
}

// Real time, without what keeps this process from running: what is tested is how long clients wait.
it("a right client gets in at each try, beside 25 wrong ones of the same user and address", async () => {
  const guessing = Array.from({ length: WRONG_CLIENTS }, (_, number) => guess(number));
  const user = { name: scada.name, password: "scada secret" };
  const waitedMs: number[] = [];
  const watch = createPatientClock();
  try {
    // On a slow machine the crowd needs more tries than these before each of it was refused twice.
    while (waitedMs.length < TRIES || Math.min(...refused) < 2) {
      const beganMs = watch.monotonicMs();
      const caller = await openSession(running.url, { user });
      waitedMs.push(watch.monotonicMs() - beganMs);
      await caller.close();
    }
  } finally {
    isOver = true;
    watch.close();
  }
  await Promise.all(guessing);
  expect(Math.max(...waitedMs)).toBeLessThan(STATED_MS);
});
