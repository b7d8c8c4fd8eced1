import type { Source } from "../../domain/command.ts";
import { holderName } from "../../domain/hold.ts";
import type { StoredHold } from "../journal/journal.ts";
import type { HoldEffects, PublishHold } from "./hold-events.ts";
import type { RobotStops } from "./hold-stops.ts";
import { type HoldRegistry, type HoldStore, isSameHold } from "./hold-store.ts";

interface FollowerParts {
  readonly store: HoldStore;
  readonly registry: HoldRegistry;
  /** Holds that are lifted when their users may lift again. */
  readonly lateLifts: Map<StoredHold, Source>;
  readonly robotStops: RobotStops;
  readonly effects: HoldEffects;
  readonly publish: PublishHold;
  /** False: another member leads, and sends the stops. */
  readonly isLeading: () => boolean;
}

/**
 * What a member of a cluster does when another one has begun or lifted a hold. What this member has not
 * written yet is newer, but where two members disagree the hold counts.
 */
export function createHoldFollower({
  store,
  registry,
  lateLifts,
  robotStops,
  effects,
  publish,
  isLeading,
}: FollowerParts): (hold: StoredHold, isHeld: boolean) => void {
  function begin(hold: StoredHold): void {
    registry.add(hold);
    effects.refuseStarts(hold.robotId);
    if (isLeading()) robotStops.begin(hold);
    notify("held", hold);
  }

  function lift(hold: StoredHold): void {
    lateLifts.delete(hold);
    registry.remove(hold);
    robotStops.end(hold);
    notify("free", hold);
  }

  function notify(to: "held" | "free", hold: StoredHold): void {
    if (isLeading()) publish(to, hold, hold.owner);
    else effects.changed(hold.robotId);
  }

  return (hold, isHeld) => {
    const known = registry.find(hold.robotId, holderName(hold.owner));
    const isBegunAgain = isHeld && known !== undefined && !isSameHold(known, hold);
    // So it is not lifted later, whatever is still being written here.
    if (isBegunAgain) lateLifts.delete(known);
    if (!store.isWritten(hold)) {
      if (isHeld) store.begunElsewhere(hold);
      else store.liftedElsewhere(hold);
      return;
    }
    if (isBegunAgain) registry.add(hold);
    else if (isHeld && known === undefined) begin(hold);
    else if (!isHeld && known !== undefined) lift(known);
  };
}
