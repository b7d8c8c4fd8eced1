import { describe, expect, it } from "vitest";
import type { AuditRecord } from "../../src/commands/audit/audit.ts";
import { createReload, createReloadGate, type ReloadDependencies } from "../../src/composition/reload.ts";
import type { Config, LoadResult } from "../../src/config/load.ts";
import { createLive } from "../../src/platform/live.ts";
import { createLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";

/** What a file says, as one setting that a reload can change. */
const said = (level: string) => new Map([["log.level", { path: ["log", "level"], digest: level }]]);
const config = (level: string) => ({ log: { level } }) as unknown as Config;
const loaded = (level: string): LoadResult => ({
  ok: true,
  config: config(level),
  settings: said(level),
  warnings: [],
  outdated: [],
  unusable: [],
});

/** A reload whose file is read when the test says so. */
function open(changed: Partial<ReloadDependencies> = {}) {
  const reads: Array<{ answer(result: LoadResult): void; fail(error: Error): void }> = [];
  const audit: AuditRecord[] = [];
  const lines: string[] = [];
  const live = createLive(config("info"));
  const reload = createReload({
    source: {
      settings: said("info"),
      read: () => new Promise((answer, fail) => reads.push({ answer, fail })),
    },
    live,
    hash: () => live.now().log.level,
    refusals: () => [],
    audit: (record) => audit.push(record),
    clock: createManualClock(),
    log: createLog("info", { write: (line) => void lines.push(line) }),
    ...changed,
  });
  const begun = async (count: number) => {
    while (reads.length < count) await Promise.resolve();
  };
  return { reload, live, reads, audit, lines, begun };
}

it("refuses a new certificate that TLS does not take, and goes on with one that was there before", async () => {
  const unusable = { path: "web.tls.certificate", line: 3, message: "web.pem has a key that is too short" };
  const withTls = (digest: string): LoadResult => ({
    ...(loaded("info") as Extract<LoadResult, { ok: true }>),
    settings: new Map([
      ...said("info"),
      ["web.tls.certificate", { path: ["web", "tls", "certificate"], digest }],
    ]),
    unusable: [unusable],
  });
  const before = withTls("a");
  const reads: LoadResult[] = [withTls("b"), before];
  const { reload } = open({
    source: {
      settings: before.ok ? before.settings : new Map(),
      read: async () => reads.shift() ?? before,
    },
  });
  const reason = "web.pem has a key that is too short (line 3)";
  expect(await reload.request("SIGHUP")).toMatchObject({
    applied: [],
    refused: [{ path: unusable.path, reason }],
  });
  expect(await reload.request("SIGHUP")).toMatchObject({ applied: [], refused: [] });
});

describe("reading the configuration again", () => {
  it("is done once for all who ask before it begins, and once more for those who ask meanwhile", async () => {
    const { reload, reads, audit, begun } = open();
    const first = Array.from({ length: 1_000 }, (_, count) => reload.request(`cli:u${count % 20}`));
    await begun(1);
    const second = Array.from({ length: 1_000 }, () => reload.request("SIGHUP"));
    reads[0]?.answer(loaded("debug"));
    const results = await Promise.all(first);
    expect(new Set(results).size).toBe(1);
    expect(results[0]).toEqual({ applied: ["log.level"], refused: [], warnings: [], hash: "debug" });
    await begun(2);
    reads[1]?.answer(loaded("debug"));
    expect((await Promise.all(second))[0]?.applied).toEqual([]);
    expect(reads).toHaveLength(2);
    // The names of those who ask are bounded.
    expect(audit.map(({ by }) => (by as string[]).length)).toEqual([16, 1]);
    expect(audit[0]).toMatchObject({ event: "reload", hash_before: "info", hash: "debug" });
  });

  it("calls all that follows in the turn in which the configuration changes", async () => {
    const seen: string[] = [];
    const { reload, live, reads, begun } = open();
    live.onChange((was, is) => seen.push(`${was.log.level} ${is.log.level}`));
    const asked = reload.request("SIGHUP");
    await begun(1);
    reads[0]?.answer(loaded("warn"));
    expect(live.now().log.level).toBe("info");
    expect((await asked).applied).toEqual(["log.level"]);
    expect(seen).toEqual(["info warn"]);
  });

  it("changes nothing where a part refuses, and health says what the file has", async () => {
    const refused = [{ path: "opcua.users", reason: "restart to change it" }];
    const { reload, live, reads, begun } = open({ refusals: () => refused });
    const asked = reload.request("SIGHUP");
    await begun(1);
    reads[0]?.answer(loaded("warn"));
    expect(await asked).toEqual({ applied: [], refused, warnings: [], hash: "info" });
    expect(live.now().log.level).toBe("info");
    expect(reload.health()).toMatchObject({ state: "degraded", figures: { reloads: 1, reloadsRefused: 1 } });
  });

  it("is refused when the gateway has stopped meanwhile, or has no file, or reading fails", async () => {
    const stopping = open();
    const asked = stopping.reload.request("SIGHUP");
    await stopping.begun(1);
    stopping.reload.close();
    stopping.reads[0]?.answer(loaded("warn"));
    expect((await asked).refused).toEqual([{ path: "", reason: "the gateway stops" }]);
    expect(stopping.live.now().log.level).toBe("info");
    expect(stopping.audit).toEqual([]);
    expect((await stopping.reload.request("SIGHUP")).refused).toHaveLength(1);

    const none = open({ source: null });
    expect((await none.reload.request("SIGHUP")).refused[0]?.reason).toContain("in no file");

    const failing = open();
    const failed = failing.reload.request("SIGHUP");
    await failing.begun(1);
    failing.reads[0]?.fail(new Error("planted"));
    expect((await failed).refused[0]?.reason).toContain("planted");
  });
});

describe("a request during the start", () => {
  it("waits until the gateway can reload, and is refused when it never can", async () => {
    const { reload, reads, begun } = open();
    const gate = createReloadGate(createLive("info"));
    const asked = gate.request("SIGHUP");
    await Promise.resolve();
    expect(reads).toEqual([]);
    gate.open(reload);
    await begun(1);
    reads[0]?.answer(loaded("info"));
    expect((await asked).refused).toEqual([]);

    const ended = createReloadGate(createLive("info"));
    const waiting = ended.request("SIGHUP");
    ended.end();
    expect((await waiting).refused).toEqual([{ path: "", reason: "the gateway has ended" }]);
  });
});
