import type { Expected, NodeState } from "../state.ts";
import { BIRTHS, type Check, published, type Rule, unless } from "./rule.ts";

/** Looks at births of an edge node that waits for a host. */
const births = (check: (state: NodeState, expected: Expected) => string | null): Check =>
  published(BIRTHS, ({ state, expected }) => (expected.primaryHost === null ? null : check(state, expected)));

const waits = births(({ host }) => unless(host?.isOnline === true, "the primary host is not online"));

const waitsForItsHost = births(({ host, otherHostIsOnline }) =>
  unless(host?.isOnline === true || !otherHostIsOnline, "another host is online, and not the primary one"),
);

const waitsForOnline = births(({ host }) => unless(host?.isOnline !== false, "the primary host is offline"));

const waitsForNewState = births(({ host, older }) =>
  unless(host?.isOnline === true || older?.isOnline !== true, "the state online is older than the last one"),
);

const subscribesState = births(({ filters }, { primaryHost }) =>
  unless(
    filters.some(({ topic }) => topic === `spBv1.0/STATE/${primaryHost}`),
    "STATE was not subscribed",
  ),
);

/** An edge node that was born leaves the broker within the time of grace. */
const leaves: Check = (event, state, { graceMs }) => {
  if (state.offlineAtMs === null || event.atMs <= state.offlineAtMs + graceMs) return null;
  if (event.kind === "publish") return `${event.message.topic}: the primary host is offline`;
  const isOpen = state.connect !== null && state.open.has(state.connect.connection);
  return event.kind === "end" && isOpen ? "the primary host is offline, and the edge node stays" : null;
};

/** As a message, or by a DISCONNECT that has the last will published. */
const dies: Check = (event, state) => {
  if (state.offlineAtMs === null || event.connection !== state.connect?.connection) return null;
  if (event.kind === "disconnect")
    return unless(
      state.hasDied || event.reasonCode === 0x04,
      "the primary host is offline, and there is no NDEATH",
    );
  return null;
};

/** The death of an earlier session of the host, which the broker has delivered late. */
const staysForOlder: Check = (event, state, { graceMs }) => {
  const isEnd = event.kind === "disconnect" || (event.kind === "publish" && event.message.type === "NDEATH");
  if (!isEnd || state.older === null || state.older.isOnline || state.offlineAtMs !== null) return null;
  return unless(event.atMs > state.older.atMs + graceMs, "the edge node leaves for a state that is older");
};

const goesOn: Check = (event, state, { brokers }) => {
  if (event.kind !== "connect" || brokers < 2 || state.offlineAtMs === null) return null;
  return unless(event.broker !== state.connect?.broker, `it connects to ${event.broker} again`);
};

const oneBroker: Check = (event, state) =>
  event.kind === "connect" ? unless(state.open.size === 0, "another connection is still open") : null;

const flow = "tck-id-message-flow-edge-node-birth-publish-phid";
const end = "tck-id-operational-behavior-edge-node-termination-host-offline";
const servers = "tck-id-operational-behavior-primary-application-state-with-multiple-servers";

/** Births wait for the primary host, and the edge node leaves the broker that has lost it. */
export const primaryHostRules: readonly Rule[] = [
  { id: `${flow}-wait`, text: "births wait until the primary host is online", check: waits },
  { id: `${flow}-wait-id`, text: "another host's state does not count", check: waitsForItsHost },
  { id: `${flow}-wait-online`, text: "births wait while the last state says offline", check: waitsForOnline },
  {
    id: `${flow}-wait-timestamp`,
    text: "a state that is older than the last one does not count",
    check: waitsForNewState,
  },
  {
    id: "tck-id-operational-behavior-edge-node-birth-sequence-wait",
    text: "births wait until the primary host is online at this broker",
    check: waits,
  },
  {
    id: `${flow}-offline`,
    text: "host offline: NDEATH, and the connection ends",
    check: (...all) => dies(...all) ?? leaves(...all),
  },
  { id: end, text: "host offline: the edge node leaves the broker", check: leaves },
  {
    id: `${end}-timestamp`,
    text: "an offline that is older than the last state ends nothing",
    check: staysForOlder,
  },
  { id: `${end}-reconnect`, text: "host offline: the next broker of the list is tried", check: goesOn },
  {
    id: `${servers}-walk`,
    text: "host offline: the session ends, and the next broker is tried",
    check: (...all) => leaves(...all) ?? goesOn(...all),
  },
  { id: `${servers}-state-subs`, text: "STATE of the primary host is subscribed", check: subscribesState },
  { id: `${servers}-single-server`, text: "one connection at a time", check: oneBroker },
];
