import { connectFaultText, type Peer } from "../../../platform/connect-fault.ts";
import { messageOf } from "../../../platform/error-text.ts";
import type { MqttOptions } from "../options.ts";
import { brokerAddress } from "./dial.ts";

/** Reasons of CONNACK that a person mends with user or password, by MQTT 3.1.1 and 5. */
const ofUser: ReadonlySet<unknown> = new Set([4, 5, 0x86, 0x87]);
/** From here on a reason of MQTT 5 is a refusal. */
const REFUSED = 0x80;

/**
 * Why the broker cannot be reached or refuses the gateway, in one line with what to do. It changes once a day
 * at most, so that it is one transition in log and health.
 */
export function brokerProblem(error: unknown, { broker }: MqttOptions, nowMs: number): string {
  const reason = messageOf(error);
  if (broker.kind === "embedded") return `the MQTT broker cannot be reached or refused: ${reason}`;
  if (ofUser.has(reasonOf(error)))
    return `the MQTT broker refuses the gateway: ${reason}; look at mqtt.username and mqtt.password`;
  const peer: Peer = {
    key: broker.setting,
    ...brokerAddress(broker.url),
    caKey: "mqtt.ca",
    certificateKey: "mqtt.clientCertificate",
  };
  const status = /^Unexpected server response: (\d+)$/.exec(reason)?.[1];
  const otherwise =
    status === undefined
      ? reason
      : `it answers HTTP ${status} and opens no WebSocket; look at the path of the URL`;
  const today = new Date(nowMs).toISOString().slice(0, "2026-01-31".length);
  return `the MQTT broker cannot be reached or refused: ${connectFaultText(error, peer, today, otherwise)}`;
}

/** Takes the end of a publish, and adds the topic where the broker refuses it. */
export function namingTopic(
  topic: string,
  done: (error?: Error | null) => void,
): (error?: Error | null) => void {
  return (error) => {
    const code = reasonOf(error);
    if (!(error instanceof Error) || typeof code !== "number" || code < REFUSED) return done(error);
    const why = `the broker refuses to let the gateway write to ${topic}: ${error.message}`;
    done(new Error(`${why}; let its rules allow everything under mqtt.base`, { cause: error }));
  };
}

/** The reason code of a packet by which the broker has refused something. */
export function reasonOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
