import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { quoted } from "../../../domain/foreign-text.ts";
import { sendProblem } from "../problem.ts";

/** The items of a list in a stable order, each with a sort key. */
export interface PagedList<Item> {
  readonly name: string;
  readonly items: readonly Item[];
  /** A later item has a larger key, by `<`. */
  readonly keyOf: (item: Item) => string;
  readonly write: (item: Item) => unknown;
  /** Parameters of its query besides those of a page. */
  readonly filters?: readonly string[];
}

export type Query = Readonly<Record<string, unknown>>;

/** Of one page, unless the client wants fewer. */
const MOST_ITEMS = 1_000;
/** The longest name of a tag has the longest id of a robot twice, with each of its characters escaped. */
const CURSOR_CHARACTERS = 8_192;
const CHECK_BYTES = 6;
const pageParameters = ["limit", "cursor"] as const;

/**
 * Answers with one page: `{"count","<name>":[…],"next"}`. The cursor is the key of the last item, so a client
 * neither misses nor repeats an item when others come or go meanwhile.
 *
 * @param more further members of the answer
 */
export function sendPage<Item>(
  reply: FastifyReply,
  query: Query,
  list: PagedList<Item>,
  more: Readonly<Record<string, unknown>> = {},
): FastifyReply {
  const read = unknownParameter(query, list.filters ?? []) ?? readPage(query, list.name);
  if (typeof read === "string") return sendProblem(reply, 400, read);
  const { limit, after } = read;
  const first = after === null ? 0 : list.items.findIndex((item) => list.keyOf(item) > after);
  const page = first === -1 ? [] : list.items.slice(first, first + limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && first + page.length < list.items.length;
  return reply.send({
    count: list.items.length,
    [list.name]: page.map(list.write),
    next: hasMore ? cursorOf(list.name, list.keyOf(last)) : null,
    ...more,
  });
}

/**
 * The cursor of the page after the item with this key, with a check that distinguishes it from other texts.
 */
export function cursorOf(list: string, key: string): string {
  return Buffer.concat([checkOf(list, key), Buffer.from(key)]).toString("base64url");
}

/** The key in a cursor of this list; null: the gateway did not make it. */
function keyIn(cursor: string, list: string): string | null {
  if (!/^[\w-]+$/.test(cursor) || cursor.length > CURSOR_CHARACTERS) return null;
  const key = Buffer.from(cursor, "base64url").subarray(CHECK_BYTES).toString("utf8");
  return cursorOf(list, key) === cursor ? key : null;
}

/** Against mistakes, and no secret: a cursor of another list would skip items, or begin anew. */
function checkOf(list: string, key: string): Buffer {
  return createHash("sha256").update(`${list} ${key}`).digest().subarray(0, CHECK_BYTES);
}

/** What is wrong with a query that gives one of these more than once; null: nothing. */
export function repeatedParameter(query: Query, names: readonly string[]): string | null {
  const repeated = names.find((name) => query[name] !== undefined && textIn(query, name) === null);
  return repeated === undefined ? null : `${repeated}: give it once`;
}

/** What is wrong with the names of a query; null: nothing. */
export function unknownParameter(query: Query, known: readonly string[]): string | null {
  const all = [...pageParameters, ...known];
  const unknown = Object.keys(query).find((name) => !all.includes(name));
  return unknown === undefined ? null : `${quoted(unknown)}: is not one of ${all.join(", ")}`;
}

/** A value of a query; null: it is not given exactly once. */
export function textIn(query: Query, name: string): string | null {
  const value = query[name];
  return typeof value === "string" ? value : null;
}

/** The page that a query asks for, or what is wrong with the query. */
export function readPage(
  query: Query,
  list: string,
): { readonly limit: number; readonly after: string | null } | string {
  const { limit = String(MOST_ITEMS), cursor } = query;
  const count = typeof limit === "string" && /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > MOST_ITEMS) return `limit: must be a whole number, 1 to ${MOST_ITEMS}`;
  if (cursor === undefined) return { limit: count, after: null };
  const after = typeof cursor === "string" ? keyIn(cursor, list) : null;
  return after === null ? "cursor: must be the text of next in the page before" : { limit: count, after };
}

const DIGITS = 16;

/** A number as text with the same order, for integers that are not negative. */
export function orderKey(value: number): string {
  return String(Math.max(0, Math.trunc(value))).padStart(DIGITS, "0");
}

/** The same in the opposite order. */
export function reverseOrderKey(value: number): string {
  return orderKey(Number.MAX_SAFE_INTEGER - Math.max(0, Math.trunc(value)));
}
