import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { startReceiver } from "../simulator/webhooks/receiver.ts";
import { startSimulator } from "../support/simulator.ts";
import { contractTests, refusalOf, type Service } from "./service.ts";
import { createSubscriptions, delivery } from "./subscriptions.ts";

const receiver = await startReceiver();
afterAll(receiver.close);
const hooks = createSubscriptions(receiver);
const { onBoth, overGrpc } = contractTests({
  unsafeWebhookTargets: { trustedCa: receiver.ca },
  webhookDelivery: delivery,
  random: hooks.random,
});

/** Answers with each of these in turn, then with 204. */
function answers(...each: ReadonlyArray<number | "cut" | "silence">): void {
  let at = 0;
  receiver.answer(() => each[at++] ?? 204);
}

/**
 * Lets the pause before the next attempt pass, once the last one has failed, and not a moment more:
 * the attempt's own time must not run out before it has begun. `failed` counts the attempts of its event.
 */
async function afterBackoff({ clock }: Service, before: number, failed = 1): Promise<void> {
  await hooks.awaitBackoff(before + failed);
  await clock.settle(0.5 * delivery.backoff.baseMs * 2 ** (failed - 1));
}

const isEnabled = async (service: Service, id: string) => (await hooks.listed(service, id)).enabled === true;

let percent = 20;
/** A charge that the robot has not had just before: each is an event. */
const anotherPercent = () => (percent === 20 ? ++percent : --percent);

/** Has so many events of a robot's battery delivered, each of them answered with `status`. */
async function exchanged(
  service: Service,
  robotId: string,
  id: string,
  count: number,
  status: number,
): Promise<void> {
  receiver.answer(() => status);
  for (let n = 0; n < count; n += 1) hooks.charge(service, robotId, anotherPercent());
  for (let n = 0; n < count; n += 1) await hooks.next(id);
}

onBoth("WHK-38 Any 2xx is a success: it is not sent again", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    const before = hooks.backoffs();
    answers(200, 201, 202, 299);
    for (const percent of [42, 41, 40, 39, 38]) {
      hooks.charge(service, robotId, percent);
      expect((await hooks.next(id)).body).toMatchObject({
        state: { battery_state: { charge_percent: percent } },
      });
    }
    expect(hooks.backoffs()).toBe(before);
  });
});

onBoth("WHK-39 408, 425, 429 and every 5xx are retried, with the same event id and body", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    for (const [at, status] of [408, 425, 429, 500, 502, 503, 599].entries()) {
      const before = hooks.backoffs();
      answers(status);
      hooks.charge(service, robotId, 40 - at);
      const first = await hooks.next(id);
      await afterBackoff(service, before);
      const second = await hooks.next(id);
      expect([second.eventId, second.body]).toEqual([first.eventId, first.body]);
    }
  });
});

onBoth(
  "WHK-40 Network errors and timeouts are retried: an event id may come more than once",
  async (service) => {
    const { id: robotId } = service.fresh("base");
    await hooks.subscribed(service, robotId, {}, async (id) => {
      const before = hooks.backoffs();
      answers("cut", "silence");
      hooks.charge(service, robotId, 42);
      const first = await hooks.next(id);
      await afterBackoff(service, before);
      const second = await hooks.next(id);
      service.clock.advance(10_000);
      await afterBackoff(service, before, 2);
      expect([second.eventId, (await hooks.next(id)).eventId]).toEqual([first.eventId, first.eventId]);
    });
  },
);

onBoth("WHK-41 Retries wait exponentially longer, with jitter", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    const before = hooks.backoffs();
    receiver.answer(() => 503);
    hooks.charge(service, robotId, 42);
    await hooks.next(id);
    // Half of 2 s, of 4 s and of 8 s: chance gives one half here.
    for (const [at, pauseMs] of [1_000, 2_000, 4_000].entries()) {
      await hooks.awaitBackoff(before + at + 1);
      const count = receiver.count();
      await service.clock.settle(pauseMs - 1);
      expect(receiver.count()).toBe(count);
      await service.clock.settle(1);
      await hooks.next(id);
    }
  });
});

onBoth("WHK-42 Every other answer is a permanent failure: not retried", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    const before = hooks.backoffs();
    const statuses = [400, 401, 403, 404, 410, 422];
    answers(...statuses);
    const ids = new Set<string>();
    for (const at of [...statuses, 0].keys()) {
      hooks.charge(service, robotId, 42 - at);
      ids.add((await hooks.next(id)).eventId);
    }
    expect(ids.size).toBe(statuses.length + 1);
    expect(hooks.backoffs()).toBe(before);
  });
});

onBoth("WHK-43 Redirects are a permanent failure and are not followed", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    const [before, count] = [hooks.backoffs(), receiver.count()];
    receiver.answer(() => ({ redirect: receiver.url }));
    hooks.charge(service, robotId, 42);
    const first = await hooks.next(id);
    receiver.answer(() => 204);
    hooks.charge(service, robotId, 41);
    expect((await hooks.next(id)).eventId).not.toBe(first.eventId);
    expect([hooks.backoffs(), receiver.count()]).toEqual([before, count + 2]);
  });
});

onBoth(
  "WHK-44 Retries that are exhausted are a final failure, and the next event has its turn",
  async (service) => {
    const { id: robotId } = service.fresh("base");
    await hooks.subscribed(service, robotId, {}, async (id) => {
      const before = hooks.backoffs();
      receiver.answer(() => 503);
      hooks.charge(service, robotId, 42);
      hooks.charge(service, robotId, 41);
      const ids: string[] = [];
      for (let tries = 1; tries <= delivery.attempts; tries += 1) {
        ids.push((await hooks.next(id)).eventId);
        if (tries < delivery.attempts) await afterBackoff(service, before, tries);
      }
      expect(new Set(ids).size).toBe(1);
      expect(ids).not.toContain((await hooks.next(id)).eventId);
    });
  },
);

onBoth(
  "WHK-49 The queue of a subscription is bounded, and a receiver that hangs slows nobody",
  async (service) => {
    const { id: robotId, stations } = service.fresh("base");
    await hooks.subscribed(service, robotId, {}, async (id) => {
      receiver.answer(() => "silence");
      hooks.charge(service, robotId, 99);
      await hooks.next(id);
      for (let percent = 90; percent > 40; percent -= 1) hooks.charge(service, robotId, percent);
      const goal = { destinationId: stations[0] };
      const mission = { baseMission: { navigateMission: { goal } } };
      expect(await service.code("CreateMission", { robotId, mission })).toBe("OK");
      const before = hooks.backoffs();
      receiver.answer(() => 204);
      service.clock.advance(10_000);
      await afterBackoff(service, before);
      const percents: unknown[] = [];
      while (percents.at(-1) !== 41) {
        const { state } = (await hooks.next(id)).body as { state: { battery_state: JsonObject } };
        percents.push(state.battery_state.charge_percent);
      }
      // The one under way, and the newest that the queue can hold.
      expect(percents).toEqual([99, ...Array.from({ length: delivery.queueLimit }, (_, n) => 70 - n)]);
    });
  },
);

onBoth("TRN-14 CreateWebhook, a valid request: enabled", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    expect(await hooks.listed(service, id)).toMatchObject({ enabled: true });
  });
});

onBoth(
  "TRN-15 Enabled + the 20th final failure in a row: disabled, with reason and time, and nothing more is sent",
  async (service) => {
    const { id: robotId } = service.fresh("base");
    await hooks.subscribed(service, robotId, {}, async (id) => {
      await exchanged(service, robotId, id, 19, 410);
      expect(await isEnabled(service, id)).toBe(true);
      await exchanged(service, robotId, id, 1, 410);
      await expect.poll(() => isEnabled(service, id), { interval: 5 }).toBe(false);
      const disabledAt = new Date(service.clock.nowMs()).toISOString().replace(".000Z", "Z");
      const { disabledReason, ...rest } = await hooks.listed(service, id);
      expect(disabledReason).toMatch(/20.*410/);
      expect(rest).toMatchObject({ enabled: false, disabledAt, updatedAt: disabledAt });
      const count = receiver.count();
      hooks.charge(service, robotId, 12);
      // What another subscription is sent after it shows that nothing of this one was under way.
      await hooks.subscribed(service, robotId, {}, async (other) => {
        hooks.charge(service, robotId, 11);
        await hooks.next(other);
      });
      expect(receiver.count()).toBe(count + 1);
    });
  },
);

onBoth("TRN-16 Enabled + a 2xx: the count of failures begins again", async (service) => {
  const { id: robotId } = service.fresh("base");
  await hooks.subscribed(service, robotId, {}, async (id) => {
    await exchanged(service, robotId, id, 19, 410);
    await exchanged(service, robotId, id, 1, 200);
    await exchanged(service, robotId, id, 19, 410);
    // Its delivery begins when the one before it has been counted.
    await exchanged(service, robotId, id, 1, 200);
    expect(await isEnabled(service, id)).toBe(true);
  });
});

onBoth("TRN-17 Enabled or disabled + DeleteWebhook: removed", async (service) => {
  const { id: robotId } = service.fresh("base");
  for (const failures of [0, 20]) {
    const request = { url: receiver.url, eventType: "battery", selector: { robotIds: { ids: [robotId] } } };
    const { webhook } = (await service.done("CreateWebhook", request)) as { webhook: { id: string } };
    await exchanged(service, robotId, webhook.id, failures, 410);
    await expect.poll(() => isEnabled(service, webhook.id), { interval: 5 }).toBe(failures === 0);
    expect(await service.done("DeleteWebhook", { id: webhook.id })).toEqual({});
    await expect(hooks.listed(service, webhook.id)).rejects.toThrow(/is not listed/);
  }
});

overGrpc(
  "TRN-18 There is no update: a disabled subscription stays disabled",
  async ({ client, simulator }) => {
    const path = `/${FleetService.typeName}/UpdateWebhook`;
    const refusal = await client()
      .callBytes(path, new Uint8Array())
      .then(() => undefined, refusalOf);
    expect(refusal?.code).toBe("UNIMPLEMENTED");
    expect((await simulator.rest("POST", "/v1/webhook/update", {})).status).toBe(404);
    expect(FleetService.methods.map(({ name }) => name)).not.toContain("UpdateWebhook");
  },
);

test("WHK-48 Subscriptions survive a restart, with what disabled them", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "fleetgate-webhooks-"));
  const options = { dataDir, unsafeWebhookTargets: { trustedCa: receiver.ca } };
  const first = await startSimulator(options);
  const robotId = "cart-01";
  const request = { url: receiver.url, eventType: "battery", selector: { robotIds: { ids: [robotId] } } };
  const { webhook } = (await first.rest("POST", "/v1/webhook/create", request)).json() as {
    webhook: JsonObject;
  };
  const disabled = (await first.rest("POST", "/v1/webhook/create", request)).json() as {
    webhook: { id: string };
  };
  receiver.answer(() => 410);
  const read = async (simulator: typeof first) => {
    const { webhooks } = (await simulator.rest("POST", "/v1/webhook/list", {})).json() as {
      webhooks: JsonObject[];
    };
    return new Map(webhooks.map((each) => [each.id, each]));
  };
  for (let percent = 60; percent > 40; percent -= 1) {
    first.control.happen({ kind: "battery", robotId, percent });
  }
  await expect
    .poll(async () => (await read(first)).get(disabled.webhook.id)?.enabled, { interval: 5 })
    .toBe(false);
  await first.rest("POST", "/v1/webhook/delete", { id: webhook.id });
  const before = await read(first);
  await first.stop();
  const second = await startSimulator(options);
  expect(await read(second)).toEqual(before);
  expect(before.get(disabled.webhook.id)?.disabledReason).toMatch(/410/);
  await second.stop();
  await rm(dataDir, { recursive: true, force: true });
});
