import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadIdentity } from "../../../src/fleet/webhooks/receiver.ts";
import { createLog } from "../../../src/platform/log.ts";

const NOW = Date.UTC(2026, 7, 1, 12, 30, 15, 250);

let folder: string;
let said: string;
const log = createLog("info", {
  write(line) {
    said += line;
  },
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "identity-"));
  said = "";
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const file = () => join(folder, "webhook-secret.json");

it("is the same at each start, for its owner alone", async () => {
  const first = await loadIdentity(folder, NOW, log);
  expect(await loadIdentity(folder, NOW, log)).toEqual(first);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(said).toBe("");
});

it.each(["", "{", '{"instance":"a","secret":"short"}'])(
  "is made anew where the file is damaged (%s), which is kept and named",
  async (text) => {
    writeFileSync(file(), text);
    const made = await loadIdentity(folder, NOW, log);
    expect(await loadIdentity(folder, NOW, log)).toEqual(made);
    const [kept = ""] = readdirSync(folder).filter((name) =>
      name.includes("damaged-2026-08-01T12-30-15.250Z"),
    );
    expect(readFileSync(join(folder, kept), "utf8")).toBe(text);
    expect(said).toContain("the secret of webhooks cannot be read");
    expect(said).not.toContain(made.secret);
  },
);
