import { UserTokenType } from "node-opcua";
import { expect, it } from "vitest";
import { hashPassword } from "../../../src/platform/password.ts";
import { hashesOf } from "../../support/hash-count.ts";
import { newClient, scada, startServer } from "./opcua-harness.ts";

it("computes one hash for each log-on: for no user, a kept password and a kept hash", async () => {
  const hashed = {
    ...scada,
    name: "hashed",
    secret: { kind: "scrypt", text: await hashPassword("one") },
  } as const;
  const running = await startServer({ users: [scada, hashed] });
  const client = newClient();
  try {
    await client.connect(running.url);
    for (const userName of [scada.name, "hashed", "nobody"]) {
      const identity = { type: UserTokenType.UserName, userName, password: "wrong" } as const;
      const logOn = () => expect(client.createSession(identity)).rejects.toThrow();
      expect(await hashesOf(logOn), userName).toBe(1);
    }
  } finally {
    await client.disconnect();
    await running.stop();
  }
});
