import { lstatSync } from "node:fs";
import type { Environment } from "../config/named-files.ts";
import type { Health } from "../platform/component.ts";

/** A new version on trial: it sends only stops and reads (docs/decisions.md, An upgrade is a trial first). */
export interface UpgradeTrial {
  isOn(): boolean;
  /** A part that exists only during the trial. */
  health(): Readonly<Record<string, Health>>;
}

/** The package's start script names a link. The postinst removes it when the trial has succeeded. */
export function upgradeTrial({ FLEETGATE_TRIAL: link }: Environment): UpgradeTrial {
  let isOver = link === undefined;
  const isOn = () => {
    if (link === undefined || isOver) return false;
    isOver = lstatSync(link, { throwIfNoEntry: false }) === undefined;
    return !isOver;
  };
  const detail =
    "this version is on trial: only stops and reads are sent. If it stays so: dpkg --configure -a";
  return { isOn, health: () => (isOn() ? { upgrade: { state: "degraded", detail } } : {}) };
}
