import type { Pace } from "./pace.ts";

/** What may be left behind in the gateway, to show that the soak finds it. */
export const leaks = ["listener", "timer", "descriptor", "memory"] as const;
export type Leak = (typeof leaks)[number];

/** What the soak asks of the gateway's process. */
export type ProbeRequest =
  | { readonly soak: "pace"; readonly pace: Pace }
  | { readonly soak: "census" }
  /** Leaves one behind. */
  | { readonly soak: "plant"; readonly leak: Leak };

/** How many there are of each kind. */
export type Count = Readonly<Record<string, number>>;

/** What the gateway's process holds at a moment, after a collection. */
export interface Census {
  readonly soak: "census";
  /** Of event emitters and event targets, by class and event. */
  readonly listeners: Count;
  /** Timers that run, by what they call. */
  readonly timers: Count;
  /** Open files, by kind. */
  readonly descriptors: Count;
  /** In megabytes, before and after the collection. */
  readonly rssAnonMb: number;
  readonly collectedMb: number;
  readonly heapMb: number;
}

/** What the soak asks of the service's process. */
export type ServiceRequest =
  | { readonly soak: "pace"; readonly pace: Pace }
  /** Every connection is cut, and every new one, for so long (real time). */
  | { readonly soak: "cut"; readonly forMs: number };

/** What the service's process tells: a token was asked for. */
export interface TokenRequested {
  readonly soak: "token";
}

/** What the soak asks of the PLC's process. */
export interface PlcRequest {
  readonly port: number;
  readonly robots: readonly string[];
}

/** What the PLC's process tells. */
export type PlcReply =
  /** The thumbprint of the certificate that the gateway showed. */
  | { readonly kind: "connected"; readonly thumbprint: string }
  | { readonly kind: "changes"; readonly count: number }
  | { readonly kind: "commands"; readonly count: number }
  | { readonly kind: "failed"; readonly message: string };
