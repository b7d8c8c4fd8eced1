import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { startSimulator } from "../support/simulator.ts";
import { configText } from "./online/online-harness.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

afterEach(endPrograms);

async function check(text: string, ...options: readonly string[]) {
  const folder = newFolder();
  await writeFile(join(folder, "fleetgate.yaml"), text);
  await writeFile(join(folder, "api-key.json"), '{"api_key":"k","scope":"acme","secret":"s3cr3t"}');
  const program = fleetgate(folder, "check", "--config", "fleetgate.yaml", ...options);
  const { code } = await program.ended;
  return { code, out: program.out.entries, err: program.err.entries };
}

it("prints the problems as one JSON document", { timeout: TEST_TIMEOUT_MS }, async () => {
  const { code, out, err } = await check("gateway: { id: plant1 }\nfleet: 7\n", "--json", "--online");
  expect(code).toBe(78);
  expect(err).toEqual([]);
  expect(out.map((line) => JSON.parse(line))).toEqual([
    {
      valid: false,
      unit: null,
      problems: [{ path: "fleet", line: 2, severity: "error", message: "must be a group of keys, not 7" }],
      parts: [],
    },
  ]);
});

it("ends with 0 or 69, and shows no secret", { timeout: TEST_TIMEOUT_MS }, async () => {
  const simulator = await startSimulator();
  const right = await check(configText(simulator.endpoints), "--online");
  const wrong = await check(
    configText({ ...simulator.endpoints, credentials: "api-key.json" }),
    "--json",
    "--online",
  );
  await simulator.stop();
  expect(right.code).toBe(0);
  expect(right.out.join("\n")).toMatch(/^ {2}ok {7}stream: the first message came/m);
  expect(wrong.code).toBe(69);
  const document = JSON.parse(wrong.out[0] ?? "") as {
    readonly valid: boolean;
    readonly parts: readonly unknown[];
  };
  expect(document.valid).toBe(true);
  expect(document.parts).toContainEqual({
    part: "token",
    state: "wrong",
    detail: "the authentication server refuses the API key (401)",
    advice: expect.any(String),
  });
  for (const { out, err } of [right, wrong]) expect([...out, ...err].join("\n")).not.toMatch(/s3cr3t|eyJ/);
});
