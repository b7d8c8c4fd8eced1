import { commandFilters } from "../resources/command-list.ts";
import type { ModelName, SimulatorModelName } from "./models.ts";

type BodyName = ModelName | SimulatorModelName;

/** One request of the API. */
export interface Endpoint {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Under /api/v1. */
  readonly path: string;
  readonly summary: string;
  /** Whether the web listener has it too; otherwise only the control socket. */
  readonly onWeb: boolean;
  /** False: only the web listener has it. */
  readonly onSocket?: false;
  /** Whether it needs no log-in. */
  readonly isPublic?: true;
  /** Whether it is a list with pages. */
  readonly isList?: true;
  /** Further query parameters by name, each with its meaning. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyName | "CommandRequest";
  /** By status. Null: no JSON. Empty: no body. Every other status is a Problem. */
  readonly answers: Readonly<
    Record<number, { readonly says: string; readonly body: BodyName | "Empty" | null }>
  >;
}

const list = (
  path: string,
  summary: string,
  body: ModelName,
  more: Pick<Endpoint, "query" | "headers"> = {},
): Endpoint => ({
  method: "GET",
  path,
  summary,
  onWeb: true,
  isList: true,
  ...more,
  answers: { 200: { says: "One page.", body } },
});

const one = (path: string, summary: string, body: ModelName): Endpoint => ({
  method: "GET",
  path,
  summary,
  onWeb: true,
  answers: { 200: { says: "As it is now.", body } },
});

const ofMachine = (
  method: Endpoint["method"],
  path: string,
  summary: string,
  answers: Endpoint["answers"],
): Endpoint => ({ method, path, summary, onWeb: false, answers });

const filters = Object.fromEntries(
  commandFilters.map((name) => [
    name,
    name === "source"
      ? "Protocol and user, as opcua:plc1."
      : `Only commands with this ${name.replace("_", " ")}.`,
  ]),
);

const ofSession = (method: Endpoint["method"], summary: string, answers: Endpoint["answers"]): Endpoint => ({
  method,
  path: "/session",
  summary,
  onWeb: true,
  onSocket: false,
  isPublic: true,
  answers,
});

/** The whole API. A test compares it with the routes. */
export const endpoints: readonly Endpoint[] = [
  list("/robots", "All robots, by id.", "Robots"),
  one("/robots/{robot}", "One robot.", "Robot"),
  one(
    "/robots/{robot}/pause",
    "The commands that pause a robot now; none: it does nothing that could be paused. Send each by PUT /commands/{id}.",
    "Pause",
  ),
  one(
    "/robots/{robot}/battery-trend",
    "The charge of a robot over the last twelve hours, since the gateway's start at most.",
    "BatteryTrend",
  ),
  one(
    "/command-latency",
    "How long commands took over the last twelve hours, since the gateway's start at most.",
    "LatencyTrend",
  ),
  list("/maps", "The maps that the fleet service has answered with.", "Maps"),
  one("/maps/{map}", "The points of a map.", "Map"),
  {
    method: "GET",
    path: "/maps/{map}/drawing",
    summary: "The drawing of a map, where the configuration names one.",
    onWeb: true,
    answers: { 200: { says: "A PNG.", body: null } },
  },
  one("/floor", "What the configuration says of the floor (web.floor).", "Floor"),
  list("/stations", "The stations of the configuration.", "Stations"),
  list("/alarms", "The alarms that stand, the most urgent first.", "Alarms"),
  {
    method: "PUT",
    path: "/alarms/{id}/acknowledgement",
    summary: "Acknowledges an alarm.",
    onWeb: true,
    answers: { 200: { says: "It is acknowledged.", body: "Acknowledgement" } },
  },
  list(
    "/commands",
    "The newest 1,000 commands of all protocols, newest first. With Accept: application/x-ndjson all as lines of JSON.",
    "Commands",
    { query: filters },
  ),
  list("/operations", "What a form for each operation needs.", "Operations"),
  {
    ...one("/rights", "What the sender may send.", "Rights"),
    query: { robot: "The robot that is to be commanded." },
  },
  {
    method: "POST",
    path: "/check",
    summary: "What would become of a command that is sent now. Nothing is sent.",
    onWeb: true,
    body: "CheckRequest",
    answers: { 200: { says: "It would be taken, or refused.", body: "Check" } },
  },
  {
    method: "PUT",
    path: "/commands/{id}",
    summary:
      "Sends a command. The same body again joins it, or returns its outcome; another body under its id is refused with 409.",
    onWeb: true,
    headers: { Prefer: "wait=N: how many seconds to wait for a final outcome, 60 at most; 10 unless given." },
    body: "CommandRequest",
    answers: {
      200: { says: "The outcome is final, whatever it is.", body: "FinalCommand" },
      202: { says: "Not final yet: send the same again.", body: "PendingCommand" },
    },
  },
  {
    method: "PUT",
    path: "/hold",
    summary: "Begins your hold on all robots, or lifts it.",
    onWeb: true,
    body: "HoldRequest",
    answers: { 200: { says: "Taken.", body: "Holders" } },
  },
  {
    method: "PUT",
    path: "/robots/{robot}/hold",
    summary: "Begins your hold on a robot, or lifts it.",
    onWeb: true,
    body: "HoldRequest",
    answers: { 200: { says: "Taken.", body: "Holders" } },
  },
  {
    method: "DELETE",
    path: "/robots/{robot}/lease",
    summary: "Ends the lease of a robot, for engineers.",
    onWeb: true,
    answers: { 200: { says: "It is ended, or there was none.", body: "EndedLease" } },
  },
  list(
    "/connections",
    "What connects the gateway to others, with each who is connected; queues, and what will not last.",
    "Connections",
  ),
  list("/tags", "Every OPC UA node and every MQTT topic, with what it says now.", "Tags", {
    query: {
      robot: "Only tags of this robot.",
      station: "Only tags of this station.",
      protocol: "opcua or mqtt.",
      text: "Words that must all be in the address, or in the name of its robot or station.",
      address: "Only this address, with its whole value.",
    },
  }),
  {
    ...list("/certificates", "The certificates of OPC UA clients: those that wait first.", "Certificates"),
    onSocket: false,
  },
  {
    method: "PUT",
    path: "/certificates/{thumbprint}",
    summary: "Lets an OPC UA client in, or keeps it out: for engineers that give their password again.",
    onWeb: true,
    onSocket: false,
    body: "CertificateRequest",
    answers: { 200: { says: "It is so now.", body: "Certificate" } },
  },
  one("/health", "The state of every part of the gateway.", "Health"),
  {
    method: "GET",
    path: "/stream",
    summary:
      "Live state and events, as server-sent events: snapshot, robots, change, tick, event, gap, closed. Their data are the schemas Stream….",
    onWeb: true,
    headers: { "Last-Event-ID": "The id of the last event that you have seen." },
    query: { last_event_id: "The same, for clients that cannot set headers." },
    answers: { 200: { says: "Messages, for as long as you read.", body: null } },
  },
  one("/openapi.json", "This document.", "Described"),
  ofSession("GET", "Who asks.", { 200: { says: "The user or the token.", body: "Session" } }),
  {
    ...ofSession("POST", "Logs a user in. 429 has Retry-After while failed attempts delay it.", {
      200: { says: "Logged in; the answer sets the cookie of the session.", body: "Session" },
    }),
    body: "LogIn",
  },
  ofSession("DELETE", "Logs out.", { 204: { says: "There is no session any more.", body: "Empty" } }),
  ofMachine("GET", "/status", "How the gateway is (docs/operate.md, What is going on).", {
    200: { says: "As it is now.", body: "Described" },
  }),
  {
    ...ofMachine("GET", "/tail", "Events as lines of JSON (docs/operate.md, Live).", {
      200: { says: "Lines, for as long as you read.", body: null },
    }),
    query: { robot: "Only of this robot; may be repeated.", kind: "Only of this kind; may be repeated." },
  },
  ofMachine("GET", "/log-level", "The levels of the log by component.", {
    200: { says: "The levels.", body: "Described" },
  }),
  {
    ...ofMachine("PUT", "/log-level", "Sets a level of the log until the next start.", {
      200: { says: "The levels.", body: "Described" },
    }),
    body: "LogLevelRequest",
  },
  ofMachine(
    "POST",
    "/reload",
    "Reads the configuration again (docs/operate.md, Changing the configuration).",
    {
      200: { says: "It holds now.", body: "Described" },
      409: { says: "It was refused, and nothing has changed.", body: "Described" },
    },
  ),
  ofMachine("POST", "/recordings", "Saves the last minutes (docs/operate.md, A plant's report).", {
    201: { says: "Saved.", body: "Described" },
  }),
];
