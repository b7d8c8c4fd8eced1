import { describe, expect, it } from "vitest";
import { createLatestWrites } from "../../src/commands/journal/latest-writes.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { plc } from "./commands-harness.ts";

describe("the record of leases", () => {
  const lease = (station: string) => ({ robotId: "AMR01", station, owner: plc });

  it("gathers nothing on a disk that hangs, and has the newest when it works again", async () => {
    const written: string[] = [];
    const done: Array<() => void> = [];
    const writeLease = (robotId: string, kept: { readonly station: string } | null) => {
      written.push(`${robotId} ${kept?.station ?? "free"}`);
      return new Promise<void>((resolve) => done.push(resolve));
    };
    const memory = createLatestWrites(writeLease, () => {});
    for (let time = 0; time < 1_000; time += 1) {
      memory.remember("AMR01", lease("Dock"));
      memory.remember("AMR01", null);
    }
    memory.remember("AMR01", lease("Press"));
    memory.remember("AMR02", null);
    expect(written).toEqual(["AMR01 Dock", "AMR02 free"]);
    for (const end of done.splice(0)) end();
    await createManualClock().settle(0);
    expect(written.slice(2)).toEqual(["AMR01 Press"]);
    for (const end of done.splice(0)) end();
    await createManualClock().settle(0);
    await memory.settled();
    memory.remember("AMR01", null);
    expect(written.slice(3)).toEqual(["AMR01 free"]);
    memory.remember("AMR01", lease("Dock"));
    const settled = memory.settled().then(() => written.length);
    for (let write = 0; write < 2; write += 1) {
      for (const end of done.splice(0)) end();
      await createManualClock().settle(0);
    }
    expect(await settled).toBe(5);
  });

  it("goes on after a write that failed", async () => {
    const written: Array<string | null> = [];
    const writeLease = (_robotId: string, kept: { readonly station: string } | null) => {
      written.push(kept?.station ?? null);
      return written.length === 1 ? Promise.reject(new Error("planted")) : Promise.resolve();
    };
    const memory = createLatestWrites(writeLease, () => {});
    memory.remember("AMR01", lease("Dock"));
    memory.remember("AMR01", null);
    await createManualClock().settle(0);
    expect(written).toEqual(["Dock", null]);
  });
});
