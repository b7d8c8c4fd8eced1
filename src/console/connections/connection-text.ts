import type { Expiry } from "../../northbound/web/api/connection.ts";
import { sentence } from "../fleet/words.ts";
import type { Emphasis } from "../floor/scene.ts";

/** The figures of a queue in words, without those that are 0. */
export function figuresText(figures: Readonly<Record<string, number>>): string {
  const counted = Object.entries(figures).filter(([, value]) => value !== 0);
  return counted.length === 0
    ? "nothing waits"
    : counted.map(([name, value]) => `${sentence(name)} ${value}`).join(", ");
}

const DAY_S = 86_400;
const SOON_DAYS = 30;

/** The gateway renews its token by itself; people renew a certificate. */
export function leftWord({ kind, seconds_left: left }: Expiry): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  if (left === null) return { word: "cannot be read", emphasis: "abnormal" };
  if (left <= 0) return { word: "expired", emphasis: "alarm" };
  if (kind === "token") return { word: `${Math.floor(left / 60)} min`, emphasis: "normal" };
  const days = Math.floor(left / DAY_S);
  return { word: `${days} days`, emphasis: days < SOON_DAYS ? "abnormal" : "normal" };
}
