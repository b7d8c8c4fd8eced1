import { expect, test } from "vitest";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { createRig } from "./rig.ts";

test("the audit log has a webhook without the values of its headers, however it ends", async () => {
  const rig = await createRig({ catalogue: createCatalogue() });
  const request = {
    url: "https://plant.example/hook",
    eventType: "mission",
    selector: { robotIds: { ids: ["AMR01"] } },
    options: { description: "line 1", headers: { Authorization: "Bearer TOPSECRET" } },
  };
  await rig.send("CreateWebhook", request, { source: { protocol: "cli", name: "nobody" }, effect: "changes" });
  const unread = { ...request, headers: { Authorization: "Bearer TOPSECRET" } };
  await rig.send("CreateWebhook", unread, { effect: "changes" });
  expect(rig.audit.map(({ code }) => code)).toEqual(["NOT_ALLOWED", "MALFORMED"]);
  expect(JSON.stringify(rig.audit)).not.toContain("TOPSECRET");
  expect(JSON.parse(String(rig.audit[0]?.request))).toEqual({
    ...request,
    options: { description: "line 1", headers: { Authorization: "***" } },
  });
});
