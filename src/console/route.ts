import { say } from "./texts/texts.ts";

/** Conditions for the listed commands; an empty text: any. */
export interface CommandFilter {
  readonly robot: string;
  readonly source: string;
  readonly operation: string;
  readonly state: string;
  /** A part of the request id. */
  readonly id: string;
}

const filterKeys = ["robot", "source", "operation", "state", "id"] as const;

/** Conditions for the listed tags; an empty text: any. */
export interface TagFilter {
  readonly text: string;
  readonly protocol: string;
  /** The robot of the tag. */
  readonly robot: string;
}

/** What the page shows, by its address. */
export type Route =
  | { readonly view: "floor"; readonly mapId: number | null; readonly chosenId: string | null }
  | { readonly view: "robot"; readonly robotId: string }
  | { readonly view: "commands"; readonly filter: CommandFilter }
  | { readonly view: "command"; readonly key: string }
  | { readonly view: "send"; readonly operation: string | null; readonly robotId: string | null }
  | { readonly view: "stations" }
  | { readonly view: "alarms" }
  | ({ readonly view: "tags" } & TagFilter)
  | { readonly view: "tag"; readonly protocol: string; readonly address: string }
  | { readonly view: "connections" }
  | { readonly view: "simulator" }
  | { readonly view: "nothing" };

export function routeOf(address: { readonly pathname: string; readonly search: string }): Route {
  const [first = "", ...rest] = address.pathname.split("/").slice(1);
  const name = decoded(rest.join("/"));
  if (name === null) return { view: "nothing" };
  if (first === "robots" && name !== "") return { view: "robot", robotId: name };
  if (first === "commands")
    return name === ""
      ? { view: "commands", filter: filterIn(address.search) }
      : { view: "command", key: name };
  if (first === "send" && name === "") return sendRoute(new URLSearchParams(address.search));
  if (first === "stations" && name === "") return { view: "stations" };
  if (first === "alarms" && name === "") return { view: "alarms" };
  if (first === "tags") return tagRoute(name, new URLSearchParams(address.search));
  if (first === "connections" && name === "") return { view: "connections" };
  if (first === "simulator" && name === "") return { view: "simulator" };
  if (first !== "" || name !== "") return { view: "nothing" };
  const query = new URLSearchParams(address.search);
  const map = query.get("map");
  const mapId = map !== null && /^\d{1,9}$/.test(map) ? Number(map) : null;
  return { view: "floor", mapId, chosenId: query.get("robot") };
}

/** The subject of the page, for the title of its tab; empty for the floor, the first page. */
export function subjectOf(route: Route): string {
  switch (route.view) {
    case "floor":
      return route.chosenId ?? "";
    case "robot":
      return route.robotId;
    case "tag":
      return route.address;
    case "nothing":
      return say("view.nothing");
    default:
      return say(`view.${route.view}`);
  }
}

export function robotAddress(robotId: string): string {
  return `/robots/${encodeURIComponent(robotId)}`;
}

export function commandAddress(key: string): string {
  return `/commands/${encodeURIComponent(key)}`;
}

/** The address of the log with its filter, for sharing. */
export function commandsAddress(filter: CommandFilter): string {
  const query = new URLSearchParams();
  for (const key of filterKeys) if (filter[key] !== "") query.set(key, filter[key]);
  return query.size === 0 ? "/commands" : `/commands?${query}`;
}

/** Of the manual, which the gateway serves beside the console. */
export const manualAddress = "/docs/";

/** What the manual says of an alarm. Each conveyor has a code of its own, and all have one paragraph. */
export function alarmManualAddress(code: string): string {
  const heading = code.startsWith("CONVEYOR_ERROR_") ? "CONVEYOR_ERROR" : code;
  return `${manualAddress}alarms.html#${heading.toLowerCase()}`;
}

/** What the manual says of the codes of commands that were refused or failed. */
export const codesManualAddress = `${manualAddress}commands.html#codes`;

function filterIn(search: string): CommandFilter {
  const query = new URLSearchParams(search);
  const [robot = "", source = "", operation = "", state = "", id = ""] = filterKeys.map(
    (key) => query.get(key) ?? "",
  );
  return { robot, source, operation, state, id };
}

export function floorAddress(mapId: number | null, chosenId: string | null): string {
  const query = new URLSearchParams();
  if (mapId !== null) query.set("map", `${mapId}`);
  if (chosenId !== null) query.set("robot", chosenId);
  return query.size === 0 ? "/" : `/?${query}`;
}

export function sendAddress(operation: string | null, robotId: string | null): string {
  const query = new URLSearchParams();
  if (operation !== null) query.set("operation", operation);
  if (robotId !== null) query.set("robot", robotId);
  return query.size === 0 ? "/send" : `/send?${query}`;
}

function sendRoute(query: URLSearchParams): Route {
  return { view: "send", operation: query.get("operation"), robotId: query.get("robot") };
}

/** The tags of a station. */
export const stationTagsAddress = (station: string) => tagsAddress({ text: `station ${station}` });

/** The address of a list of tags. Absent conditions match all. */
export function tagsAddress(filter: Partial<TagFilter>): string {
  const query = new URLSearchParams();
  for (const key of ["text", "protocol", "robot"] as const) {
    const wanted = filter[key] ?? "";
    if (wanted !== "") query.set(key, wanted);
  }
  return query.size === 0 ? "/tags" : `/tags?${query}`;
}

export function tagAddress(tag: { readonly protocol: string; readonly address: string }): string {
  return `/tags/${tag.protocol}/${encodeURIComponent(tag.address)}`;
}

function tagRoute(name: string, query: URLSearchParams): Route {
  const given = (key: string) => query.get(key) ?? "";
  if (name === "")
    return { view: "tags", text: given("text"), protocol: given("protocol"), robot: given("robot") };
  const [protocol = "", ...address] = name.split("/");
  if ((protocol !== "opcua" && protocol !== "mqtt") || address.length === 0) return { view: "nothing" };
  return { view: "tag", protocol, address: address.join("/") };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
