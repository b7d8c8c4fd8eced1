import { connectFaultText, type Peer } from "../../../platform/connect-fault.ts";
import { messageOf } from "../../../platform/error-text.ts";
import type { MqttOptions } from "../options.ts";

/** Reasons of CONNACK that a person mends with user or password, by MQTT 3.1.1 and 5. */
const ofUser: ReadonlySet<unknown> = new Set([4, 5, 0x86, 0x87]);
/** From here on a reason of MQTT 5 is a refusal. */
const REFUSED = 0x80;
const PORTS: Readonly<Record<string, number>> = { "mqtt:": 1883, "mqtts:": 8883 };

/**
 * Why the broker cannot be reached or refuses the gateway, in one line with what to do. It changes once a day
 * at most, so that it is one transition in log and health.
 */
export function brokerProblem(error: unknown, { broker }: MqttOptions, nowMs: number): string {
  const reason = messageOf(error);
  if (broker.kind === "embedded") return `the MQTT broker cannot be reached or refused: ${reason}`;
  if (ofUser.has(codeOf(error)))
    return `the MQTT broker refuses the gateway: ${reason}; look at mqtt.username and mqtt.password`;
  const { protocol, hostname, port } = new URL(broker.url);
  const peer: Peer = {
    key: "mqtt.broker",
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (PORTS[protocol] ?? 0) : Number(port),
    caKey: "mqtt.ca",
    certificateKey: "mqtt.clientCertificate",
  };
  const today = new Date(nowMs).toISOString().slice(0, "2026-01-31".length);
  return `the MQTT broker cannot be reached or refused: ${connectFaultText(error, peer, today, reason)}`;
}

/** Takes the end of a publish, and adds the topic where the broker refuses it. */
export function namingTopic(
  topic: string,
  done: (error?: Error | null) => void,
): (error?: Error | null) => void {
  return (error) => {
    const code = codeOf(error);
    if (!(error instanceof Error) || typeof code !== "number" || code < REFUSED) return done(error);
    const why = `the broker refuses to let the gateway write to ${topic}: ${error.message}`;
    done(new Error(`${why}; let its rules allow everything under mqtt.base`, { cause: error }));
  };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
