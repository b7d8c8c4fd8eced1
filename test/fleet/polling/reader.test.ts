import { expect, test } from "vitest";
import type { Http } from "../../../src/fleet/http.ts";
import { defaultFleetTimes, type FleetOptions } from "../../../src/fleet/options.ts";
import { createReader } from "../../../src/fleet/polling/reader.ts";
import type { Session } from "../../../src/fleet/session/session.ts";

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

test("an answer that is the same as before is the same buffer, however it is cut", async () => {
  const answers = [["one"], ["o", "ne"], ["onet"], ["on"], ["", "on"], ["two"]];
  const http: Http = {
    async send() {
      const parts = answers.shift() ?? [];
      return { status: 200, headers: {}, parts: parts.map((part) => Buffer.from(part)) };
    },
    async [Symbol.asyncDispose]() {},
  };
  const session = { authorized: async () => "jwt" } as unknown as Session;
  const read = createReader(options, { http, session, signal: new AbortController().signal });
  const next = () => read("GetOnlineRobots", {});
  const [one, again, longer, shorter, shorterAgain, other] = [
    ...[await next(), await next(), await next()],
    ...[await next(), await next(), await next()],
  ];
  expect([one, longer, shorter, other].map(String)).toEqual(["one", "onet", "on", "two"]);
  expect(again).toBe(one);
  expect(shorterAgain).toBe(shorter);
});
