import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { type DeliveredAspect, type DeliverySource, deliveredAspects } from "../streams/delivery-source.ts";

/** Whether webhooks can be relied on, and if not, why. */
export interface Trust extends DeliverySource {
  /** The service lists our subscription as enabled, for all that is wanted. */
  confirmed(aspect: DeliveredAspect): void;
  /** It does not. */
  denied(aspect: DeliveredAspect, reason: string): void;
  /** An event of this robot was delivered. */
  delivered(aspect: DeliveredAspect, robotId: RobotId): void;
  /**
   * Checks which proofs are missing now. Returns the aspects that were relied on until now, and no longer
   * are.
   */
  look(): readonly DeliveredAspect[];
  /** Why streams replace deliveries of an aspect; null: they do not, or nothing was delivered yet. */
  problem(aspect: DeliveredAspect): string | null;
  /** How many changes a stream brought and no delivery did, since the start. */
  undelivered(): number;
}

interface Standing {
  confirmedAtMs: number | null;
  /** Whether a delivery has shown that the way from the service to the gateway is open. */
  isHeard: boolean;
  wasProven: boolean;
  /** Before they were relied on once, there is no problem to report: streams serve as before. */
  wasEverProven: boolean;
  problem: string | null;
  /** Robots with a change from a stream that no delivery has brought yet, and since when. */
  readonly awaited: Map<RobotId, number>;
}

/**
 * Silence does not show whether webhooks work: a subscription may exist, and a firewall block it. So they are
 * relied on only while all of this holds: the service has listed our subscription as enabled within
 * `silenceMs`; a delivery has come since the last doubt; and no stream or snapshot has brought a change that
 * was not delivered within `silenceMs`. Otherwise streams stay open.
 */
export function createTrust(silenceMs: number, clock: Clock): Trust {
  const standings: Readonly<Record<DeliveredAspect, Standing>> = {
    mission: createStanding(),
    battery: createStanding(),
  };
  let undelivered = 0;

  function provenAtMs({ confirmedAtMs, isHeard }: Standing): number | null {
    if (confirmedAtMs === null || !isHeard) return null;
    return clock.monotonicMs() - confirmedAtMs > silenceMs ? null : confirmedAtMs;
  }

  function doubt(standing: Standing, reason: string): void {
    standing.isHeard = false;
    standing.problem = reason;
    standing.awaited.clear();
  }

  function judge(standing: Standing): void {
    const nowMs = clock.monotonicMs();
    const missing = [...standing.awaited.values()].filter((sinceMs) => nowMs - sinceMs > silenceMs).length;
    undelivered += missing;
    if (missing > 0) doubt(standing, "events are not delivered");
    const { confirmedAtMs } = standing;
    if (confirmedAtMs !== null && nowMs - confirmedAtMs > silenceMs) {
      doubt(standing, "the service does not say whether the subscription still stands");
      standing.confirmedAtMs = null;
    }
  }

  return {
    provenAtMs(aspect) {
      const standing = aspect === "mission" || aspect === "battery" ? standings[aspect] : null;
      return standing === null ? null : provenAtMs(standing);
    },
    streamHadNews(aspect, robotId) {
      const standing = standings[aspect];
      if (provenAtMs(standing) === null || standing.awaited.has(robotId)) return;
      standing.awaited.set(robotId, clock.monotonicMs());
    },
    confirmed(aspect) {
      standings[aspect].confirmedAtMs = clock.monotonicMs();
      if (!standings[aspect].wasEverProven) standings[aspect].problem = null;
    },
    denied(aspect, reason) {
      standings[aspect].confirmedAtMs = null;
      doubt(standings[aspect], reason);
    },
    delivered(aspect, robotId) {
      const standing = standings[aspect];
      standing.awaited.delete(robotId);
      standing.isHeard = true;
      if (standing.confirmedAtMs !== null) standing.problem = null;
    },
    look() {
      return deliveredAspects.filter((aspect) => {
        const standing = standings[aspect];
        judge(standing);
        const wasProven = standing.wasProven;
        standing.wasProven = provenAtMs(standing) !== null;
        standing.wasEverProven ||= standing.wasProven;
        return wasProven && !standing.wasProven;
      });
    },
    problem: (aspect) => standings[aspect].problem,
    undelivered: () => undelivered,
  };
}

function createStanding(): Standing {
  return {
    confirmedAtMs: null,
    isHeard: false,
    wasProven: false,
    wasEverProven: false,
    problem: null,
    awaited: new Map(),
  };
}
