import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { create, type DescMessage, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { isJsonObject, type Json, type JsonObject } from "../../platform/json.ts";
import { readIfThere } from "../../platform/kept-file.ts";
import type { CreateWebhookRequest } from "../../wire/fleet/v1/service_pb.js";
import { type WebhookSubscription, WebhookSubscriptionSchema } from "../../wire/fleet/v1/webhook_pb.js";
import { invalid, type Refusal } from "../refusal.ts";
import { writeWhole } from "../scenario/scenario.ts";
import type { Caller, RobotUpdate } from "../service/contract.ts";
import type { Ownership } from "../service/ownership.ts";
import { eventSchema, leafJson, renderEnvelope } from "./envelope.ts";
import { type FieldPath, findAt, type Matcher, readFilter, resolvePath } from "./filter.ts";
import { checkHeaders, readUrl } from "./target.ts";

/** A subscription in the form for matching events. */
export interface Compiled {
  /** Whether the subscription selects an event's robot. */
  selects(event: RobotUpdate): boolean;
  readonly matches: Matcher;
  readonly body: BodyTemplate;
}

const LONGEST_DESCRIPTION = 1_024;

/** Checks the shape of a request, without the fleet and the network. Throws INVALID_ARGUMENT. */
export function checkShape(request: CreateWebhookRequest): URL {
  const url = readUrl(request.url);
  const { description, headers } = request.options ?? {};
  if (description !== undefined && description.length > LONGEST_DESCRIPTION) {
    throw invalid(`options.description is longer than ${LONGEST_DESCRIPTION} characters`);
  }
  checkHeaders(headers ?? {});
  if (request.selector?.selector.case === undefined) {
    throw invalid("selector: exactly one of robot_ids and location_ids is required");
  }
  compile(request.eventType, request.filter, request.options?.requestTemplate);
  return url;
}

/**
 * Checks that the caller owns what the selector names: foreign and unknown are PERMISSION_DENIED
 * (docs/internals/service.md, ERR-50).
 */
export function checkOwnership(
  caller: Caller,
  { selector }: CreateWebhookRequest,
  ownership: Ownership,
): void {
  const chosen = selector?.selector;
  if (chosen?.case === "robotIds") ownership.checkRobots(caller, chosen.value.ids);
  if (chosen?.case === "locationIds") ownership.checkLocations(caller, chosen.value.ids);
}

/** A new subscription from a checked request. */
export function newSubscription(
  caller: Caller,
  request: CreateWebhookRequest,
  nowMs: number,
): WebhookSubscription {
  const { description, headers, requestTemplate } = request.options ?? {};
  const subscription = create(WebhookSubscriptionSchema, {
    id: randomUUID(),
    distributorId: caller.distributor,
    url: request.url,
    headers: { ...headers },
    eventType: request.eventType,
    enabled: true,
    createdAt: timestampFromMs(nowMs),
    updatedAt: timestampFromMs(nowMs),
  });
  if (description !== undefined) subscription.description = description;
  if (request.selector !== undefined) subscription.selector = request.selector;
  if (request.filter !== undefined) subscription.filter = request.filter;
  if (requestTemplate !== undefined) subscription.requestTemplate = requestTemplate;
  return subscription;
}

/** Throws INVALID_ARGUMENT; never for a subscription that was made by `newSubscription`. */
export function compileSubscription(subscription: WebhookSubscription, ownership: Ownership): Compiled {
  const { eventType, filter, requestTemplate, selector } = subscription;
  const chosen = selector?.selector;
  const ids = new Set(chosen?.case === undefined ? [] : chosen.value.ids);
  return {
    ...compile(eventType, filter, requestTemplate),
    selects(event) {
      if (event.eventType !== eventType) return false;
      if (chosen?.case === "robotIds") return ids.has(event.robotId);
      // Looked up for each event: a robot that has moved to the location counts (docs/internals/service.md,
      // WHK-06).
      return ids.has(ownership.locationOf(event.robotId) ?? "");
    },
  };
}

function compile(
  eventType: string,
  filter: CreateWebhookRequest["filter"],
  template: WebhookSubscription["requestTemplate"],
): Pick<Compiled, "matches" | "body"> {
  const schema = eventSchema(eventType);
  if (schema === undefined)
    throw invalid(`event_type: ${JSON.stringify(eventType)} is neither mission nor battery`);
  return {
    matches: readFilter(schema, filter),
    body: template === undefined ? renderEnvelope : readTemplate(schema, template),
  };
}

/** Makes the body of a delivery. */
type BodyTemplate = (event: RobotUpdate) => Json;

/** Makes the text for a placeholder. */
type Substitute = (event: RobotUpdate) => string;

const LONGEST_TEMPLATE = 65_536;

/** Reads a request template (docs/internals/service.md, WHK-19 to WHK-25). Throws INVALID_ARGUMENT. */
export function readTemplate(schema: DescMessage, template: JsonObject): BodyTemplate {
  const { length } = JSON.stringify(template);
  if (length > LONGEST_TEMPLATE)
    throw wrongTemplate(`${length} characters of JSON; at most ${LONGEST_TEMPLATE}`);
  return compileJson(schema, template);
}

function compileJson(schema: DescMessage, template: Json): BodyTemplate {
  if (typeof template === "string") return compileText(schema, template);
  if (Array.isArray(template)) {
    const elements = template.map((element: Json) => compileJson(schema, element));
    return (event) => elements.map((element) => element(event));
  }
  if (isJsonObject(template)) {
    const members = Object.entries(template).map(
      ([key, value]) => [compileText(schema, key), compileJson(schema, value)] as const,
    );
    return (event) => Object.fromEntries(members.map(([key, member]) => [key(event), member(event)]));
  }
  return () => template;
}

/** A text with its placeholders; the rest is kept. */
function compileText(schema: DescMessage, text: string): Substitute {
  // Pieces with an odd index were between braces.
  const pieces = text.split(/\{\{([^{}]*)\}\}/).map((piece, position): string | Substitute => {
    if (position % 2 === 1) return compilePlaceholder(schema, piece.trim());
    if (piece.includes("{{"))
      throw wrongTemplate(`${JSON.stringify(text.slice(0, 64))}: a placeholder is not closed`);
    return piece;
  });
  return (event) => pieces.map((piece) => (typeof piece === "string" ? piece : piece(event))).join("");
}

function compilePlaceholder(schema: DescMessage, name: string): Substitute {
  if (name === "robot_id") return ({ robotId }) => robotId;
  const path = resolvePath(schema, name);
  if (typeof path === "string") throw wrongTemplate(`{{${name.slice(0, 128)}}}: ${path}`);
  return ({ state }) => renderText(path, state);
}

/** An absent path renders as the empty string, and so does an unset member of a oneof. */
function renderText(path: FieldPath, state: object): string {
  const found = findAt(path, state);
  return found?.isSet === true ? String(leafJson(path.leaf, found.value)) : "";
}

function wrongTemplate(message: string): Refusal {
  return invalid(`options.request_template: ${message}`);
}

/** Keeps subscriptions over a restart. */
export interface SubscriptionStore {
  load(): Promise<readonly WebhookSubscription[]>;
  /** Resolves when exactly these are on disk. Further calls meanwhile are written one after the other. */
  save(subscriptions: readonly WebhookSubscription[]): Promise<void>;
}

/** One file in the data folder, for its owner only: headers hold secrets. */
export function createSubscriptionStore(dataDir: string): SubscriptionStore {
  const file = join(dataDir, "webhooks.json");
  let last: Promise<void> = Promise.resolve();
  return {
    async load() {
      const text = await readIfThere(file);
      if (text === undefined) return [];
      try {
        const stored = JSON.parse(text) as JsonValue[];
        return stored.map((json) => fromJson(WebhookSubscriptionSchema, json));
      } catch (cause) {
        throw new Error(`${file} is damaged: repair it, or remove it and its subscriptions`, { cause });
      }
    },
    save(subscriptions) {
      const text = JSON.stringify(subscriptions.map((each) => toJson(WebhookSubscriptionSchema, each)));
      const write = () => writeWhole(file, text, "secret");
      // After the last write, also if it failed: its caller knows that.
      last = last.then(write, write);
      return last;
    },
  };
}
