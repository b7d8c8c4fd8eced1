import type { Station } from "../../northbound/web/api/floor.ts";
import { say } from "../texts/texts.ts";
import { doubted } from "./words.ts";

/** The step of the handshake that the station is in. */
export function stepText({ state, leases }: Station): string {
  if (!state.valid) return say("stations.notKnown");
  const { robot_here: robot, next_robot: next } = state;
  if (robot === null) return next === null ? say("stations.empty") : say("stations.comes", { robot: next });
  if (state.conveyors.some(({ rolling }) => rolling)) return say("stations.rolls", { robot });
  if (leases.some((lease) => lease.robot_id === robot)) return say("stations.leased", { robot });
  // A mission of the base family ends without a word of its arrival.
  return say(state.arrived ? "stations.arrived" : "stations.notArrived", { robot });
}

/**
 * Whether the step says already that nobody is here.
 *
 * @param isSilent nothing has come of the fleet service lately
 */
export function isSaidEmpty({ quality, state }: Station, isSilent: boolean): boolean {
  const isNobody = state.robot_here === null && state.next_robot === null;
  return isNobody && state.valid && quality === "good" && !isSilent;
}

/**
 * In place of a robot that is here. Only a good quality says that nobody is.
 *
 * @param isSilent nothing has come of the fleet service lately
 */
export function nobodyHereText({ quality }: Station, isSilent: boolean): string {
  return say(quality === "good" && !isSilent ? "stations.nobody" : "facts.notKnown");
}

/** The same, in place of a robot that comes. */
export function nobodyComesText({ state }: Station, isSilent: boolean): string {
  return say(state.next_robot_quality === "good" && !isSilent ? "stations.nobodyComes" : "facts.notKnown");
}

/** The conveyors of the robot that is here. Unless all are known, none is said to be empty or to stand. */
export function conveyorsText({ state }: Station, isSilent: boolean): string {
  if (state.conveyors_quality !== "good") return doubted(say("facts.notKnown"), state.conveyors_quality);
  const shown =
    state.conveyors.length === 0
      ? say("stations.noConveyors")
      : state.conveyors
          .map(({ index, loaded, rolling }) => {
            const load = loaded ? "loaded" : "empty";
            return say(`stations.${load}${rolling ? "Rolls" : "Stands"}`, { index });
          })
          .join("; ");
  return isSilent ? say("reason.last", { word: shown }) : shown;
}
