import { type BrokerLimits, noLimits } from "../../northbound/mqtt/client/broker-limits.ts";
import { checkingClientId } from "../../northbound/mqtt/client/checking.ts";
import type { ExternalBrokerOptions, MqttOptions } from "../../northbound/mqtt/options.ts";
import {
  type BrokerTrial,
  type TopicTrial,
  type TriedNode,
  tryBroker,
} from "../../northbound/mqtt/trial/broker-trial.ts";
import type { Clock } from "../../platform/clock.ts";
import { connectFault } from "../../platform/connect-fault.ts";
import { messageOf } from "../../platform/error-text.ts";
import { type Endpoint, ok, type Part, skipped, TRY_MS, wrong } from "./endpoints.ts";

const ACL_PAGE = "mqtt.md (A broker of the plant) has the broker's rules";
const SPARKPLUG_PAGE = "sparkplug.md (At a broker of the plant) has the rights";

/** Tries a broker of the plant. */
export async function tryPlantBroker(
  mqtt: MqttOptions,
  sparkplug: TriedNode | null,
  broker: ExternalBrokerOptions,
  endpoint: Endpoint,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly Part[]> {
  const trial = await tryBroker(mqtt, sparkplug, broker, { clock, limitMs: TRY_MS, signal });
  if (trial.kind === "unconnected")
    return [unconnected(trial.error, endpoint, checkingClientId(mqtt.clientId), clock)];
  return [
    ok("broker", `it takes the client ${checkingClientId(mqtt.clientId)}${limitsText(trial.limits)}`),
    ...trial.missing.map(({ what, advice }) => wrong("broker limits", what, advice)),
    ...trial.published.map((each) => ownTopic(each, sparkplug)),
    filtersPart(trial.refusedFilters),
    namesPart(trial, broker.username !== null || broker.tls.now().clientCert !== null),
  ];
}

function unconnected(error: unknown, endpoint: Endpoint, clientId: string, clock: Clock): Part {
  const fault = connectFault(error, endpoint, new Date(clock.nowMs()).toISOString());
  if (fault !== null) return wrong("broker", fault.what, fault.advice);
  return wrong(
    "broker",
    messageOf(error),
    `look at mqtt.username and mqtt.password, at mqtt.protocolVersion, and whether the broker takes the client id ${clientId}, which this check uses`,
  );
}

/** Empty: the broker names no limits. */
function limitsText({ maximumPacketSize, receiveMaximum }: BrokerLimits): string {
  const size = Number.isFinite(maximumPacketSize) ? `, packets of at most ${maximumPacketSize} bytes` : "";
  const unacknowledged =
    receiveMaximum < noLimits.receiveMaximum ? `, and ${receiveMaximum} unacknowledged messages` : "";
  return `${size}${unacknowledged}`;
}

function ownTopic({ topic, isSparkplug, passage }: TopicTrial, sparkplug: TriedNode | null): Part {
  const part = `broker topic ${topic}`;
  const own = `spBv1.0/${sparkplug?.groupId}/+/${sparkplug?.nodeId}`;
  const advice = isSparkplug
    ? `let the broker allow the gateway's user to write and to read ${own} and ${own}/#; ${SPARKPLUG_PAGE}`
    : `let the broker allow the gateway's user to write and to read everything under mqtt.base, and under mqtt.placement; ${ACL_PAGE}`;
  switch (passage.kind) {
    case "arrived":
      return ok(part, "a message was taken, and came back");
    case "refused":
      return wrong(part, `a message is refused: ${passage.message}`, advice);
    case "lost":
      return wrong(part, "a message was acknowledged, and did not come back within 2 s", advice);
  }
}

function filtersPart(refused: readonly string[]): Part {
  const part = "broker subscriptions";
  if (refused.length === 0) return ok(part, "the broker grants every subscription of the gateway");
  return wrong(
    part,
    `the broker refuses ${refused.join(", ")}`,
    `let it allow the gateway's user to read them; ${ACL_PAGE}`,
  );
}

/** Whether the broker enforces the names of clients, as far as a client without rights can find out. */
function namesPart(
  { asOther, anonymous }: Extract<BrokerTrial, { readonly kind: "connected" }>,
  isKnown: boolean,
): Part {
  const part = "broker client names";
  if (asOther === null)
    return skipped(part, "commands are off: mqtt.commands.brokerEnforcesClientNames or enabled is false");
  const open = (who: string, topic: string) =>
    wrong(
      part,
      `${who} may write to ${topic}: it can command in the name of any client`,
      `set mqtt.commands.brokerEnforcesClientNames: false until the broker lets a client write under its own name only; ${ACL_PAGE}`,
    );
  if (!isKnown && asOther.passage.kind === "arrived") return open("a client without a user", asOther.topic);
  if (anonymous?.trial?.passage.kind === "arrived")
    return open("a client without a user", anonymous.trial.topic);
  const others = "look yourself whether it holds its other users to their names: that needs their passwords";
  const unknown =
    anonymous?.isLetIn === false ? "is not let in" : "may not write under another client's name";
  const own =
    asOther.passage.kind === "arrived"
      ? `; the gateway's own user may write to ${asOther.topic}, to clear retained commands`
      : `; nor may the gateway's own user (${asOther.topic})`;
  return ok(part, `a client without a user ${unknown}${isKnown ? own : ""}`, others);
}
