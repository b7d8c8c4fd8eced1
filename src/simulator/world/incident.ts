/** An event of a robot without a command: on request, or by a scenario. */
export type Incident = { readonly robotId: string } & (
  | { readonly kind: "offline" }
  | { readonly kind: "online" }
  | { readonly kind: "blocked" }
  | { readonly kind: "unblocked" }
  /** The charge jumps to `percent`; 0 is a robot that has run flat. */
  | { readonly kind: "battery"; readonly percent: number }
  /** A charging cable goes in or out. */
  | { readonly kind: "wired"; readonly plugged: boolean }
  /** The robot's sequence numbers begin again with 0, and it reports. */
  | { readonly kind: "sequence-reset" }
  /** Somebody puts weight on a robot, or (negative) takes it off. */
  | { readonly kind: "weight"; readonly changeKg: number }
  /** A conveyor in error stops, unless it `keepsTurning`; either way it takes no command until it is well. */
  | {
      readonly kind: "conveyor-health";
      readonly index: number;
      readonly ok: boolean;
      readonly keepsTurning?: boolean | undefined;
    }
  | { readonly kind: "conveyor-payload"; readonly index: number; readonly loaded: boolean }
);
