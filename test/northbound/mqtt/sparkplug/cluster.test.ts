import { afterEach, describe, expect, test } from "vitest";
import { createLeadership } from "../../../../src/northbound/mqtt/leadership.ts";
import { createMemoryDisk } from "../../../support/memory-tables.ts";
import { createTestCluster } from "../../../support/test-cluster.ts";
import { haveMosquitto, startMosquitto } from "../mosquitto.ts";
import { external } from "../mqtt-harness.ts";
import { newNode, openHost, robotChange, type Seen } from "./sparkplug-harness.ts";

const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const bdSeqOf = ({ metrics }: Seen) => Number(metrics.find(({ name }) => name === "bdSeq")?.value);

describe.skipIf(!haveMosquitto)("two boxes that are one edge node", () => {
  test("only the leader is born, and its successor has the next number", async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const host = await openHost(mosquitto.url);
    cleanups.push(() => host.client.endAsync(true));
    // What the members share.
    const disk = createMemoryDisk();

    function box(member: string) {
      const view = createTestCluster(member);
      const leadership = createLeadership(view);
      const options = { broker: external(mosquitto.url), protocolVersion: 5 } as const;
      const link = newNode({ options, disk, leadership });
      const connecting = link.connect(new AbortController().signal).then(async (connection) => {
        cleanups.push(() => connection[Symbol.asyncDispose]());
        await connection.write({ changes: [robotChange("r1")], events: [] });
        return connection;
      });
      return { view, link, connecting };
    }

    const [left, right] = [box("left"), box("right")];
    left.view.change({ isActive: true, epoch: 1, leader: "left" });
    right.view.change({ epoch: 1, leader: "left" });
    expect(bdSeqOf(await host.on("NBIRTH"))).toBe(0);
    const connection = await left.connecting;
    await host.on("DBIRTH", "r1");
    expect(right.link.health()).toMatchObject({ state: "up", detail: "stands by" });
    expect(host.seen.map(({ type }) => type)).toEqual(["NBIRTH", "DBIRTH"]);

    left.view.change({ isActive: false });
    await connection.movesOn;
    await connection[Symbol.asyncDispose]();
    expect(bdSeqOf(await host.on("NDEATH"))).toBe(0);
    right.view.change({ isActive: true, epoch: 2, leader: "right" });
    await right.connecting;
    const births = () => host.seen.filter(({ type }) => type === "NBIRTH");
    await host.receive(() => births().length === 2);
    expect(births().map(bdSeqOf)).toEqual([0, 1]);
  });
});
