import { expect, test } from "vitest";
import { createLogins } from "../../../../src/northbound/mqtt/broker/logins.ts";
import type { BrokerUser } from "../../../../src/northbound/mqtt/options.ts";
import { hashPassword } from "../../../../src/platform/password.ts";

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
    const judged = identify(login("one"));
    users = after;
    expect(await judged).toBeNull();
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
