import type { Observed } from "../../../domain/observed.ts";
import type { Quality } from "../../../domain/quality.ts";
import type { Presence } from "../../../domain/robot.ts";
import { type FlatPlace, flatPlace } from "../../../models/flat-robot.ts";
import type { Device, DeviceParts } from "./device.ts";
import { addGroup, timeOf } from "./metric-group.ts";
import { coordinateMetrics } from "./robot-metrics.ts";

/** The coordinates of a robot, in metres and radians. */
export interface PositionMetrics {
  show(presence: Observed<Presence>): void;
  /** Shows a position that has waited for its time. Call it about once a second. */
  tick(): void;
}

/** A smaller change is not shown, in metres and radians. */
const DEADBAND = 0.1;
const SHORTEST_MS = 1_000;

/** A coordinate that moves is shown once a second at most; another quality at once. */
export function addPosition(device: Device, { clock }: Pick<DeviceParts, "clock">): PositionMetrics {
  const group = addGroup(device, coordinateMetrics);
  let shown: { readonly place: FlatPlace; readonly quality: Quality; readonly atMs: number } | null = null;
  let waiting: Observed<Presence> | null = null;

  function show(presence: Observed<Presence>): void {
    const place = flatPlace(presence.value);
    const { quality } = presence;
    const nowMs = clock.monotonicMs();
    if (shown !== null && quality === shown.quality) {
      waiting = null;
      if (!hasMoved(shown.place, place)) return;
      if (nowMs - shown.atMs < SHORTEST_MS) {
        waiting = presence;
        return;
      }
    }
    waiting = null;
    shown = { place, quality, atMs: nowMs };
    group.show(place, quality, timeOf(presence));
  }

  return {
    show,
    tick() {
      if (waiting !== null) show(waiting);
    },
  };
}

function hasMoved(before: FlatPlace, after: FlatPlace): boolean {
  return (["x", "y", "heading"] as const).some((axis) => {
    const [one, other] = [before[axis], after[axis]];
    if (one === null || other === null) return one !== other;
    return Math.abs(one - other) >= DEADBAND;
  });
}
