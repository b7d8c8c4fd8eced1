import { bdSeqOf } from "../state.ts";
import {
  BIRTHS,
  type Check,
  COUNTED,
  death,
  noSeq,
  published,
  type Rule,
  topicOf,
  unless,
  will,
} from "./rule.ts";

/** MQTT 5, DISCONNECT: with will message. */
const WITH_WILL = 0x04;

const clean =
  (version: number): Check =>
  (event) => {
    if (event.kind !== "connect" || (event.protocolVersion === 5) !== (version === 5)) return null;
    if (!event.isClean) return "the session is not clean";
    return unless(!event.sessionExpiryS, `the session expires after ${event.sessionExpiryS} s`);
  };

const hasWill = will(() => null);
const willHasQosOne = will(({ message: { qos } }) => unless(qos === 1, `the last will has QoS ${qos}`));
const willIsNotRetained = will(({ message: { isRetained } }) =>
  unless(!isRetained, "the last will is retained"),
);
const willHasBdSeq = will(({ payload }) => unless(bdSeqOf(payload) !== null, "the last will has no bdSeq"));
const willHasTopic = will(({ message: { topic }, expected }) =>
  unless(topic === topicOf(expected, "NDEATH"), `the last will is for ${topic}`),
);

/** It stays the number of the connection: a birth on request does not raise it. */
const bdSeqOfWill = published(["NBIRTH"], ({ payload, state }) => {
  const due = bdSeqOf(state.connect?.will?.payload ?? null);
  const said = bdSeqOf(payload);
  return unless(said === due, `bdSeq ${said}, and ${due} in the last will`);
});

const bdSeqRises = will(({ payload, state }) => {
  const before = bdSeqOf(state.connect?.will?.payload ?? null);
  const bdSeq = bdSeqOf(payload);
  if (bdSeq === null || bdSeq < 0 || bdSeq > 255) return `bdSeq ${bdSeq}`;
  const due = before === null ? bdSeq : (before + 1) % 256;
  return unless(bdSeq === due, `bdSeq ${bdSeq} instead of ${due}`);
});

const deathHasBdSeq = published(["NDEATH"], ({ payload, state }) =>
  unless(
    bdSeqOf(payload) === bdSeqOf(state.connect?.will?.payload ?? null),
    `bdSeq ${bdSeqOf(payload)} is not that of the last will`,
  ),
);

/** With MQTT 5 the broker publishes the last will, if it is told so. */
const saidDeath =
  (versions: readonly number[], isSaid: (hasDied: boolean, reasonCode: number) => boolean): Check =>
  (event, state) => {
    if (event.kind !== "disconnect" || event.connection !== state.connect?.connection) return null;
    if (!versions.includes(state.connect.protocolVersion)) return null;
    return unless(isSaid(state.hasDied, event.reasonCode), "the edge node disconnects without NDEATH");
  };
const saidDeathOrWill = (hasDied: boolean, reasonCode: number) => hasDied || reasonCode === WITH_WILL;

const inSession = published(BIRTHS, ({ state }) =>
  unless(state.isAccepted, "the broker has not accepted the session"),
);

const birthFirst = published([...COUNTED, "NDEATH"], ({ message: { type }, state }) =>
  unless(type === "NBIRTH" || type === "NDEATH" || state.node !== null, "it comes before NBIRTH"),
);

/** A host would take a second one for the death of the next birth. */
const oneDeath: Check = (event, state) => {
  if (event.kind === "publish" && event.message.type === "NDEATH" && state.hasDied)
    return "NDEATH comes twice";
  const isTwice = event.kind === "disconnect" && event.reasonCode === WITH_WILL && state.hasDied;
  return isTwice && state.connect?.protocolVersion === 5 ? "the broker publishes NDEATH a second time" : null;
};

const silentAfterDeath = published(COUNTED, ({ state }) => unless(!state.hasDied, "it comes after NDEATH"));

const deliveredDeath: Check = (event) => {
  if (event.kind !== "deliver" || event.message.type !== "NDEATH") return null;
  return unless(!event.message.isRetained, "the broker keeps a NDEATH");
};

const flow = "tck-id-message-flow-edge-node-birth-publish";

/** The session of MQTT: last will, number of the connection, and how it begins and ends. */
export const sessionRules: readonly Rule[] = [
  {
    id: "tck-id-principles-persistence-clean-session-311",
    text: "MQTT 3.1.1: a clean session",
    check: clean(4),
  },
  {
    id: "tck-id-principles-persistence-clean-session-50",
    text: "MQTT 5: a clean start, and no expiry",
    check: clean(5),
  },
  {
    id: "tck-id-principles-birth-certificates-order",
    text: "the first message is NBIRTH",
    check: birthFirst,
  },
  { id: `${flow}-will-message`, text: "each CONNECT has a last will", check: hasWill },
  { id: "tck-id-payloads-ndeath-will-message", text: "the last will is a NDEATH", check: willHasTopic },
  { id: `${flow}-will-message-topic`, text: "the last will has the topic of NDEATH", check: willHasTopic },
  { id: `${flow}-will-message-qos`, text: "the last will has QoS 1", check: willHasQosOne },
  { id: "tck-id-payloads-ndeath-will-message-qos", text: "the last will has QoS 1", check: willHasQosOne },
  {
    id: `${flow}-will-message-will-retained`,
    text: "the last will is not retained",
    check: willIsNotRetained,
  },
  {
    id: "tck-id-payloads-ndeath-will-message-retain",
    text: "the last will is not retained",
    check: willIsNotRetained,
  },
  {
    id: `${flow}-will-message-payload`,
    text: "the last will is a payload of Sparkplug B",
    check: will(({ payload }) => unless(payload.metrics.length > 0, "the last will has no metric")),
  },
  { id: `${flow}-will-message-payload-bdSeq`, text: "the last will has bdSeq", check: willHasBdSeq },
  { id: "tck-id-payloads-ndeath-seq", text: "NDEATH has no sequence number", check: death(noSeq) },
  {
    id: "tck-id-topics-nbirth-bdseq-increment",
    text: "bdSeq is one more at each CONNECT, and 0 after 255",
    check: bdSeqRises,
  },
  {
    id: "tck-id-topics-nbirth-bdseq-matching",
    text: "bdSeq of NBIRTH is that of the last will",
    check: bdSeqOfWill,
  },
  {
    id: "tck-id-payloads-nbirth-bdseq-repeat",
    text: "each NBIRTH of a connection has the bdSeq of its last will",
    check: bdSeqOfWill,
  },
  {
    id: `${flow}-nbirth-payload-bdSeq`,
    text: "bdSeq of NBIRTH is that of the last will",
    check: bdSeqOfWill,
  },
  {
    id: "tck-id-payloads-nbirth-bdseq",
    text: "each NBIRTH has a bdSeq of 0 to 255",
    check: published(["NBIRTH"], ({ payload }) => {
      const bdSeq = bdSeqOf(payload);
      return unless(bdSeq !== null && bdSeq >= 0 && bdSeq <= 255, `bdSeq ${bdSeq}`);
    }),
  },
  {
    id: "tck-id-payloads-ndeath-bdseq",
    text: "a published NDEATH has the bdSeq of NBIRTH",
    check: deathHasBdSeq,
  },
  { id: `${flow}-connect`, text: "births come in a session that the broker has accepted", check: inSession },
  {
    id: "tck-id-operational-behavior-edge-node-intentional-disconnect-ndeath",
    text: "NDEATH is published before a DISCONNECT, or by it",
    check: saidDeath([3, 4, 5], saidDeathOrWill),
  },
  {
    id: "tck-id-payloads-ndeath-will-message-publisher",
    text: "an edge node that leaves publishes NDEATH, or has it published",
    check: saidDeath([3, 4, 5], saidDeathOrWill),
  },
  {
    id: "tck-id-payloads-ndeath-will-message-publisher-disconnect-mqtt311",
    text: "MQTT 3.1.1: NDEATH is published before DISCONNECT",
    check: saidDeath([3, 4], (hasDied) => hasDied),
  },
  {
    id: "tck-id-payloads-ndeath-will-message-publisher-disconnect-mqtt50",
    text: "MQTT 5: DISCONNECT has the reason Disconnect with Will Message",
    check: saidDeath([5], (_, reasonCode) => reasonCode === WITH_WILL),
  },
  { id: "fleetgate-one-ndeath", text: "a session has one NDEATH", check: oneDeath },
  { id: "fleetgate-silent-after-ndeath", text: "nothing comes after NDEATH", check: silentAfterDeath },
  { id: "fleetgate-ndeath-delivered", text: "the broker delivers NDEATH unretained", check: deliveredDeath },
];
