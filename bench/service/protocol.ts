import type { Percentiles } from "../quantile.ts";
import type { ServiceAddress } from "../service.ts";

/** What the section asks of the subscribers' process. */
export type SubscriberRequest =
  /** Connects so many subscribers of missions and batteries of all robots. */
  | {
      readonly kind: "subscribe";
      readonly address: ServiceAddress;
      readonly location: string;
      readonly subscribers: number;
      /** Robots of the location: each subscriber begins with so many snapshots of either kind. */
      readonly robots: number;
    }
  | { readonly kind: "measure"; readonly seconds: number }
  /** Opens so many conveyor streams, spread over the carts. */
  | { readonly kind: "conveyors"; readonly streams: number; readonly carts: readonly string[] }
  /** Opens one subscription of everything that is not read, and waits until it is cut off. */
  | { readonly kind: "stop-reading"; readonly withinMs: number };

/** What it answers, one for one. */
export type SubscriberReply =
  | { readonly kind: "subscribed" }
  | { readonly kind: "measured"; readonly measured: Measured }
  | { readonly kind: "conveyors-open"; readonly seconds: number; readonly open: number }
  | {
      readonly kind: "cut-off";
      readonly afterSeconds: number;
      readonly http2Code: number;
      readonly others: Measured;
    }
  | { readonly kind: "failed"; readonly message: string };

/** What the subscribers saw for a while. */
export interface Measured {
  /** Messages a second that the subscriber with the fewest got, and the one with the most. */
  readonly fewest: number;
  readonly most: number;
  /** Missing sequence numbers of missions, as the first subscriber counts them. */
  readonly gaps: number;
  /** From the robot's timestamp, which is in whole milliseconds, to the first subscriber. */
  readonly latencyMs: Percentiles;
}
