import { bdSeqOf, REBIRTH } from "../state.ts";
import { knownMetrics, valueOrNull } from "./metrics.ts";
import {
  BIRTHS,
  type Check,
  COUNTED,
  DATA,
  death,
  hasSeq,
  hasTimestamp,
  metrics,
  noSeq,
  onlyOf,
  ownTopic,
  published,
  qosZeroNotRetained,
  type Rule,
  type Said,
  seqFollows,
  unless,
} from "./rule.ts";

const all = [...COUNTED, "NDEATH"];
const ofDevices = ["DBIRTH", "DDATA", "DDEATH"];

const isName = (level: string | null | undefined) =>
  unless(
    level !== null && level !== undefined && level !== "" && !/[+#/\p{Surrogate}]/u.test(level),
    `"${level}" is no name of a topic's level`,
  );
const groupName = ({ message }: Said) => isName(message.levels[1]);
const nodeName = ({ message }: Said) => isName(message.levels[3]);
const deviceName = ({ message }: Said) => isName(message.device);

const hasDevice = published(ofDevices, ({ message }) =>
  unless(message.levels.length === 5, "no id of a device"),
);
const hasNoDevice = published(["NBIRTH", "NDATA", "NDEATH"], ({ message }) =>
  unless(message.levels.length === 4, "a level after the edge node's"),
);

/** Everything that this client publishes. */
const structure: Check = (event) => {
  if (event.kind !== "publish") return null;
  const { topic, levels, type } = event.message;
  return unless(levels.length >= 4 && levels.length <= 5 && all.includes(type), `${topic}: no such topic`);
};
const namespace: Check = (event) => {
  if (event.kind !== "publish") return null;
  return unless(event.message.levels[0] === "spBv1.0", `${event.message.topic}: another namespace`);
};

const oneSpelling = published(ofDevices, ({ message: { device }, state }) => {
  const same = [...state.deviceIds].find((id) => id !== device && id.toLowerCase() === device?.toLowerCase());
  return unless(same === undefined, `differs from ${same} by case only`);
});

const complete = metrics(BIRTHS, (metric) => {
  if (metric.name === null) return "no name";
  if (metric.datatype === null) return "no datatype";
  return valueOrNull(metric);
});

const rebirthMetric = published(["NBIRTH"], ({ payload }) => {
  const metric = payload.metrics.find(({ name }) => name === REBIRTH);
  if (metric === undefined) return `no metric ${REBIRTH}`;
  return unless(metric.datatype === 11 && metric.value === false, `${REBIRTH} is not Boolean false`);
});

const hasChanges = published(DATA, ({ payload }) => unless(payload.metrics.length > 0, "no metric"));

/** Chapters 1 and 4: names and topics, and what a message on each of them has. */
export const topicRules: readonly Rule[] = [
  ...["string", "chars"].flatMap((what): Rule[] => [
    {
      id: `tck-id-intro-group-id-${what}`,
      text: "a group's id is text without + # /",
      check: published(all, groupName),
    },
    {
      id: `tck-id-intro-edge-node-id-${what}`,
      text: "an edge node's id is text without + # /",
      check: published(all, nodeName),
    },
    {
      id: `tck-id-intro-device-id-${what}`,
      text: "a device's id is text without + # /",
      check: published(ofDevices, deviceName),
    },
  ]),
  { id: "tck-id-topic-structure", text: "only topics of messages are published on", check: structure },
  { id: "tck-id-topic-structure-namespace-a", text: "each topic begins with spBv1.0", check: namespace },
  {
    id: "tck-id-topic-structure-namespace-valid-group-id",
    text: "the group's level is valid",
    check: published(all, groupName),
  },
  {
    id: "tck-id-topic-structure-namespace-valid-edge-node-id",
    text: "the edge node's level is valid",
    check: published(all, nodeName),
  },
  {
    id: "tck-id-topic-structure-namespace-valid-device-id",
    text: "the device's level is valid",
    check: published(ofDevices, deviceName),
  },
  {
    id: "tck-id-topic-structure-namespace-device-id-associated-message-types",
    text: "messages of devices name the device",
    check: hasDevice,
  },
  {
    id: "tck-id-topic-structure-namespace-device-id-non-associated-message-types",
    text: "messages of the node name no device",
    check: hasNoDevice,
  },
  { id: "tck-id-case-sensitivity-sparkplug-ids", text: "no two ids differ by case only", check: oneSpelling },
  ...[...COUNTED].map(
    (type): Rule => ({
      id: `tck-id-topics-${type.toLowerCase()}-topic`,
      text: `${type} has the topic of this group, node and device`,
      check: published([type], ownTopic),
    }),
  ),
  {
    id: "tck-id-topics-ndeath-topic",
    text: "NDEATH has the topic of this group and node",
    check: death(ownTopic),
  },
  ...[...COUNTED].map(
    (type): Rule => ({
      id: `tck-id-topics-${type.toLowerCase()}-mqtt`,
      text: `${type} has QoS 0 and is not retained`,
      check: published([type], qosZeroNotRetained),
    }),
  ),
  {
    id: "tck-id-topics-nbirth-seq-num",
    text: "NBIRTH has the sequence number 0",
    check: published(["NBIRTH"], seqFollows),
  },
  {
    id: "tck-id-topics-dbirth-seq",
    text: "DBIRTH has the next sequence number",
    check: published(["DBIRTH"], seqFollows),
  },
  {
    id: "tck-id-topics-ndata-seq-num",
    text: "NDATA has the next sequence number",
    check: published(["NDATA"], seqFollows),
  },
  {
    id: "tck-id-topics-ddata-seq-num",
    text: "DDATA has the next sequence number",
    check: published(["DDATA"], seqFollows),
  },
  {
    id: "tck-id-topics-ddeath-seq-num",
    text: "DDEATH has the next sequence number",
    check: published(["DDEATH"], seqFollows),
  },
  { id: "tck-id-topics-ndeath-seq", text: "NDEATH has no sequence number", check: death(noSeq) },
  {
    id: "tck-id-topics-ndeath-payload",
    text: "NDEATH has one metric, bdSeq",
    check: death(({ payload }) =>
      unless(payload.metrics.length === 1 && bdSeqOf(payload) !== null, "metrics beside bdSeq, or no bdSeq"),
    ),
  },
  ...["NBIRTH", "DBIRTH", "NDATA", "DDATA"].map(
    (type): Rule => ({
      id: `tck-id-topics-${type.toLowerCase()}-timestamp`,
      text: `${type} says when it was sent`,
      check: published([type], hasTimestamp),
    }),
  ),
  {
    id: "tck-id-topics-nbirth-metrics",
    text: "a metric of NBIRTH has name, datatype and value",
    check: onlyOf(["NBIRTH"], complete),
  },
  {
    id: "tck-id-topics-dbirth-metrics",
    text: "a metric of DBIRTH has name, datatype and value",
    check: onlyOf(["DBIRTH"], complete),
  },
  {
    id: "tck-id-topics-nbirth-metric-reqs",
    text: "NBIRTH has each metric that NDATA ever have",
    check: onlyOf(["NDATA"], knownMetrics),
  },
  {
    id: "tck-id-topics-dbirth-metric-reqs",
    text: "DBIRTH has each metric that DDATA ever have",
    check: onlyOf(["DDATA"], knownMetrics),
  },
  {
    id: "tck-id-topics-ndata-payload",
    text: "NDATA has the metrics that have changed",
    check: onlyOf(["NDATA"], hasChanges),
  },
  {
    id: "tck-id-topics-ddata-payload",
    text: "DDATA has the metrics that have changed",
    check: onlyOf(["DDATA"], hasChanges),
  },
  {
    id: "tck-id-topics-nbirth-bdseq-included",
    text: "NBIRTH has bdSeq",
    check: published(["NBIRTH"], ({ payload }) => unless(bdSeqOf(payload) !== null, "no bdSeq")),
  },
  {
    id: "tck-id-topics-nbirth-rebirth-metric",
    text: "NBIRTH has Node Control/Rebirth, Boolean false",
    check: rebirthMetric,
  },
  {
    id: "tck-id-payloads-nbirth-rebirth-req",
    text: "each NBIRTH has Node Control/Rebirth",
    check: rebirthMetric,
  },
  {
    id: "tck-id-payloads-sequence-num-always-included",
    text: "each message but NDEATH has a sequence number",
    check: published(COUNTED, hasSeq),
  },
];
