import { commanding } from "./en/commanding.ts";
import { floor, robot } from "./en/floor.ts";
import { lists } from "./en/lists.ts";
import { page } from "./en/page.ts";

/** The English texts: their keys and names are those of every language. */
export const en = { ...page, ...floor, ...robot, ...commanding, ...lists } as const;

export const english = {
  language: "en",
  locale: "en-GB",
  texts: en,
  more: async () => ({ ...(await import("./en/later.ts")), sayings: {}, fields: {}, words: {} }),
  words: {},
  alarms: async () => ({}),
} as const;
