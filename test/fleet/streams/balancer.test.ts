import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { startBareHttp2 } from "../../support/bare-http2.ts";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { createPatientClock } from "../../support/patient-clock.ts";
import { startSimulator } from "../../support/simulator.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A balancer without a service behind it: it answers everything with an HTTP status and a page. */
async function startBalancer(status: number, caFile: string): Promise<{ address: string; asked(): number }> {
  const authority = {
    certificate: await readFile(caFile, "utf8"),
    key: await readFile(join(dirname(caFile), "ca.key"), "utf8"),
  };
  const { certificate, key } = await createServerCertificate(authority, ["localhost"], Date.now());
  let asked = 0;
  const server = await startBareHttp2({ cert: certificate, key }, (stream) => {
    asked += 1;
    stream.respond({ ":status": status, "content-type": "text/html" });
    stream.end("<h1>No</h1>");
  });
  closers.push(server.close);
  return { address: server.address, asked: () => asked };
}

test.each([400, 403, 404, 408, 429, 500, 502, 503, 504])(
  "a balancer that answers %i refuses no robot: streams come back as soon as the service does",
  async (status) => {
    const simulator = await startSimulator();
    closers.push(() => simulator.stop());
    const { endpoints } = simulator;
    const balancer = await startBalancer(status, endpoints.ca);
    let target = balancer.address;
    const wire = await startTcpProxy(() => target);
    closers.push(() => wire.close());
    const harness = await startFleetSession(endpoints, {
      grpcAddress: wire.address,
      times: { backoffBaseMs: 20, backoffCapMs: 200 },
    });
    closers.push(() => harness.stop());
    await harness.until("streams were tried", () => balancer.asked() > 6);
    expect(harness.figure("robots_refused")).toBe(0);
    expect(harness.events.filter((event) => event.kind === "link" && event.state === "up")).toEqual([]);
    // Whether a command was passed on nobody knows.
    const mission = { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } };
    const ending = await harness.port.call(
      "CreateMission",
      JSON.stringify({ robotId: "base-01", mission }),
      3_000,
    );
    expect(ending).toMatchObject({ kind: "unknown", message: expect.stringContaining(String(status)) });
    expect(harness.figure("streams_open")).toBe(0);
    target = endpoints.grpc;
    wire.cut();
    const clock = createPatientClock();
    closers.push(async () => clock.close());
    await harness.event("mission");
    await harness.event("battery");
    expect(clock.monotonicMs()).toBeLessThan(2_200);
  },
);
