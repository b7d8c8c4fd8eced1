import { expect, test } from "vitest";
import type { Http } from "../../../src/fleet/http.ts";
import { defaultFleetTimes, type FleetOptions } from "../../../src/fleet/options.ts";
import { createReader } from "../../../src/fleet/polling/reader.ts";
import type { Session } from "../../../src/fleet/session/session.ts";
import { noTap } from "../../../src/platform/recorder/recording.ts";

const options = { httpsUrl: "https://fleet.example.com", times: defaultFleetTimes } as FleetOptions;

/** A reader of a service that takes only these tokens, and the tokens it was shown. */
function reader(taken: readonly string[], replacement: string | null) {
  const shown: string[] = [];
  const http: Http = {
    async send({ headers }) {
      const jwt = String(headers.authorization).replace("Bearer ", "");
      shown.push(jwt);
      return { status: taken.includes(jwt) ? 200 : 401, headers: {}, parts: [Buffer.from("{}")] };
    },
    async [Symbol.asyncDispose]() {},
  };
  const session = {
    authorized: async () => "old",
    replace: async () => replacement,
  } as unknown as Session;
  return { shown, read: createReader(options, { http, session, signal: new AbortController().signal }) };
}

test("a poll whose token is refused asks once more with another token", async () => {
  const { shown, read } = reader(["new"], "new");
  expect(await read("GetOnlineRobots", {})).toEqual(Buffer.from("{}"));
  expect(shown).toEqual(["old", "new"]);
});

test.each([["new", ["old", "new"]] as const, [null, ["old"]] as const])(
  "and fails when there is none that is taken (%s)",
  async (replacement, asked) => {
    const { shown, read } = reader([], replacement);
    await expect(read("GetOnlineRobots", {})).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(shown).toEqual(asked);
  },
);

/** A reader of a service that gives these answers in turn, each in parts. */
function readerOf(answers: readonly (readonly Buffer[])[], tap = noTap) {
  const left = [...answers];
  const http: Http = {
    send: async () => ({ status: 200, headers: {}, parts: left.shift() ?? [] }),
    async [Symbol.asyncDispose]() {},
  };
  const session = { authorized: async () => "jwt" } as unknown as Session;
  return createReader(options, { http, session, signal: new AbortController().signal, tap });
}
const cut = (...parts: readonly string[]) => parts.map((part) => Buffer.from(part));

test("an answer that is the same as before is the same buffer, however it is cut", async () => {
  const read = readerOf([cut("one"), cut("o", "ne"), cut("onet"), cut("on"), cut("", "on"), cut("two")]);
  const next = () => read("GetOnlineRobots", {});
  const [one, again, longer, shorter, shorterAgain, other] = [
    ...[await next(), await next(), await next()],
    ...[await next(), await next(), await next()],
  ];
  expect([one, longer, shorter, other].map(String)).toEqual(["one", "onet", "on", "two"]);
  expect(again).toBe(one);
  expect(shorterAgain).toBe(shorter);
});

test("an answer is recorded when it differs, and once for each segment", async () => {
  const written: string[] = [];
  const tap = {
    ...noTap,
    isOn: true,
    segment: 1,
    write: (_kind: string, { second }: { readonly second?: Buffer }) => void written.push(String(second)),
  };
  const read = readerOf([cut("one"), cut("one"), cut("two"), cut("two"), cut("two")], tap as never);
  for (let count = 0; count < 4; count += 1) await read("GetOnlineRobots", {});
  expect(written).toEqual(["one", "two"]);
  tap.segment = 2;
  await read("GetOnlineRobots", {});
  expect(written).toEqual(["one", "two", "two"]);
});

test("a service with large answers fills no memory", async () => {
  const large = Buffer.alloc(8_000_000);
  const read = readerOf(Array.from({ length: 6 }, () => [large]));
  const ask = (id: number) => read("QueryTaskChain", { taskChainIds: [id] });
  const first = await ask(1);
  expect(await ask(1)).toBe(first);
  for (const id of [2, 3, 4, 5]) await ask(id);
  expect(await ask(1)).not.toBe(first);
});
