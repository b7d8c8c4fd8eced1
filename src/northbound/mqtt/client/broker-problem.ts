import { connectFaultText, type Peer } from "../../../platform/connect-fault.ts";
import { messageOf } from "../../../platform/error-text.ts";
import type { MqttOptions } from "../options.ts";
import { brokerAddress } from "./dial.ts";

/** Reasons of CONNACK that a person mends with user or password, by MQTT 3.1.1 and 5. */
const ofUser: ReadonlySet<unknown> = new Set([4, 5, 0x86, 0x87]);

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

/** The reason code of a packet by which the broker has refused something. */
export function reasonOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
