import { commanding } from "./de/commanding.ts";
import { floor, robot } from "./de/floor.ts";
import { lists } from "./de/lists.ts";
import { page } from "./de/page.ts";
import { words } from "./de/words.ts";
import type { Spoken } from "./texts.ts";

export const german: Spoken = {
  language: "de",
  locale: "de-DE",
  texts: { ...page, ...floor, ...robot, ...commanding, ...lists },
  async more() {
    const files = [import("./de/later.ts"), import("./de/sayings.ts")] as const;
    const [{ later }, rest] = await Promise.all(files);
    return { later, ...rest };
  },
  words,
  alarms: async () => (await import("./de/alarms.ts")).alarms,
};
