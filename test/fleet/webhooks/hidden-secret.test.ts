import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { hideSecrets } from "../../../src/fleet/calls/calls.ts";
import { openWebhookEntrance } from "../../daemon/webhook-entrance.ts";
import { type FleetOverrides, startFleetSession } from "../../support/fleet-harness.ts";
import { startSimulator } from "../../support/simulator.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openLink() {
  const protocol = await openWebhookEntrance();
  closers.push(() => protocol.close());
  return protocol;
}

/**
 * A service to which a gateway with webhooks has subscribed, with its secret, and how to start another
 * gateway.
 */
async function openPlant() {
  const protocol = await openLink();
  const simulator = await startSimulator({ unsafeWebhookTargets: { trustedCa: protocol.trustedCa } });
  closers.push(() => simulator.stop());
  const start = async (overrides: FleetOverrides) => {
    const harness = await startFleetSession(simulator.endpoints, overrides);
    closers.push(() => harness.stop());
    return harness;
  };
  const first = await start({ events: { kind: "webhook", webhook: protocol.options } });
  await first.until("it has subscribed", () => first.figure("webhook_subscriptions_made") === 2);
  const kept = await readFile(join(protocol.options.directory, "webhook-secret.json"), "utf8");
  return { protocol, first, start, secret: (JSON.parse(kept) as { secret: string }).secret };
}

describe.each(["grpc", "rest"] as const)("over %s", (transport) => {
  test("another gateway's secret is not shown, with webhooks of one's own and without", async () => {
    const { first, start, secret } = await openPlant();
    const webhook = (await openLink()).options;
    const without = await start({ transport });
    const withOwn = await start({ transport, events: { kind: "webhook", webhook } });
    await withOwn.until("it has subscribed", () => withOwn.figure("webhook_subscriptions_made") === 2);
    for (const harness of [first, without, withOwn]) {
      const answer = JSON.stringify(await harness.port.call("ListWebhooks", "{}", 5_000));
      expect(answer.match(/x-fleetgate-secret/g)).toHaveLength(4);
      expect(answer.match(/\(hidden\)/g)).toHaveLength(4);
      expect(answer).not.toContain(secret);
    }
  });

  test("nor is the one that CreateWebhook answers with; other headers are", async () => {
    const { protocol, start } = await openPlant();
    const harness = await start({ transport });
    const request = {
      url: protocol.options.publicUrl,
      eventType: "battery",
      selector: { robotIds: { ids: ["cart-01"] } },
      options: { headers: { "X-Fleetgate-Secret": 'given "by" hand', "x-line": "3" } },
    };
    const ending = await harness.port.call("CreateWebhook", JSON.stringify(request), 5_000);
    if (ending.kind !== "ok") throw new Error(JSON.stringify(ending));
    const { headers } = (JSON.parse(ending.responseJson) as { webhook: { headers: Record<string, string> } })
      .webhook;
    expect(Object.keys(headers).map((name) => name.toLowerCase())).toContain("x-fleetgate-secret");
    expect(Object.values(headers).sort()).toEqual(["(hidden)", "3"]);
    expect(ending.responseJson).not.toContain(" hand");
  });
});

test("an answer is otherwise left as it is, and stays JSON whatever the secret is", () => {
  const headers = (secret: string) => ({ a: "1", "x-fleetgate-secret": secret, z: 'x-fleetgate-secret":"2' });
  for (const secret of ["", "s", 's"s', "s\\", '\\"', "$1", "ä\n"]) {
    const text = JSON.stringify({ webhooks: [{ id: "w", headers: headers(secret) }] });
    expect(JSON.parse(hideSecrets(text))).toEqual({
      webhooks: [{ id: "w", headers: headers("(hidden)") }],
    });
  }
});
