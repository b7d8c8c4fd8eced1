import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

afterEach(endPrograms);

const { version, support } = JSON.parse(readFileSync("package.json", "utf8"));

async function said(...args: readonly string[]): Promise<readonly string[]> {
  const program = fleetgate(newFolder(), ...args);
  expect(await program.ended).toEqual({ code: 0, signal: null });
  return program.out.entries;
}

it(
  "says the version, and with --long also the build, the contact for security and the end of support",
  async () => {
    expect(await said("--version")).toEqual([version]);
    for (const args of [
      ["--version", "--long"],
      ["--long", "--version"],
    ])
      expect(await said(...args)).toEqual([
        `fleetgate ${version}`,
        expect.stringMatching(/^commit: +(not a package|[0-9a-f]{40})$/),
        expect.stringMatching(/^built: +\d{4}-\d\d-\d\dT/),
        expect.stringMatching(/^Node\.js: +\d+\.\d+\.\d+, with OpenSSL \d/),
        expect.stringMatching(/^contents: +\S/),
        `security:  ${support.security}`,
        `supported: until ${support.until}`,
      ]);
  },
  TEST_TIMEOUT_MS,
);

it("says the same as SECURITY.md", () => {
  const page = readFileSync("SECURITY.md", "utf8");
  expect(page).toContain(support.security);
  expect(page).toContain(support.until);
});
