import type { FastifyInstance } from "fastify";
import {
  type TagGroup,
  type TagProtocol,
  type TagSource,
  type TagView,
  tagProtocols,
} from "../../../contracts/tags.ts";
import { isoTime } from "../../../models/json-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createTimeSlices } from "../../../platform/loop-time.ts";
import { createTurns } from "../../../platform/queues.ts";
import type { Tag, Tags } from "../api/tag.ts";
import { sendProblem } from "../problem.ts";
import { cursorOf, type Query, readPage, repeatedParameter, textIn, unknownParameter } from "./list-page.ts";

const tagFilters = ["robot", "station", "protocol", "text", "address"] as const;

/** Of one value in a list: the list of all robots is a topic too. */
const MOST_CHARACTERS = 1_000;
const LONGEST_TEXT = 256;
/** Searches run one after the other: each takes some ten milliseconds of the loop. */
const MOST_WAITING = 16;

/**
 * `GET /api/v1/tags`: every OPC UA node and every MQTT topic, with its present value. Nodes that are not
 * built yet are counted, and not built.
 */
export function addTagRoutes(
  server: FastifyInstance,
  sources: readonly TagSource[],
  clock: Pick<Clock, "nowMs">,
): void {
  const search = createQueue(MOST_WAITING);

  server.get<{ Querystring: Query }>("/api/v1/tags", async ({ query }, reply) => {
    const fault = unknownParameter(query, tagFilters) ?? faultOf(query);
    if (fault !== null) return sendProblem(reply, 400, fault);
    const page = readPage(query, "tags");
    if (typeof page === "string") return sendProblem(reply, 400, page);
    const [robot, station, protocol, text, address] = tagFilters.map((name) => textIn(query, name));
    const wanted = {
      robot: robot ?? null,
      station: station ?? null,
      protocol: protocol ?? null,
      text: text ?? null,
      address: address ?? null,
    };
    const found = await search(() => findTags(sources, wanted, page));
    if (found === null)
      return sendProblem(reply.header("retry-after", 1), 503, "too many searches: try again later");
    const last = found.page.at(-1);
    const nowMs = clock.nowMs();
    const answer: Tags = {
      count: found.count,
      tags: found.page.map((each) => tagJson(each, nowMs, wanted.address === null ? null : sources)),
      next: last !== undefined && found.hasMore ? cursorOf("tags", last.key) : null,
      missing_robots: sources.reduce((sum, source) => sum + source.missingRobots(), 0),
    };
    return reply.send(answer);
  });
}

function faultOf(query: Query): string | null {
  const repeated = repeatedParameter(query, tagFilters);
  if (repeated !== null) return repeated;
  const protocol = textIn(query, "protocol");
  if (protocol !== null && !tagProtocols.some((each) => each === protocol))
    return `protocol: must be one of ${tagProtocols.join(", ")}`;
  const isLong = (textIn(query, "text") ?? "").length > LONGEST_TEXT;
  return isLong ? `text: must have at most ${LONGEST_TEXT} characters` : null;
}

/** @param inAll all sources, if it is shown alone: then it is whole, and has its equivalents */
function tagJson(found: FoundTag, nowMs: number, inAll: readonly TagSource[] | null): Tag {
  const { protocol, address, group, tag } = found;
  const { value, type, quality, status, sourceTimeMs, receivedAtMs } = tag.read();
  const equivalents = inAll === null ? [] : equivalentsOf(found, inAll);
  const own = tag.facts();
  // A topic of one value has the description of the OPC UA node with the same value.
  const isBare = own.description === null && !isJson(tag);
  const node = isBare ? equivalents.find((other) => !isJson(other.tag))?.tag : undefined;
  const isLong = inAll === null && typeof value === "string" && value.length > MOST_CHARACTERS;
  return {
    protocol,
    address,
    robot_id: group.robotId,
    station: group.station,
    type,
    value: isLong ? value.slice(0, MOST_CHARACTERS) : value,
    clipped: isLong,
    quality,
    status,
    source_time: isoTime(sourceTimeMs),
    received_at: isoTime(receivedAtMs),
    age_ms: receivedAtMs === null ? null : Math.max(0, nowMs - receivedAtMs),
    ...(node?.facts() ?? own),
    equivalents: equivalents.map((other) => other.address),
  };
}

const MOST_EQUIVALENTS = 40;

/**
 * The same value in other protocols. A payload of JSON has all of a subject. Another tag is
 * the same as such a payload, or as what has its name.
 */
function equivalentsOf(
  { protocol, group, tag }: FoundTag,
  sources: readonly TagSource[],
): Array<{ readonly address: string; readonly tag: TagView }> {
  const subject = sources.find((source) => source.protocol === protocol)?.subjectOf(tag) ?? null;
  if (subject === null) return [];
  const isEquivalent = (other: TagView) => [tag, other].some(isJson) || plainName(other) === plainName(tag);
  const equivalents = sources
    .filter((source) => source.protocol !== protocol)
    .flatMap((source) =>
      source
        .groups()
        .filter(({ robotId, station }) => robotId === group.robotId && station === group.station)
        .flatMap((same) =>
          same.tags().filter((other) => source.subjectOf(other) === subject && isEquivalent(other)),
        )
        .map((other) => ({ address: source.prefix + other.name, tag: other })),
    );
  return equivalents.slice(0, MOST_EQUIVALENTS);
}

function isJson(tag: TagView): boolean {
  return tag.read().type === "JSON";
}

/** `chargepercent` for `…Battery.ChargePercent` and `…/battery/charge_percent`. */
function plainName({ name }: TagView): string {
  return name
    .replace(/^.*[./]/, "")
    .replaceAll("_", "")
    .toLowerCase();
}

/** Runs work one after the other; null: too much waits already. */
function createQueue(most: number): <Result>(work: () => Promise<Result>) => Promise<Result | null> {
  const inTurn = createTurns();
  let waiting = 0;
  return async (work) => {
    if (waiting >= most) return null;
    waiting += 1;
    try {
      return await inTurn(work);
    } finally {
      waiting -= 1;
    }
  };
}

/** The wanted tags; null: all. */
export interface WantedTags {
  readonly protocol: string | null;
  readonly robot: string | null;
  readonly station: string | null;
  /** The whole address. */
  readonly address: string | null;
  /** Words that must all be in the address, or in the name of its robot or station. */
  readonly text: string | null;
}

interface FoundTag {
  readonly protocol: TagProtocol;
  readonly address: string;
  readonly group: TagGroup;
  readonly tag: TagView;
  /** Its sort key in the list. */
  readonly key: string;
}

export interface FoundTags {
  /** On all pages. */
  readonly count: number;
  readonly page: readonly FoundTag[];
  readonly hasMore: boolean;
}

interface Searched {
  readonly source: TagSource;
  readonly group: TagGroup;
  readonly key: string;
}

/** People wait for searches: all other work of the gateway goes first. */
const SLICE_MS = 4;
/** Separates the parts of a key: no character of a name sorts before it. */
const END = "\u0000";

/**
 * One page of the wanted tags after `after`, and how many there are in all. No turn of the loop takes longer
 * than some milliseconds.
 */
export async function findTags(
  sources: readonly TagSource[],
  wanted: WantedTags,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<FoundTags> {
  const slices = createTimeSlices(SLICE_MS);
  const words = wordsOf(wanted.text ?? "", sources);
  const page: FoundTag[] = [];
  let count = 0;
  let hasMore = false;
  for (const { source, group, key: groupKey } of searched(sources, wanted)) {
    const slice = slices.next();
    if (slice !== undefined) await slice;
    const fitting = fittingTags(source, group, words, wanted.address);
    count += fitting.length;
    const isBefore = after !== null && groupKey < after && !after.startsWith(groupKey);
    if (isBefore || hasMore) continue;
    for (const tag of fitting) {
      const key = groupKey + tag.name;
      if (after !== null && key <= after) continue;
      hasMore = page.length >= limit;
      if (hasMore) break;
      page.push({ protocol: source.protocol, address: source.prefix + tag.name, group, tag, key });
    }
  }
  return { count, page, hasMore };
}

/** The groups with wanted tags, in the order of the list: those of the gateway first. */
function searched(sources: readonly TagSource[], wanted: WantedTags): readonly Searched[] {
  return sources
    .filter(({ protocol }) => wanted.protocol === null || protocol === wanted.protocol)
    .flatMap((source) => source.groups().map((group) => ({ source, group, key: keyOf(source, group) })))
    .filter(
      ({ group: { robotId, station } }) =>
        (wanted.robot === null || robotId === wanted.robot) &&
        (wanted.station === null || station === wanted.station),
    )
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

function keyOf({ protocol }: TagSource, { robotId, station }: TagGroup): string {
  if (robotId !== null) return `1 ${robotId}${END}${protocol}${END}`;
  return station === null ? `0 ${protocol}${END}` : `2 ${station}${END}${protocol}${END}`;
}

function fittingTags(
  { prefix }: TagSource,
  group: TagGroup,
  words: readonly RegExp[],
  address: string | null,
): readonly TagView[] {
  const tags = group.tags();
  if (address !== null) return tags.filter(({ name }) => prefix + name === address);
  const owner = group.robotId ?? group.station ?? "";
  const left = words.filter((word) => !word.test(owner));
  return left.length === 0 ? tags : tags.filter(({ name }) => left.every((word) => word.test(name)));
}

/** In lower case. Without the common prefix of a protocol's addresses, which would match all of them. */
function wordsOf(text: string, sources: readonly TagSource[]): readonly RegExp[] {
  const words = text.split(/\s+/).map((word) => {
    const prefix = sources.find((source) => source.prefix !== "" && word.startsWith(source.prefix))?.prefix;
    return word.slice(prefix?.length ?? 0);
  });
  return words
    .filter((word) => word !== "")
    .map((word) => new RegExp(word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "i"));
}
