import type { Tag } from "../../northbound/web/api/tag.ts";
import type { Emphasis } from "../floor/scene.ts";
import type { TagFilter } from "../route.ts";

/** The value of a tag for people. */
export function valueText({ value, clipped }: Pick<Tag, "value" | "clipped">): string {
  if (value === null) return "no value";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return clipped ? `${text}…` : text;
}

/** In a row of a list: a payload may be longer than a screen. */
const ROW_CHARACTERS = 120;

/** The beginning of a value. */
export function valueStart(tag: Pick<Tag, "value" | "clipped">): string {
  const text = valueText(tag);
  return text.length <= ROW_CHARACTERS ? text : `${text.slice(0, ROW_CHARACTERS)}…`;
}

/** The quality of a tag. If the value is not good, OPC UA's status is more precise. */
export function qualityWord({ quality, status }: Pick<Tag, "quality" | "status">): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  const isGood = quality === "good";
  const word = isGood || status === null ? quality : `${quality} (${status})`;
  return { word, emphasis: isGood ? "normal" : "abnormal" };
}

/** The conditions for the list. Empty texts match all. */
export interface TagQuery extends TagFilter {
  /** Exactly this address. */
  readonly address: string;
  /** Of the page; empty: the first. */
  readonly cursor: string;
}

/** Of one page: a screenful, and little enough for a request every other second. */
const PAGE_TAGS = 50;

/** The address of a page of tags, under `/api/v1`. */
export function tagsRequest({ text, robot, protocol, address, cursor }: TagQuery): string {
  const named = { text: text.trim(), protocol, robot: robot.trim(), address, cursor };
  const given = Object.entries(named).filter(([, value]) => value !== "");
  return `/tags?${new URLSearchParams([...given, ["limit", `${PAGE_TAGS}`]])}`;
}
