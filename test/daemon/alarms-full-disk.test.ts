import { join } from "node:path";
import mqtt from "mqtt";
import { afterEach, expect, test } from "vitest";
import { exportTables } from "../../src/platform/stores/tables-export.ts";
import type { Reply } from "../e2e/mqtt-ear.ts";
import { mayMount, mountSmallDisk } from "../support/small-disk.ts";
import { openDegradedHarness } from "./degraded-harness.ts";

const hasMount = mayMount();
if (!hasMount)
  process.stderr.write("no file system can be mounted here: the test of a full one is skipped\n");

const ROBOT = "cart-01";
const NOT_STORED = "it is done, and not on the disk yet: a restart before that would not know it";
const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test.skipIf(!hasMount)(
  "on a full disk alarms are acknowledged and rest, the reply says what a restart forgets, and it is written later",
  async () => {
    const disk = await mountSmallDisk();
    cleanups.push(() => disk.unmount());
    const harness = await openDegradedHarness(disk.path);
    cleanups.push(() => harness.close());
    const { ear } = harness;
    const client = await mqtt.connectAsync(harness.brokerUrl, { reconnectPeriod: 0 });
    cleanups.push(() => client.endAsync(true));
    /** Tells something about alarms, and resolves with the reply. */
    async function tell(
      act: "AcknowledgeAlarm" | "SetOutOfService",
      id: string,
      fields: object,
    ): Promise<Reply> {
      const topic = `fleetgate/degraded/clients/scada/command/${act}`;
      await client.publishAsync(topic, JSON.stringify({ id, ...fields }), { qos: 1 });
      return JSON.parse(await ear.replyText(id)) as Reply;
    }
    /** What a restart would find. */
    const onDisk = async () => JSON.parse((await exportTables(join(harness.folder, "data", "tables"))) ?? "");

    const daemon = await harness.start();
    harness.simulator.control.happen({ kind: "battery", robotId: ROBOT, percent: 5 });
    const { text } = await ear.on(`robots/${ROBOT}/alarms`, (each) => each.includes("BATTERY_LOW"));
    const { alarms } = JSON.parse(text) as { alarms: ReadonlyArray<{ id: string; code: string }> };
    const alarmId = alarms.find(({ code }) => code === "BATTERY_LOW")?.id ?? "";
    const service = { robot_id: ROBOT, out_of_service: true };
    const back = { ...service, out_of_service: false };
    expect(await tell("SetOutOfService", "s1", back)).toMatchObject({ outcome: "succeeded", message: "" });

    disk.fill();
    const before = await onDisk();
    expect(await tell("AcknowledgeAlarm", "a1", { alarm_id: alarmId })).toMatchObject({
      outcome: "succeeded",
      message: NOT_STORED,
    });
    expect(await tell("SetOutOfService", "s3", service)).toMatchObject({
      outcome: "succeeded",
      message: NOT_STORED,
    });
    await ear.on(`robots/${ROBOT}/alarms`, (each) => each.includes('"out_of_service":true'));
    expect(await onDisk(), "what was there is whole").toEqual(before);

    await disk.free();
    await expect.poll(onDisk, { timeout: 30_000 }).toMatchObject({ "out-of-service": { [ROBOT]: true } });
    await daemon.kill();
    const from = ear.received.entries.length;
    const again = await harness.start();
    await ear.on(`robots/${ROBOT}/alarms`, (each) => each.includes('"out_of_service":true'), from);
    expect(await tell("SetOutOfService", "s4", service)).toMatchObject({ outcome: "succeeded", message: "" });
    expect(await again.stop()).toBe(0);
  },
  90_000,
);
