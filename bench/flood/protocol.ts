/** What a sender's process is told. Both begin when they are told, and answer when they are done. */
export type FloodRequest =
  | { readonly kind: "open"; readonly url: string; readonly client: string; readonly base: string }
  /** Commands as fast as the connection takes them, robots in turn. */
  | { readonly kind: "flood"; readonly commands: number; readonly robots: readonly string[] }
  /** Stops at a rate, robots in turn, until `end`. */
  | { readonly kind: "stops"; readonly perSecond: number; readonly robots: readonly string[] }
  | { readonly kind: "end" };

export type FloodReply =
  | { readonly kind: "open" }
  | {
      readonly kind: "flooded";
      /** From the first publish to the last reply, or to when none came any more. */
      readonly seconds: number;
      readonly codes: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: "stopped";
      /** When each was published, by its number, in Unix milliseconds. */
      readonly sentAtMs: readonly number[];
      readonly codes: Readonly<Record<string, number>>;
    }
  | { readonly kind: "failed"; readonly message: string };
