// Words of tags and connections, whose texts are loaded with their views.
import type { Connection, Expiry } from "../../northbound/web/api/gateway.ts";
import type { Tag } from "../../northbound/web/api/tag.ts";
import type { Emphasis } from "../floor/scene.ts";
import type { TagFilter } from "../route.ts";
import { inLanguage, inWords, say, word } from "../texts/texts.ts";
import type { RobotWord } from "./words.ts";

type Peer = Connection["peers"][number];

export const peerEmphasis: Readonly<Record<Peer["state"], Emphasis>> = {
  connected: "normal",
  unused: "normal",
  waiting: "abnormal",
  lost: "abnormal",
};

/** Who is connected, with the part to which. Those for whom somebody may have to do something stand first. */
export function peersByNeed(connections: readonly Pick<Connection, "name" | "peers">[]) {
  const all = connections.flatMap(({ name, peers }) => peers.map((peer) => ({ part: name, peer })));
  const needs = ({ peer }: { readonly peer: Peer }) => peerEmphasis[peer.state] !== "normal";
  return [...all.filter(needs), ...all.filter((each) => !needs(each))];
}

/** The figures of a queue in words, without those that are 0. */
export function figuresText(figures: Readonly<Record<string, number>>): string {
  const counted = Object.entries(figures).filter(([, value]) => value !== 0);
  return counted.length === 0
    ? say("connections.nothingWaits")
    : counted
        .map(([name, value]) => say("connections.figure", { name: inWords(word(name)), value }))
        .join(", ");
}

const DAY_S = 86_400;
const SOON_DAYS = 30;

/** The gateway renews its token by itself; people renew a certificate. */
export function leftWord({ kind, seconds_left: left }: Expiry): RobotWord {
  if (left === null) return { word: say("connections.unreadable"), emphasis: "abnormal" };
  if (left <= 0) return { word: word("expired"), emphasis: "alarm" };
  if (kind === "token")
    return { word: say("age.minutes", { count: Math.floor(left / 60) }), emphasis: "normal" };
  const days = Math.floor(left / DAY_S);
  return { word: say("age.days", { count: days }), emphasis: days < SOON_DAYS ? "abnormal" : "normal" };
}

type ShownValue = Pick<Tag, "value" | "clipped" | "unit" | "meaning">;

/** The value of a tag for people, with its unit, or with what its number means. */
export function valueText({ value, clipped, unit, meaning }: ShownValue): string {
  if (value === null) return say("tags.noValue");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (unit !== null) return say("tags.valueUnit", { value: text, unit });
  if (meaning !== null) return say("tags.valueMeaning", { value: text, meaning: inLanguage(meaning) });
  return clipped ? `${text}…` : text;
}

/** In a row of a list: a payload may be longer than a screen. */
const ROW_CHARACTERS = 120;

/** The beginning of a value. */
export function valueStart(tag: ShownValue): string {
  const text = valueText(tag);
  return text.length <= ROW_CHARACTERS ? text : `${text.slice(0, ROW_CHARACTERS)}…`;
}

/** The quality of a tag. If the value is not good, OPC UA's status is more precise. */
export function qualityWord({ quality, status }: Pick<Tag, "quality" | "status">): RobotWord {
  const isGood = quality === "good";
  const shown =
    isGood || status === null ? word(quality) : say("tags.qualityStatus", { quality: word(quality), status });
  return { word: shown, emphasis: isGood ? "normal" : "abnormal" };
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
