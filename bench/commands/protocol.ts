import type { Percentiles } from "../quantile.ts";
import type { ServiceAddress } from "../service.ts";

/** What the section asks of the sender's process. */
export type SenderRequest =
  | {
      readonly kind: "open";
      readonly address: ServiceAddress;
      readonly mqttPort: number;
      /** The MQTT base of the gateway, and of another one for the way `other`. */
      readonly base: string;
      readonly otherBase: string | null;
      readonly robots: readonly string[];
    }
  /** Commands at a rate, over the gateway or straight to the service. */
  | { readonly kind: "send"; readonly way: Way; readonly rate: number; readonly seconds: number };

/**
 * `mqtt`: over the gateway; `other`: over another one, where there is one; `bare`: straight to the service;
 * `echo`: MQTT alone, there and back, the part of a command's way that no gateway can save.
 */
export type Way = "mqtt" | "other" | "bare" | "echo";

/** What the echo's process is told, once; it answers when it listens. */
export interface EchoRequest {
  readonly mqttPort: number;
}

export const ECHO_IN = "bench-echo/in";
export const ECHO_OUT = "bench-echo/out";

/** What it answers, one for one. */
export type SenderReply =
  | { readonly kind: "open" }
  | { readonly kind: "sent"; readonly result: SendResult }
  | { readonly kind: "failed"; readonly message: string };

export interface SendResult {
  readonly sent: number;
  /** How many ended how; straight to the service, `succeeded` or a gRPC code. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly withoutOutcome: number;
  /** From the first command to the last outcome. */
  readonly seconds: number;
  readonly latencyMs: Percentiles;
}
