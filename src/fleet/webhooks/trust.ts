import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { type DeliveredAspect, type DeliverySource, deliveredAspects } from "../streams/aspect.ts";

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

interface AspectTrust {
  confirmedAtMs: number | null;
  /** Whether a delivery has shown that the way from the service to the gateway is open. */
  isReceived: boolean;
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
  const aspectTrusts: Readonly<Record<DeliveredAspect, AspectTrust>> = {
    mission: createAspectTrust(),
    battery: createAspectTrust(),
  };
  let undelivered = 0;

  function provenAtMs({ confirmedAtMs, isReceived }: AspectTrust): number | null {
    if (confirmedAtMs === null || !isReceived) return null;
    return clock.monotonicMs() - confirmedAtMs > silenceMs ? null : confirmedAtMs;
  }

  function doubt(aspectTrust: AspectTrust, reason: string): void {
    aspectTrust.isReceived = false;
    aspectTrust.problem = reason;
    aspectTrust.awaited.clear();
  }

  function evaluate(aspectTrust: AspectTrust): void {
    const nowMs = clock.monotonicMs();
    const missing = [...aspectTrust.awaited.values()].filter((sinceMs) => nowMs - sinceMs > silenceMs).length;
    undelivered += missing;
    if (missing > 0) doubt(aspectTrust, "events are not delivered");
    const { confirmedAtMs } = aspectTrust;
    if (confirmedAtMs !== null && nowMs - confirmedAtMs > silenceMs) {
      doubt(aspectTrust, "the service does not say whether the subscription still stands");
      aspectTrust.confirmedAtMs = null;
    }
  }

  return {
    provenAtMs(aspect) {
      const aspectTrust = aspect === "mission" || aspect === "battery" ? aspectTrusts[aspect] : null;
      return aspectTrust === null ? null : provenAtMs(aspectTrust);
    },
    streamHadNews(aspect, robotId) {
      const aspectTrust = aspectTrusts[aspect];
      if (provenAtMs(aspectTrust) === null || aspectTrust.awaited.has(robotId)) return;
      aspectTrust.awaited.set(robotId, clock.monotonicMs());
    },
    confirmed(aspect) {
      aspectTrusts[aspect].confirmedAtMs = clock.monotonicMs();
      if (!aspectTrusts[aspect].wasEverProven) aspectTrusts[aspect].problem = null;
    },
    denied(aspect, reason) {
      aspectTrusts[aspect].confirmedAtMs = null;
      doubt(aspectTrusts[aspect], reason);
    },
    delivered(aspect, robotId) {
      const aspectTrust = aspectTrusts[aspect];
      aspectTrust.awaited.delete(robotId);
      aspectTrust.isReceived = true;
      if (aspectTrust.confirmedAtMs !== null) aspectTrust.problem = null;
    },
    look() {
      return deliveredAspects.filter((aspect) => {
        const aspectTrust = aspectTrusts[aspect];
        evaluate(aspectTrust);
        const wasProven = aspectTrust.wasProven;
        aspectTrust.wasProven = provenAtMs(aspectTrust) !== null;
        aspectTrust.wasEverProven ||= aspectTrust.wasProven;
        return wasProven && !aspectTrust.wasProven;
      });
    },
    problem: (aspect) => aspectTrusts[aspect].problem,
    undelivered: () => undelivered,
  };
}

function createAspectTrust(): AspectTrust {
  return {
    confirmedAtMs: null,
    isReceived: false,
    wasProven: false,
    wasEverProven: false,
    problem: null,
    awaited: new Map(),
  };
}
