import { describe, expect, test } from "vitest";
import { groupId, nodeId } from "../../../support/sparkplug/edge-node.ts";
import type { Expected } from "../../../support/sparkplug/state.ts";
import {
  type Alter,
  alterMetric,
  alterPayload,
  asDraft,
  bear,
  CHARGE,
  idsOf,
  live,
  type Stage,
  stage,
} from "./checker-harness.ts";

describe("planted in what is written", () => {
  test.each<[string, string, Alter]>([
    ["will at QoS 0", "payloads-ndeath-will-message-qos", asDraft("will", { qos: 0 })],
    ["will retained", "payloads-ndeath-will-message-retain", asDraft("will", { retain: true })],
    [
      "will of another node",
      "payloads-ndeath-will-message",
      asDraft("will", { topic: "spBv1.0/plant/NDEATH/x" }),
    ],
    ["seq in the will", "payloads-ndeath-seq", alterPayload("will", (one) => ({ ...one, seq: 0 }))],
    ["seq in NDEATH", "topics-ndeath-seq", alterPayload("NDEATH", (one) => ({ ...one, seq: 5 }))],
    ["bdSeq stands still", "topics-nbirth-bdseq-increment", alterMetric("will", "bdSeq", { longValue: 0 })],
    ["another bdSeq at death", "payloads-ndeath-bdseq", alterMetric("NDEATH", "bdSeq", { longValue: 9 })],
    ["no bdSeq", "topics-nbirth-bdseq-included", alterMetric("NBIRTH", "bdSeq", { name: "other" })],
    [
      "alias on Rebirth",
      "operational-behavior-data-commands-rebirth-name-aliases",
      alterMetric("NBIRTH", "Node Control/Rebirth", { alias: 99 }),
    ],
    [
      "Rebirth is true",
      "operational-behavior-data-commands-rebirth-value",
      alterMetric("NBIRTH", "Node Control/Rebirth", { booleanValue: true }),
    ],
    ["duplicate alias", "payloads-alias-uniqueness", alterMetric("DBIRTH", CHARGE, { alias: 1 })],
    ["no alias", "payloads-alias-birth-requirement", alterMetric("DBIRTH", CHARGE, { alias: null })],
    [
      "an unborn metric",
      "operational-behavior-data-publish-dbirth",
      alterMetric("DDATA", null, { alias: 77 }),
    ],
    ["data by name", "payloads-alias-data-cmd-requirement", alterMetric("DDATA", null, { name: CHARGE })],
    ["data with a datatype", "payloads-metric-datatype-not-req", alterMetric("NDATA", null, { datatype: 3 })],
    ["no datatype", "payloads-metric-datatype-req", alterMetric("DBIRTH", CHARGE, { datatype: null })],
    ["no such datatype", "payloads-metric-datatype-value", alterMetric("DBIRTH", CHARGE, { datatype: 70 })],
    [
      "value in a wrong field",
      "topics-dbirth-metrics",
      alterMetric("DBIRTH", CHARGE, { intValue: null, stringValue: "50" }),
    ],
    [
      "null with a value",
      "operational-behavior-data-publish-dbirth-values",
      alterMetric("DBIRTH", CHARGE, { isNull: true }),
    ],
    ["no time", "payloads-name-birth-data-requirement", alterMetric("DDATA", null, { timestamp: null })],
    [
      "local time",
      "payloads-timestamp-in-UTC",
      alterPayload("NDATA", (one) => ({ ...one, timestamp: (one.timestamp ?? 0) + 3_600_000 })),
    ],
    [
      "no time of the message",
      "topics-ndata-timestamp",
      alterPayload("NDATA", ({ timestamp, ...rest }) => rest),
    ],
    [
      "a Quality of another code",
      "payloads-propertyset-quality-value-value",
      alterMetric("DBIRTH", CHARGE, {
        properties: { keys: ["Quality"], values: [{ type: 3, intValue: 7 }] },
      }),
    ],
    [
      "a property without a key",
      "payloads-propertyset-keys-array-size",
      alterMetric("DBIRTH", CHARGE, { properties: { keys: [], values: [{ type: 3, intValue: 192 }] } }),
    ],
    ["NBIRTH at QoS 1", "topics-nbirth-mqtt", asDraft("NBIRTH", { qos: 1 })],
    ["DDATA retained", "payloads-ddata-retain", asDraft("DDATA", { retain: true })],
    [
      "a sequence number twice",
      "payloads-sequence-num-incrementing",
      alterPayload("DDEATH", (one) => ({ ...one, seq: 3 })),
    ],
    ["NBIRTH begins at 1", "topics-nbirth-seq-num", alterPayload("NBIRTH", (one) => ({ ...one, seq: 1 }))],
    [
      "another namespace",
      "topic-structure-namespace-a",
      asDraft("NDATA", { topic: `spAv1.0/${groupId}/NDATA/${nodeId}` }),
    ],
    [
      "no device in the topic",
      "topic-structure-namespace-device-id-associated-message-types",
      asDraft("DDEATH", { topic: `spBv1.0/${groupId}/DDEATH/${nodeId}` }),
    ],
  ])("%s", (_, id, alter) => {
    expect(idsOf(live(stage(alter)))).toContain(id);
  });
});

describe("planted in the order", () => {
  const births = "operational-behavior-data-commands-rebirth-action";
  test.each<[string, string, (on: Stage) => void, Partial<Expected>?]>([
    ["data before DBIRTH", "payloads-ddata-order", ({ node }) => node.data(3, "r9")],
    ["historical before birth", "fleetgate-history-after-birth", ({ node }) => node.history(3, "r9")],
    [
      "death of a device that is not alive",
      "fleetgate-ddeath-of-living",
      ({ node }) => node.deviceDeath("r9"),
    ],
    [
      "data after the death",
      "operational-behavior-data-publish-dbirth",
      ({ node }) => {
        node.deviceDeath("r1");
        node.data(4, "r1");
      },
    ],
    ["ids that differ by case", "case-sensitivity-sparkplug-ids", ({ node }) => node.deviceBirth("R1")],
    ["an id with a wildcard", "intro-device-id-chars", ({ node }) => node.deviceBirth("r+")],
    [
      "the same value again",
      "principles-rbe-recommended",
      ({ node }) => {
        node.data(5, "r1");
        node.data(5, "r1");
      },
    ],
    [
      "a request without an answer",
      `${births}-2`,
      (on) => {
        on.askRebirth();
        on.pass(5_000);
      },
    ],
    [
      "data instead of a birth",
      `${births}-1`,
      (on) => {
        on.askRebirth();
        on.pass(5_000);
        on.node.data(5, "r1");
      },
    ],
    [
      "a rebirth without a device",
      `${births}-2`,
      (on) => {
        on.askRebirth();
        on.node.birth();
        on.node.data(6);
      },
    ],
    [
      "a death for a rebirth",
      "fleetgate-no-death-for-rebirth",
      (on) => {
        on.askRebirth();
        on.node.leave();
      },
    ],
    [
      "two deaths",
      "fleetgate-one-ndeath",
      ({ node }) => {
        node.leave();
        node.leave();
      },
    ],
    [
      "no NDEATH",
      "payloads-ndeath-will-message-publisher-disconnect-mqtt311",
      ({ recording }) => recording.fromNode(1, "broker", { cmd: "disconnect" }),
    ],
    [
      "born without the host",
      "message-flow-edge-node-birth-publish-phid-wait",
      ({ node }) => node.birth(),
      { primaryHost: "scada" },
    ],
    [
      "born for an older state",
      "message-flow-edge-node-birth-publish-phid-wait-timestamp",
      (on) => {
        on.state(false, 50);
        on.connect();
        on.state(true, 40);
        on.node.birth();
      },
      { primaryHost: "scada" },
    ],
    [
      "stays though the host is offline",
      "operational-behavior-edge-node-termination-host-offline",
      (on) => {
        on.state(true, 50);
        on.node.birth();
        on.state(false, 50);
        on.pass(5_000);
      },
      { primaryHost: "scada" },
    ],
    [
      "leaves for an older state",
      "operational-behavior-edge-node-termination-host-offline-timestamp",
      (on) => {
        on.state(true, 50);
        on.node.birth();
        on.state(false, 40);
        on.node.leave();
      },
      { primaryHost: "scada" },
    ],
    [
      "stays at the broker that lost the host",
      "operational-behavior-primary-application-state-with-multiple-servers-walk",
      (on) => {
        on.state(false, 50);
        on.node.leave();
        on.connect();
      },
      { primaryHost: "scada", brokers: 2 },
    ],
    [
      "no subscription of DCMD",
      "message-flow-device-dcmd-subscribe",
      ({ node }) => node.deviceBirth("r3"),
      { hasDeviceCommands: true },
    ],
  ])("%s", (_, id, act, expected) => {
    const on = stage();
    on.connect();
    bear(on.node);
    act(on);
    expect(idsOf(on, expected)).toContain(id);
  });

  test("bdSeq raised by a rebirth", () => {
    let births = 0;
    const on = stage((draft) => {
      if (draft.type === "NBIRTH") births += 1;
      return births < 2 ? draft : alterMetric("NBIRTH", "bdSeq", { longValue: 1 })(draft);
    });
    on.connect();
    bear(on.node);
    on.askRebirth();
    bear(on.node);
    expect(idsOf(on)).toContain("operational-behavior-data-commands-rebirth-action-3");
  });

  test("data before NBIRTH", () => {
    const on = stage();
    on.connect();
    on.node.data(5);
    expect(idsOf(on)).toContain("principles-birth-certificates-order");
  });

  test("no subscription of NCMD", () => {
    const on = stage();
    on.recording.open();
    on.node.connect();
    bear(on.node);
    const ids = idsOf(on);
    expect(ids).toContain("message-flow-edge-node-ncmd-subscribe");
    expect(ids).toContain("message-flow-edge-node-birth-publish-connect");
  });
});
