import {
  ActivateSessionRequest,
  AnonymousIdentityToken,
  BrowseDirection,
  BrowseRequest,
  CreateSessionRequest,
  CreateSessionResponse,
  MessageSecurityMode,
  UserTokenType,
} from "node-opcua";
import { afterAll, beforeAll } from "vitest";
import { BATTERY_STEP_MS, BATTERY_STEPS } from "../../../src/state/trends.ts";
import { watchLoop } from "../../support/loop-probe.ts";
import { robotChange } from "./changes.ts";
import { type RunningServer, startServer } from "./opcua-harness.ts";
import { encoded, openRawChannel, type RawChannel } from "./raw-client.ts";

/** No turn of the loop may take longer, whatever a client asks. */
export const LONGEST_TURN_MS = 50;
export const ITEMS = 10_000;
export const ROBOTS = 200;
export const SERVICE_FAULT = 397;

/** Every robot has a full history. */
const charges = Array.from({ length: BATTERY_STEPS }, (_unused, index) => index % 100);
const trend = { sinceMs: 0, stepMs: BATTERY_STEP_MS, firstAtMs: 0, values: charges };
const open = () => () => {};
const past = { batteries: { batteryOf: () => trend, open }, hour: { hourOf: () => trend, open } };

let running: RunningServer;
export let client: Awaited<ReturnType<typeof openClient>>;

/** Starts the server with its robots built, and a client, before all tests of a file. */
export function aboutOneServer(): void {
  beforeAll(async () => {
    running = await startServer({}, { past });
    const changes = Array.from({ length: ROBOTS }, (_unused, index) => robotChange(`r${index}`, "good"));
    running.server.write({ changes, events: [] });
    while (running.server.health().figures?.robotsWaiting !== 0) await new Promise(setImmediate);
    client = await openClient();
  });
  afterAll(async () => {
    client.channel.hangUp();
    await running.stop();
  });
}

export type Answer = NonNullable<Awaited<ReturnType<RawChannel["ask"]>>>;
export type Request = Parameters<typeof encoded>[0];

/** A session whose answers nobody decodes meanwhile: client and server share the loop. */
export async function openClient(maxMessageBytes = 0) {
  const channel = await openRawChannel(running.url, maxMessageBytes);
  const opening = new CreateSessionRequest({
    requestedSessionTimeout: 60_000,
    sessionName: "large requests",
    clientNonce: Buffer.alloc(32),
    clientDescription: { applicationUri: "urn:test" },
  });
  const session = (await channel.call(opening))?.read(new CreateSessionResponse());
  const endpoint = session?.serverEndpoints?.find(
    ({ securityMode }) => securityMode === MessageSecurityMode.None,
  );
  const policy = endpoint?.userIdentityTokens?.find(({ tokenType }) => tokenType === UserTokenType.Anonymous);
  const { authenticationToken } = session ?? {};
  const requestHeader = { authenticationToken: authenticationToken ?? null };
  const userIdentityToken = new AnonymousIdentityToken({ policyId: policy?.policyId ?? "" });
  await channel.call(new ActivateSessionRequest({ requestHeader, userIdentityToken }));
  return { channel, requestHeader };
}

function showFigures(request: Request, body: Buffer, { bytes }: Answer, longestMs: number): void {
  const { name } = request.constructor;
  process.stderr.write(
    `${name}: ${body.length} bytes, answer ${bytes}, longest turn ${longestMs.toFixed(1)} ms\n`,
  );
}

/**
 * The answer to a request, and the longest turn until it was there: the least of ten tries. What another
 * program or the collector adds is rarely there again, what the work itself takes always is.
 */
export async function timed(request: Request, tries = 10): Promise<readonly [Answer, number]> {
  const body = encoded(request);
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 1; ; tried += 1) {
    const probe = watchLoop();
    const answer = await client.channel.ask(body);
    least = Math.min(least, probe.longestMs());
    probe.stop();
    if (answer === null) throw new Error("the server hung up");
    if (least >= LONGEST_TURN_MS && tried < tries) continue;
    if (process.env.LARGE_REQUEST_FIGURES !== undefined) showFigures(request, body, answer, least);
    return [answer, least];
  }
}

export function items<T>(make: (index: number) => T, length = ITEMS): T[] {
  return Array.from({ length }, (_unused, index) => make(index));
}
export const tag = (index: number) => `ns=2;s=Robots.r${index % ROBOTS}.Battery.ChargePercent`;
export const browse = (nodeId: string) => ({
  nodeId,
  browseDirection: BrowseDirection.Both,
  referenceTypeId: "i=31",
  includeSubtypes: true,
  resultMask: 63,
});
export const manyTimesOneRobot = () =>
  new BrowseRequest({
    requestHeader: client.requestHeader,
    nodesToBrowse: items(() => browse("ns=2;s=Robots.r1")),
  });
