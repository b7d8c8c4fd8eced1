import { type StatusCode, StatusCodes } from "node-opcua";
import type { Quality } from "../../domain/quality.ts";

/** The status that a value of this quality carries (design, Truth over time). */
export const statusOfQuality: Readonly<Record<Quality, StatusCode>> = {
  good: StatusCodes.Good,
  stale: StatusCodes.UncertainLastUsableValue,
  offline: StatusCodes.UncertainNoCommunicationLastUsableValue,
  lost: StatusCodes.BadNoCommunication,
  unknown: StatusCodes.BadWaitingForInitialData,
};

/** Whether a value of this quality is shown at all; otherwise it is null. */
export function isShown(quality: Quality): boolean {
  return quality === "good" || quality === "stale" || quality === "offline";
}
