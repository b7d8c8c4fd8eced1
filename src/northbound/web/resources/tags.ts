import type { FastifyInstance } from "fastify";
import { type TagSource, tagProtocols } from "../../../contracts/tags.ts";
import { isoTime } from "../../../models/json-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Tag, Tags } from "../api/tag.ts";
import { sendProblem } from "../problem.ts";
import { cursorOf, type Query, readPage, repeatedParameter, textIn, unknownParameter } from "./list-page.ts";
import { type FoundTag, findTags } from "./tag-search.ts";

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
      tags: found.page.map((each) => tagJson(each, nowMs, wanted.address === null)),
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

function tagJson({ protocol, address, group, tag }: FoundTag, nowMs: number, isClipped: boolean): Tag {
  const { value, type, quality, status, sourceTimeMs, receivedAtMs } = tag.read();
  const isLong = isClipped && typeof value === "string" && value.length > MOST_CHARACTERS;
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
  };
}

/** Runs work one after the other; null: too much waits already. */
function createQueue(most: number): <Result>(work: () => Promise<Result>) => Promise<Result | null> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting >= most) return null;
    waiting += 1;
    const result = last.then(work);
    last = result.catch(() => {});
    try {
      return await result;
    } finally {
      waiting -= 1;
    }
  };
}
