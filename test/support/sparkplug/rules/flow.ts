import type { NodeState } from "../state.ts";
import { valueOrNull } from "./metrics.ts";
import {
  DATA,
  metrics,
  notRetained,
  ownTopic,
  published,
  qosZero,
  type Rule,
  type Said,
  seqFollows,
  topicOf,
  unless,
} from "./rule.ts";

const isSubscribed = ({ filters }: NodeState, topics: readonly string[]) =>
  filters.some(({ topic, qos }) => topics.includes(topic) && qos === 1);

const subscribesNodeCommands = published(["NBIRTH"], ({ state, expected }) =>
  unless(isSubscribed(state, [topicOf(expected, "NCMD")]), "NCMD was not subscribed at QoS 1"),
);

const subscribesDeviceCommands = published(["DBIRTH"], ({ message, state, expected }) => {
  if (!expected.hasDeviceCommands) return null;
  const filters = [message.device ?? "", "+", "#"].map((level) => topicOf(expected, "DCMD", level));
  return unless(isSubscribed(state, filters), "DCMD was not subscribed at QoS 1");
});

const payloadOfBirth = ({ payload }: Said) => {
  for (const metric of payload.metrics) {
    const found = metric.name === null ? "no name" : valueOrNull(metric);
    if (found !== null) return `${metric.name}: ${found}`;
  }
  return null;
};

const sameNode = published(["DBIRTH"], ({ message: { levels }, expected: { groupId, nodeId } }) =>
  unless(levels[1] === groupId && levels[3] === nodeId, `group and node are not ${groupId} and ${nodeId}`),
);

const nodeIsBorn = published(["DBIRTH"], ({ state }) =>
  unless(state.node !== null, "it comes before NBIRTH"),
);

const historyAfterBirth = metrics(DATA, ({ isHistorical }, { born }) =>
  unless(!isHistorical || born !== null, "a value of the past comes before the birth"),
);

/** A host would count a device that it does not know. */
const lateDeath = published(["DDEATH"], ({ message, state }) =>
  unless(
    state.devices.has(message.device ?? "") || state.missing.has(message.device ?? ""),
    "the device is not alive",
  ),
);

const births = (["NBIRTH", "DBIRTH"] as const).flatMap((type): Rule[] => {
  const flow = `tck-id-message-flow-${type === "NBIRTH" ? "edge-node" : "device"}-birth-publish`;
  const rule = (what: string, text: string, check: (said: Said) => string | null): Rule => ({
    id: `${flow}-${type.toLowerCase()}-${what}`,
    text: `${type} ${text}`,
    check: published([type], check),
  });
  return [
    rule("topic", "has the topic of this node", ownTopic),
    rule("payload", "has names and values, or nulls", payloadOfBirth),
    rule("payload-seq", "has the sequence number that is due", seqFollows),
    rule("qos", "has QoS 0", qosZero),
    rule("retained", "is not retained", notRetained),
  ];
});

/** Chapter 5: subscriptions and births. */
export const flowRules: readonly Rule[] = [
  ...births,
  {
    id: "tck-id-message-flow-edge-node-ncmd-subscribe",
    text: "the edge node subscribes NCMD at QoS 1 before its birth",
    check: subscribesNodeCommands,
  },
  {
    id: "tck-id-message-flow-device-dcmd-subscribe",
    text: "if devices can be written to, the edge node subscribes DCMD at QoS 1",
    check: subscribesDeviceCommands,
  },
  {
    id: "tck-id-message-flow-device-birth-publish-nbirth-wait",
    text: "a device is born after its node, in the same session",
    check: nodeIsBorn,
  },
  {
    id: "tck-id-message-flow-device-birth-publish-dbirth-match-edge-node-topic",
    text: "the topic of DBIRTH names group and node of NBIRTH",
    check: sameNode,
  },
  {
    id: "fleetgate-history-after-birth",
    text: "values of the past come after the birth",
    check: historyAfterBirth,
  },
  { id: "fleetgate-ddeath-of-living", text: "only a device that is alive dies", check: lateDeath },
];
