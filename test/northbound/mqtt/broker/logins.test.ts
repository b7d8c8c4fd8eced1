import { expect, test } from "vitest";
import { createLogins } from "../../../../src/northbound/mqtt/broker/authenticate.ts";
import type { BrokerUser } from "../../../../src/northbound/mqtt/options.ts";
import { hashPassword } from "../../../../src/platform/password.ts";
import { hashesOf } from "../../../support/hash-count.ts";

/** Users that change while the broker runs. */
const login = (password: string) => ({
  username: "plc1",
  password: Buffer.from(password),
  remoteAddress: "10.0.0.1",
});
const plc1 = { kind: "user", name: "plc1" };

test("a log-in that is being judged fails if its user, or its password, is taken meanwhile", async () => {
  const one: BrokerUser = { name: "plc1", password: await hashPassword("one") };
  for (const after of [[], [{ name: "plc1", password: await hashPassword("two") }]]) {
    let users: readonly BrokerUser[] = [one];
    const { identify } = createLogins(() => users, false);
    const evaluated = identify(login("one"));
    users = after;
    expect(await evaluated).toBeNull();
  }
});

test("a password that was proven does not outlive its user, and a new one counts at once", async () => {
  let users: readonly BrokerUser[] = [{ name: "plc1", password: await hashPassword("one") }];
  const { identify } = createLogins(() => users, false);
  expect(await identify(login("one"))).toEqual(plc1);
  users = [{ name: "plc1", password: await hashPassword("two") }];
  expect(await identify(login("one"))).toBeNull();
  expect(await identify(login("two"))).toEqual(plc1);
});

test("a wrong password costs one hash, whether there is the user and however its password is kept", async () => {
  const users = [
    { name: "hashed", password: await hashPassword("one") },
    { name: "plain", password: "one" },
  ];
  const { identify } = createLogins(() => users, false);
  for (const username of ["hashed", "plain", "nobody"]) {
    expect(await hashesOf(() => identify({ ...login("two"), username })), username).toBe(1);
    // Two at once are compared once.
    const both = () => Promise.all([0, 1].map(() => identify({ ...login("three"), username })));
    expect(await hashesOf(both), username).toBe(1);
  }
  // Of many clients that come together after a restart none waits for a hash.
  const right = { ...login("one"), username: "plain" };
  expect(await hashesOf(async () => expect(await identify(right)).toMatchObject({ name: "plain" }))).toBe(0);
});

test("wrong log-ins of three addresses keep out nobody who comes from a fourth", async () => {
  const password = await hashPassword("one");
  const users = Array.from({ length: 10 }, (_, number): BrokerUser => ({ name: `plc${number}`, password }));
  const { identify } = createLogins(() => users, false);
  const answered: string[] = [];
  const crowd: Promise<unknown>[] = [];
  for (const { name: username } of users) {
    for (let number = 0; number < 12; number += 1) {
      const wrong = { username, password: Buffer.from(`${number}`), remoteAddress: `10.0.0.${number % 3}` };
      const answer = identify(wrong).then(
        () => answered.push("wrong"),
        () => answered.push("busy"),
      );
      crowd.push(answer);
    }
  }
  expect(await identify({ ...login("one"), remoteAddress: "10.0.0.4" })).toEqual(plc1);
  // It did not have to wait until the others were through.
  expect(answered.filter((answer) => answer === "wrong").length).toBeLessThan(40);
  await Promise.all(crowd);
});
