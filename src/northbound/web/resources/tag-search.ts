import type { TagGroup, TagProtocol, TagSource, TagView } from "../../../contracts/tags.ts";
import { createTurns } from "../../../platform/turns.ts";

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

export interface FoundTag {
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
const TURN_MS = 4;
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
  const turns = createTurns(TURN_MS);
  const words = wordsOf(wanted.text ?? "", sources);
  const page: FoundTag[] = [];
  let count = 0;
  let hasMore = false;
  for (const { source, group, key: groupKey } of searched(sources, wanted)) {
    const turn = turns.next();
    if (turn !== undefined) await turn;
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
