import { type StatusCode, StatusCodes } from "node-opcua";
import { type Quality, qualities } from "../../domain/observed.ts";

/** The status that a value of this quality carries (docs/opcua-reference.md, Is a value true?). */
export const statusOfQuality: Readonly<Record<Quality, StatusCode>> = {
  good: StatusCodes.Good,
  stale: StatusCodes.UncertainLastUsableValue,
  offline: StatusCodes.UncertainNoCommunicationLastUsableValue,
  lost: StatusCodes.BadNoCommunication,
  unknown: StatusCodes.BadWaitingForInitialData,
};

/** The quality for a status; codes that no quality has count by their severity. */
export function qualityOfStatus(status: StatusCode): Quality {
  for (const quality of qualities) if (statusOfQuality[quality] === status) return quality;
  if (status.isGood()) return "good";
  return status.isBad() ? "lost" : "stale";
}

/** Whether a value of this quality is shown; otherwise it is null. */
export function isShown(quality: Quality): boolean {
  return quality === "good" || quality === "stale" || quality === "offline";
}
