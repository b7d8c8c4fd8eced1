import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePorts } from "../support/free-ports.ts";
import { https } from "../support/https.ts";
import { endPrograms, fleetgate, newFolder, type Program, TEST_TIMEOUT_MS } from "./program.ts";

afterAll(endPrograms);

interface Simulated {
  readonly program: Program;
  /** What its robots have done; what clients asked is left out. */
  moves(): Promise<readonly string[]>;
}

/** Resolves when it has told people that it is up. */
async function simulate(...options: readonly string[]): Promise<Simulated> {
  const port = await freePorts(2);
  const folder = newFolder();
  const all = ["--base-port", String(port), "--seed", "1", "--time-factor", "20", ...options];
  const program = fleetgate(folder, "simulate", ...all);
  await Promise.race([
    program.out.first("the greeting", (line) => line.includes("credentials")),
    program.ended.then(({ code }) => Promise.reject(new Error(`${code}: ${program.err.entries.join("\n")}`))),
  ]);
  const ca = await readFile(join(folder, ".fleetgate", `simulate-${port}`, "fleet", "ca.pem"));
  return {
    program,
    async moves() {
      const record = await https({ url: `https://127.0.0.1:${port + 1}/simulator/record`, ca });
      const { entries } = record.json() as { entries: ReadonlyArray<{ fact: { what: string } }> };
      return entries
        .map(({ fact }) => fact.what)
        .filter((what) => what !== "received" && what !== "answered");
    },
  };
}

test(
  "simulate has its robots move for people, and stand still with --no-lively",
  async () => {
    // It has run for longer than the other when that one's robots have moved.
    const still = await simulate("--no-lively");
    const lively = await simulate();
    await expect.poll(lively.moves, { timeout: TEST_TIMEOUT_MS / 2 }).not.toEqual([]);
    expect(await still.moves()).toEqual([]);
    for (const { program } of [still, lively]) {
      program.send("SIGTERM");
      expect((await program.ended).code).toBe(0);
    }
  },
  TEST_TIMEOUT_MS,
);
