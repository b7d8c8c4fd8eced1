import { afterEach, expect, it } from "vitest";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

afterEach(endPrograms);

async function run(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const program = fleetgate(newFolder(), ...args);
  const { code } = await program.ended;
  return { code, said: program.err.entries.join("\n") };
}

it(
  "ends with 64 when options of any command are malformed, and with 0 when it is asked for help",
  async () => {
    const malformed = [
      [["--loud"], "unknown option '--loud'"],
      [["backup"], "missing required argument 'file'"],
      [["call", "--expires-in", "x"], "Give a number above 0."],
      [["journal", "reset", "--config", "a", "--data", "b"], "cannot be used with option"],
      [["hold", ""], "It is empty."],
      [["certs", "approve", ""], "It is empty."],
    ] as const;
    const found = await Promise.all(malformed.map(([args]) => run(...args)));
    for (const [at, { code, said }] of found.entries()) {
      expect(said).toContain(malformed[at]?.[1]);
      expect(said).toContain("(add --help for the options)");
      expect(code, said).toBe(64);
    }
    const asked = await Promise.all([run("journal", "reset", "--help"), run("--version")]);
    expect(asked.map(({ code }) => code)).toEqual([0, 0]);
  },
  TEST_TIMEOUT_MS,
);

it(
  "the reset refuses in a sentence that begins with no name of an error",
  async () => {
    const folder = newFolder();
    const missing = `${folder}/no.yaml`;
    expect(await run("journal", "reset", "--config", missing)).toEqual({
      code: 78,
      said: `fleetgate: ${missing} does not exist`,
    });
    expect(await run("journal", "reset", "--data", folder)).toEqual({
      code: 1,
      said: `fleetgate: ${folder} is no gateway's data folder`,
    });
  },
  TEST_TIMEOUT_MS,
);
