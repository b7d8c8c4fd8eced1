import { EventEmitter } from "node:events";
import { type Client, status } from "@grpc/grpc-js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCalls } from "../../../src/fleet/calls/calls.ts";
import { callGrpc, errorOfHttp } from "../../../src/fleet/calls/service-call.ts";
import type { CommandChannel } from "../../../src/fleet/channels/command-channel.ts";
import type { StreamPermit } from "../../../src/fleet/channels/pooled-connection.ts";
import { errorText, serviceText } from "../../../src/fleet/error-text.ts";
import type { Http, HttpAnswer } from "../../../src/fleet/http.ts";
import { methods } from "../../../src/fleet/operations/row.ts";
import { defaultFleetTimes, type FleetOptions } from "../../../src/fleet/options.ts";
import { createPoll, createReader } from "../../../src/fleet/polling/reader.ts";
import { createRoster } from "../../../src/fleet/polling/roster.ts";
import type { Session } from "../../../src/fleet/session/session.ts";
import { openStream } from "../../../src/fleet/streams/stream-call.ts";
import { createLog, silentLog } from "../../../src/platform/log.ts";
import { jsonPort } from "../../support/fleet-requests.ts";
import { anyIdentifiers } from "../../support/identifiers.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const part = (bytes: string | Uint8Array) => Buffer.from(bytes).toString("base64url");
const JWT = `${part('{"alg":"HS256","typ":"JWT"}')}.${part('{"sub":"gateway","exp":1767229200}')}.${part("a signature of it")}`;
/** What must not be found of any: 8 characters of its second or third part, or 11 of its first. */
const fragmentsOf = (jwt: string) => {
  const [header = "", ...rest] = jwt.split(".");
  const pieces = (text: string, size: number) =>
    Array.from({ length: Math.max(0, text.length - size + 1) }, (_, at) => text.slice(at, at + size));
  return [...pieces(header, 11), ...rest.flatMap((each) => pieces(each, 8))];
};
const leaksOf = (text: string, jwt = JWT) => fragmentsOf(jwt).filter((fragment) => text.includes(fragment));

const tokens = fc
  .tuple(
    // Some servers' JSON has blanks and line ends.
    fc.constantFrom('{"alg":"RS256"', '{"typ":"JWT"', '{ "alg": "none"', '{\r\n "kid":"1"', '{\n\t"alg":"x"'),
    fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.string({ maxLength: 40 })),
    fc.uint8Array({ minLength: 8, maxLength: 64 }),
  )
  .map(
    ([header, claims, signature]) =>
      `${part(`${header}}`)}.${part(JSON.stringify(claims))}.${part(signature)}`,
  );
/** Text that shares nothing of note with a token. */
const surroundings = fc.string({ unit: fc.constantFrom(..." \t\n\"'`<>[]{}()=:;,%/!é🤖"), maxLength: 30 });

test("no token survives, whole or cut short, whatever stands around it", () => {
  fc.assert(
    fc.property(
      tokens,
      surroundings,
      surroundings,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (jwt, a, b, cut) => {
        for (const word of ["", "Bearer ", "bearer%20", "authorization=", "xyz"]) {
          const shown = serviceText(`${a}${word}${jwt.slice(0, Math.ceil(jwt.length * cut))}${b}`);
          expect(leaksOf(shown, jwt), shown).toEqual([]);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("a text is one line of 1,000 characters at most, however long what came was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 3_000 }), tokens, (text, jwt) => {
      const shown = serviceText(`${text}${jwt}${text}`);
      expect(shown.length).toBeLessThanOrEqual(1_001);
      expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(serviceText(shown)).toBe(shown);
    }),
  );
  const shown = serviceText(`${"a page ".repeat(1_000_000)}`);
  expect(shown).toHaveLength(1_001);
});

test.each([
  [`token Bearer ${JWT}`, "token Bearer (hidden)"],
  [
    `bad header "authorization: bearer ${JWT}", says the front`,
    'bad header "authorization: bearer (hidden)", says the front',
  ],
  [`?access_token=${JWT}&more=1`, "?access_token=(hidden)&more=1"],
  [`Bearer opaque-0123_abc/+==;`, "Bearer (hidden);"],
  ["Basic cGxhbnQ6cGFzc3dvcmQ= is refused", "Basic (hidden) is refused"],
  // The beginnings of headers that are cut to 11 characters.
  ...['{"alg":"RS2', '{ "alg": "n', '{\r\n "kid":"', '{\n\t"alg":"'].map((header): [string, string] => [
    `at ${part(header).slice(0, 11)}`,
    "at (hidden)",
  ]),
  ["two\r\nlines", "two  lines"],
  // What says nothing secret stays as it is.
  [
    "no token: send the header `Authorization: Bearer <JWT>`",
    "no token: send the header `Authorization: Bearer <JWT>`",
  ],
  ["the robot is not online", "the robot is not online"],
  ["Ziel „Prüfplatz“ unbekannt", "Ziel „Prüfplatz“ unbekannt"],
])("%s is shown as %s", (text, shown) => {
  expect(serviceText(text)).toBe(shown);
  expect(errorText(new Error(text))).toBe(shown.replace("  ", " "));
});

const options = {
  transport: "rest",
  httpsUrl: "https://fleet.example.com",
  times: defaultFleetTimes,
} as FleetOptions;
const session = {
  token: () => JWT,
  authorized: async () => JWT,
  replace: async () => null,
} as unknown as Session;

/** A front before the service that answers so, whatever it is asked. */
function front(answer: Partial<HttpAnswer>): Http {
  return {
    send: async () => ({ status: 500, headers: {}, parts: [], ...answer }),
    async [Symbol.asyncDispose]() {},
  };
}

/** Answers that repeat the request's header in each of the ways that are quoted. */
const echoes: ReadonlyArray<readonly [string, Partial<HttpAnswer>]> = [
  ["the header grpc-message", { headers: { "grpc-message": `token%20Bearer%20${JWT}%0a` } }],
  ["a header that is not encoded", { headers: { "grpc-message": `100% wrong: Bearer ${JWT}` } }],
  ["the body's message", { parts: [Buffer.from(JSON.stringify({ message: `token Bearer ${JWT}` }))] }],
  // A short one is quoted as a whole by the error of JSON.parse.
  ["an answer that is no JSON", { status: 200, parts: [Buffer.from(JWT.slice(0, 18))] }],
];

test.each(echoes)("a REST call's ending shows no token of %s", async (_, answer) => {
  const calls = createCalls(options, {
    session,
    channel: {} as CommandChannel,
    http: front(answer),
    signal: new AbortController().signal,
  });
  const ending = await jsonPort(calls).call("GetConveyorIndex", '{"robotId":"cart-01"}', 1_000);
  expect(ending).toMatchObject({ kind: "unknown" });
  expect(leaksOf(JSON.stringify(ending))).toEqual([]);
});

test.each(echoes)("a poll's problem and its line in the log show no token of %s", async (_, answer) => {
  const clock = createManualClock();
  const stopping = new AbortController();
  const lines: string[] = [];
  const read = createReader(options, { http: front(answer), session, signal: stopping.signal });
  const roster = createRoster({
    identifiers: anyIdentifiers(),
    read,
    clock,
    log: silentLog,
    sink: () => {},
    knows: () => true,
    amrIds: new Map(),
  });
  const poll = createPoll({
    name: "GetOnlineRobots",
    periodMs: 2_000,
    unimplementedMs: 60_000,
    clock,
    log: createLog("debug", { write: (line) => void lines.push(line) }),
    turn: roster.turn,
  });
  const run = poll.run(stopping.signal);
  await clock.settle(10);
  stopping.abort();
  await run;
  expect(poll.state()).toMatchObject({ turns: 1, failures: 1 });
  expect(lines).toHaveLength(1);
  expect(leaksOf(`${poll.state().problem}${lines}`)).toEqual([]);
});

test("neither does the ending of a gRPC call, or of a stream", async () => {
  const details = `token Bearer ${JWT}`;
  const stream = new EventEmitter();
  const client = {
    makeUnaryRequest: (...given: unknown[]) =>
      (given.at(-1) as (error: unknown) => void)({ code: status.INTERNAL, details }),
    makeServerStreamRequest: () => stream,
  } as unknown as Client;
  const method = methods.get("GetConveyorIndex");
  if (method === undefined) throw new Error("there is no such operation");
  const ending = await callGrpc(
    client,
    "x.Service",
    method,
    { $typeName: method.desc.input.typeName },
    JWT,
    1_000,
  );
  expect(ending).toEqual({ kind: "unknown", code: "INTERNAL", message: "token Bearer (hidden)" });

  const permit = { client, proven() {}, release() {} } as unknown as StreamPermit;
  const call = openStream({ path: "/x.Service/Watch", bytes: Buffer.alloc(0) }, JWT, permit, () => {});
  stream.emit("status", { code: status.UNAUTHENTICATED, details });
  expect(await call.ended).toEqual({ code: "UNAUTHENTICATED", message: "token Bearer (hidden)" });
});

test("a message of an HTTP answer that is no text is none", () => {
  const messageOf = (text: string) =>
    errorOfHttp({ status: 404, headers: {}, parts: [Buffer.from(text)] }).message;
  for (const message of ['{"toString":1}', `${"[".repeat(20_000)}${"]".repeat(20_000)}`, "null", "7"])
    expect(messageOf(`{"message":${message}}`)).toBe("HTTP 404");
  expect(messageOf('{"message":"no such robot"}')).toBe("no such robot");
});
