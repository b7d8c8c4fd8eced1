/**
 * The whole HTTP API, under /api/v1. A test compares it with the routes.
 *
 * - `only`: the only listener that has it: `web`, `socket`, or `demo` (the web listener of the demo).
 * - `body`: the schema of the request; `answers`: by status, what it says, and its schema or type of content.
 *   Every other status is a Problem.
 */
export const endpoints = [
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
  get("/maps/{map}/drawing", "The drawing of a map, where the configuration names one.", "A PNG.", {
    type: "image/png",
  }),
  one("/floor", "What the configuration says of the floor (web.floor).", "FloorSettings"),
  list("/stations", "The stations of the configuration.", "Stations"),
  list("/alarms", "The alarms that stand, the most urgent first.", "Alarms"),
  {
    ...put(
      "/alarms/{id}/acknowledgement",
      "Acknowledges an alarm.",
      "It is acknowledged.",
      "Acknowledgement",
    ),
    body: "AcknowledgementRequest",
  },
  {
    ...put("/alarms/{id}/comment", "Comments on an alarm.", "The alarm has the comment.", "Commented"),
    body: "CommentRequest",
  },
  {
    ...list(
      "/commands",
      "The newest 1,000 commands of all protocols, newest first. With Accept: application/x-ndjson all as lines of JSON.",
      "Commands",
    ),
    query: {
      robot: "Only commands with this robot.",
      operation: "Only commands with this operation.",
      source: "Protocol and user, as opcua:plc1.",
      request_id: "Only commands with this request id.",
      outcome: "Only commands with this outcome.",
    },
  },
  list("/operations", "What a form for each operation needs.", "Operations"),
  {
    ...one("/rights", "What the sender may send.", "Rights"),
    query: { robot: "The robot that is to be commanded." },
  },
  {
    method: "post",
    path: "/check",
    summary: "What would become of a command that is sent now. Nothing is sent.",
    body: "CheckRequest",
    answers: { 200: ["It would be taken, or refused.", "Check"] },
  },
  {
    method: "put",
    path: "/commands/{id}",
    summary:
      "Sends a command. The same body again joins it, or returns its outcome; another body under its id is refused with 409.",
    headers: { Prefer: "wait=N: how many seconds to wait for a final outcome, 60 at most; 10 unless given." },
    body: "CommandRequest",
    answers: {
      200: ["The outcome is final, whatever it is.", "FinalCommand"],
      202: ["Not final yet: send the same again.", "PendingCommand"],
    },
  },
  {
    ...put("/hold", "Begins your hold on all robots, or lifts it.", "Taken.", "Holders"),
    body: "HoldRequest",
  },
  {
    ...put("/robots/{robot}/hold", "Begins your hold on a robot, or lifts it.", "Taken.", "Holders"),
    body: "HoldRequest",
  },
  {
    method: "delete",
    path: "/robots/{robot}/lease",
    summary: "Ends the lease of a robot, for engineers.",
    answers: { 200: ["It is ended, or there was none.", "EndedLease"] },
  },
  list(
    "/connections",
    "What connects the gateway to others, with each who is connected; queues, and what will not last.",
    "Connections",
  ),
  {
    ...list("/tags", "Every OPC UA node and every MQTT topic, with what it says now.", "Tags"),
    query: {
      robot: "Only tags of this robot.",
      station: "Only tags of this station.",
      protocol: "opcua or mqtt.",
      text: "Words that must all be in the address, or in the name of its robot or station.",
      address: "Only this address, with its whole value.",
    },
  },
  {
    ...list("/certificates", "The certificates of OPC UA clients: those that wait first.", "Certificates"),
    only: "web",
  },
  {
    ...put(
      "/certificates/{thumbprint}",
      "Lets an OPC UA client in, or keeps it out: for engineers that give their password again.",
      "It is so now.",
      "Certificate",
    ),
    body: "CertificateRequest",
    only: "web",
  },
  one("/health", "The state of every part of the gateway.", "Health"),
  {
    ...get(
      "/stream",
      "Live state and events, as server-sent events: snapshot, robots, change, tick, event, gap, closed. Their data are the schemas Stream….",
      "Messages, for as long as you read.",
      { type: "text/event-stream" },
    ),
    headers: { "Last-Event-ID": "The id of the last event that you have seen." },
    query: { last_event_id: "The same, for clients that cannot set headers." },
  },
  one("/openapi.json", "This document.", "Described"),
  session("get", "Who asks.", { 200: ["The user or the token.", "Session"] }),
  {
    ...session("post", "Logs a user in. 429 has Retry-After while failed attempts delay it.", {
      200: ["Logged in; the answer sets the cookie of the session.", "Session"],
    }),
    body: "LogIn",
  },
  session("delete", "Logs out.", { 204: ["There is no session any more.", null] }),
  machine("get", "/status", "How the gateway is (docs/troubleshoot.md, What is going on).", {
    200: ["As it is now.", "Described"],
  }),
  machine("get", "/log-level", "The levels of the log by component.", { 200: ["The levels.", "Described"] }),
  {
    ...machine("put", "/log-level", "Sets a level of the log until the next start.", {
      200: ["The levels.", "Described"],
    }),
    body: "LogLevelRequest",
  },
  machine(
    "post",
    "/reload",
    "Reads the configuration again (docs/configuration.md, Change it while the gateway runs).",
    {
      200: ["It holds now.", "Described"],
      409: ["It was refused, and nothing has changed.", "Described"],
    },
  ),
  machine("get", "/handover", "The handover that goes on, and the last one (docs/cluster.md, Hand over).", {
    200: ["As it is now.", "Described"],
    409: ["The gateway is no member of a cluster.", "Described"],
  }),
  {
    ...machine("post", "/handover", "Lets the other box of the cluster lead (docs/cluster.md, Hand over).", {
      202: ["It has begun. The gateway ends when it is done.", "Described"],
      409: ["It cannot, and nothing has changed.", "Described"],
    }),
    body: "HandoverRequest",
  },
  {
    ...machine(
      "post",
      "/fence",
      "Says that the box that led is off (docs/cluster.md, Cut the power first).",
      {
        200: ["The other box takes over.", "Described"],
        409: ["Nothing waits for it.", "Described"],
      },
    ),
    body: "FenceRequest",
  },
  machine("post", "/recordings", "Saves the last minutes (docs/troubleshoot.md, A plant's report).", {
    201: ["Saved.", "Described"],
  }),
  {
    ...get(
      "/simulator/faults",
      "The faults of the simulated fleet service that last.",
      "What goes wrong now.",
      "SimulatedFaults",
    ),
    only: "demo",
  },
  {
    ...put(
      "/simulator/faults/{fault}",
      "Begins or ends a fault of the simulated fleet service, for engineers.",
      "What goes wrong now.",
      "SimulatedFaults",
    ),
    body: "FaultRequest",
    only: "demo",
  },
];

function get(path, summary, says, answer) {
  return { method: "get", path, summary, answers: { 200: [says, answer] } };
}

function put(path, summary, says, answer) {
  return { method: "put", path, summary, answers: { 200: [says, answer] } };
}

function one(path, summary, schema) {
  return get(path, summary, "As it is now.", schema);
}

function list(path, summary, schema) {
  return { ...get(path, summary, "One page.", schema), isList: true };
}

function session(method, summary, answers) {
  return { method, path: "/session", summary, only: "web", isPublic: true, answers };
}

function machine(method, path, summary, answers) {
  return { method, path, summary, only: "socket", answers };
}
