import fc from "fast-check";

export const robots = ["AMR01", "AMR02"] as const;
/** How a call may end, and whether the robot acts. */
export const answers = ["ok", "refused", "not_sent", "lost_before", "lost_after", "late"] as const;

export type Answer = (typeof answers)[number];

export type Step =
  | { readonly kind: "send"; readonly robot: number; readonly operation: number; readonly startMs: number }
  | { readonly kind: "repeat"; readonly which: number }
  | { readonly kind: "reuse"; readonly which: number }
  | { readonly kind: "answer"; readonly which: number; readonly answer: number }
  | { readonly kind: "sync" | "late_effects" }
  /** The machine stops and starts again; its wall clock may have been set meanwhile. */
  | { readonly kind: "crash"; readonly jumpMs: number }
  | { readonly kind: "stream"; readonly robot: number }
  | { readonly kind: "foreign"; readonly robot: number }
  | { readonly kind: "quality"; readonly robot: number; readonly good: boolean }
  | { readonly kind: "pass"; readonly ms: number }
  /** The wall clock is set. */
  | { readonly kind: "jump"; readonly ms: number };

const HOUR_MS = 3_600_000;
/** Longer than records are kept. */
const EIGHT_DAYS_MS = 8 * 24 * HOUR_MS;
const nat = (max: number) => fc.nat(max);
const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });

/** Steps of the world: what senders, the service, the disk, other clients and time may do. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  weighted(
    8,
    fc.record({
      kind: fc.constant("send" as const),
      robot: nat(1),
      operation: nat(4),
      startMs: fc.constantFrom(10_000, 10_000, 10_000, 300, 60_000),
    }),
  ),
  weighted(3, fc.record({ kind: fc.constant("repeat" as const), which: nat(9) })),
  weighted(1, fc.record({ kind: fc.constant("reuse" as const), which: nat(9) })),
  weighted(
    8,
    fc.record({ kind: fc.constant("answer" as const), which: nat(3), answer: nat(answers.length - 1) }),
  ),
  weighted(10, fc.record({ kind: fc.constant("sync" as const) })),
  weighted(
    2,
    fc.record({
      kind: fc.constant("crash" as const),
      jumpMs: fc.constantFrom(0, 0, 0, HOUR_MS, -HOUR_MS, EIGHT_DAYS_MS, -EIGHT_DAYS_MS),
    }),
  ),
  weighted(2, fc.record({ kind: fc.constant("late_effects" as const) })),
  weighted(6, fc.record({ kind: fc.constant("stream" as const), robot: nat(1) })),
  weighted(2, fc.record({ kind: fc.constant("foreign" as const), robot: nat(1) })),
  weighted(1, fc.record({ kind: fc.constant("quality" as const), robot: nat(1), good: fc.boolean() })),
  weighted(
    2,
    fc.record({
      kind: fc.constant("jump" as const),
      ms: fc.constantFrom(-HOUR_MS, -20_000, -300, 300, 20_000, HOUR_MS),
    }),
  ),
  weighted(
    5,
    fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, 100, 1_100, 5_000, 16_000) }),
  ),
);
