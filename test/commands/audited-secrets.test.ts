import { expect, test } from "vitest";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { createHarness } from "./commands-harness.ts";

test("the audit log has a webhook without the values of its headers, however it ends", async () => {
  const harness = await createHarness({ catalogue: createCatalogue() });
  const request = {
    url: "https://plant.example/hook",
    eventType: "mission",
    selector: { robotIds: { ids: ["AMR01"] } },
    options: { description: "line 1", headers: { Authorization: "Bearer TOPSECRET" } },
  };
  await harness.send("CreateWebhook", request, {
    source: { protocol: "cli", name: "nobody" },
    effect: "changes",
  });
  const unread = { ...request, headers: { Authorization: "Bearer TOPSECRET" } };
  await harness.send("CreateWebhook", unread, { effect: "changes" });
  expect(harness.audit.map(({ code }) => code)).toEqual(["NOT_ALLOWED", "MALFORMED"]);
  expect(JSON.stringify(harness.audit)).not.toContain("TOPSECRET");
  expect(JSON.parse(String(harness.audit[0]?.request))).toEqual({
    ...request,
    options: { description: "line 1", headers: { Authorization: "***" } },
  });
});
