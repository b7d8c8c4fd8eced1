import { setTimeout as wait } from "node:timers/promises";
import type { RunningSimulator } from "../../support/simulator.ts";
import type { Box } from "./box.ts";
import { request } from "./request.ts";

/** How old the values are that the boxes show as good. */
export interface ShownValues {
  /** Forgets what was shown until now. */
  begin(): void;
  /** For how long a value was shown as good after it had changed, at the longest, in milliseconds. */
  end(): Promise<number>;
}

/** The longest time for which values may be shown as good (docs/troubleshoot.md, How soon a loss shows). */
export const shownForMs = (silenceMs: number): number => silenceMs + Math.min(silenceMs / 4, 1_000);

const CHANGE_MS = 250;
const LOOK_MS = 50;
const LOWEST_PERCENT = 20;
const HIGHEST_PERCENT = 90;

/** Changes the charge of a robot all the time, and asks both boxes for it. */
export function followShownValues(
  { control }: Pick<RunningSimulator, "control">,
  boxes: readonly Box[],
  robotId: string,
): ShownValues {
  /** When the service changed from each charge to another one. */
  const leftAtMs = new Map<number, number>();
  let percent = LOWEST_PERCENT;
  let oldestMs = 0;
  const over = new AbortController();

  const changing = setInterval(() => {
    leftAtMs.set(percent, performance.now());
    percent = percent === HIGHEST_PERCENT ? LOWEST_PERCENT : percent + 1;
    leftAtMs.delete(percent);
    control.happen({ kind: "battery", robotId, percent });
  }, CHANGE_MS);

  async function follow(box: Box): Promise<void> {
    while (!over.signal.aborted) {
      const answer = await request(box, "GET", `robots/${robotId}`);
      const atMs = performance.now();
      const battery = answer?.body.battery as Battery | null | undefined;
      const since = leftAtMs.get(battery?.state?.battery_state.charge_percent ?? -1);
      if (battery?.quality === "good" && since !== undefined) oldestMs = Math.max(oldestMs, atMs - since);
      await wait(LOOK_MS);
    }
  }
  const following = Promise.all(boxes.map(follow));
  return {
    begin() {
      oldestMs = 0;
    },
    async end() {
      over.abort();
      clearInterval(changing);
      await following;
      return Math.round(oldestMs);
    },
  };
}

interface Battery {
  readonly quality: string;
  readonly state: { readonly battery_state: { readonly charge_percent: number } } | null;
}
