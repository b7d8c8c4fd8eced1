import { join } from "node:path";
import { z } from "zod";
import {
  type EventSource,
  type FleetCredentials,
  type FleetOptions,
  type RobotChoice,
  defaultFleetTimes as usual,
  webhookDirectory,
} from "../../fleet/options.ts";
import { file, hostPort, identifier, listen, milliseconds, names, url } from "../fields.ts";
import { fileAt, type NamedFiles, pairAt } from "../named-files.ts";

/** Keys that webhooks need, and streams do not use. */
const webhookKeys = ["listen", "publicUrl", "certificate", "key"] as const;

/** `fleet.events:` how missions and batteries are received. */
const eventsSection = z
  .strictObject({
    kind: z
      .enum(["streams", "webhook"])
      .default("streams")
      .describe("How missions and batteries come. Conveyors and snapshots are streams always."),
    listen: listen(8443).optional(),
    publicUrl: url(
      ["https:"],
      "https URL of this listener for the service, which takes public addresses only.",
    ).optional(),
    certificate: file(
      "certificate",
      "Certificate of the host of publicUrl, with its chain, and the key (PEM files).",
    ).optional(),
    key: file("privateKey", "Its key (PEM file).").optional(),
    onShutdown: z
      .enum(["keep", "delete"])
      .default("keep")
      .describe("Whether subscriptions outlive the gateway."),
  })
  .superRefine((section, context) => {
    for (const key of webhookKeys) {
      const isThere = section[key] !== undefined;
      if (isThere === (section.kind === "webhook")) continue;
      const message = isThere ? "has a meaning with kind: webhook only" : "is needed with kind: webhook";
      context.addIssue({ code: "custom", path: [key], message });
    }
  })
  .prefault({})
  .describe("Streams, or webhooks.");

/** The event source of the fleet session, from the section and its files. */
function eventSource(
  section: z.output<typeof eventsSection>,
  files: NamedFiles,
  directory: string,
): EventSource {
  const { kind, listen: address, publicUrl, onShutdown } = section;
  const tls = pairAt(files, "fleet", "events");
  if (kind === "streams" || address === undefined || publicUrl === undefined || tls === null)
    return { kind: "streams" };
  return {
    kind: "webhook",
    webhook: {
      listen: address,
      publicUrl,
      tls,
      onShutdown,
      directory: webhookDirectory(directory),
    },
  };
}

const families = ["cart", "serve", "base"] as const;
const noToken = ": a token must not travel without TLS";

const times = z
  .strictObject({
    tokenRefreshMs: milliseconds(
      10_000,
      3_600_000,
      usual.tokenRefreshMs,
      "Age at which the gateway renews its token, by chance up to a third later.",
    ),
    tokenMarginMs: milliseconds(
      0,
      600_000,
      usual.tokenMarginMs,
      "How long before its end a token counts as ended.",
    ),
    keepaliveMs: z
      .int()
      .min(10_000)
      .max(3_600_000)
      .nullable()
      .default(usual.keepaliveMs)
      .describe("Between two HTTP/2 pings; null: none. Many servers refuse more than one in 5 minutes."),
    keepaliveTimeoutMs: milliseconds(1_000, 60_000, usual.keepaliveTimeoutMs, "For the answer of a ping."),
    connectMs: milliseconds(100, 60_000, usual.connectMs, "For making a connection."),
    backoffBaseMs: milliseconds(
      10,
      60_000,
      usual.backoffBaseMs,
      "Longest wait after the first failure; doubles with each one.",
    ),
    backoffCapMs: milliseconds(10, 600_000, usual.backoffCapMs, "Longest wait between attempts."),
    refusedRetryMs: milliseconds(
      1_000,
      3_600_000,
      usual.refusedRetryMs,
      "Until the next request for a refused robot or location.",
    ),
    rosterPollMs: z
      .int()
      .min(200)
      .max(3_600_000)
      .nullable()
      .default(usual.rosterPollMs)
      .describe("Between two GetOnlineRobots; null: none."),
    taskChainPollMs: z
      .int()
      .min(200)
      .max(3_600_000)
      .nullable()
      .default(usual.taskChainPollMs)
      .describe("Between two QueryTaskChain of unfinished chains; null: none."),
    pollTimeoutMs: milliseconds(
      200,
      120_000,
      usual.pollTimeoutMs,
      "Deadline of a poll. Raise it for a long online list over a slow line.",
    ),
    callMs: milliseconds(1_000, 120_000, usual.callMs, "Deadline of the gateway's other own calls."),
  })
  .prefault({})
  .describe("Times. The defaults suit most services.");

/** `fleet:` the service, the key for it, and the robots of this gateway. */
export const fleetSection = z
  .strictObject({
    grpc: z
      .strictObject({
        address: hostPort("host:port; always TLS."),
        serviceName: z
          .string()
          .regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/, {
            error: "write package.Service, as fleet.v1.FleetService",
          })
          .default("fleet.v1.FleetService")
          .describe("Package and service as the maker calls them."),
      })
      .describe("The gRPC interface."),
    https: url(["https:"], "Base URL for task chains, robots and maps.", [], noToken),
    authUrl: url(["https:"], "Base URL for tokens. Default: the value of https.", [], noToken).optional(),
    credentials: file("apiKey", "File of the API key (JSON: api_key, scope, secret)."),
    ca: file("certificate", "CA to trust instead of the system's (PEM file).").optional(),
    clientCertificate: file(
      "certificate",
      "The gateway's certificate and key, if the service asks for them (PEM files).",
    ).optional(),
    clientKey: file("privateKey", "Its key (PEM file).").optional(),
    proxy: z
      .strictObject({
        url: url(["http:"], "http://host:port of an HTTP proxy (CONNECT)."),
        username: z.string().min(1).optional().describe("Its user."),
        password: file("password", "File of its password.").optional(),
      })
      .optional()
      .describe("An HTTP proxy (CONNECT)."),
    transport: z.enum(["grpc", "rest"]).default("grpc").describe("For commands. Streams are gRPC always."),
    robots: names("The gateway's robots, by robot_id. Either this or locations.").min(1).optional(),
    locations: names("All robots at these locations. Either this or robots.").min(1).optional(),
    events: eventsSection,
    robotNumbers: z
      .record(identifier(), z.int().min(1).max(2_147_483_647))
      .default({})
      .describe("Numbers (amr_id) by robot_id, if the online list lacks them."),
    families: z
      .record(identifier(), z.enum(families))
      .default({})
      .describe("Families by robot_id, if the gateway should not find them out."),
    times,
  })
  .describe("The fleet service, and the robots of this gateway.");

export type FleetSection = z.output<typeof fleetSection>;

/** The options of the fleet session, from the section and its files. */
export function fleetOptions(
  section: FleetSection,
  quality: { readonly streamSilenceMs: number; readonly resyncMs: number },
  files: NamedFiles,
  dataDir: string,
  sharers: number,
): FleetOptions {
  return {
    grpcAddress: section.grpc.address,
    serviceName: section.grpc.serviceName,
    httpsUrl: section.https,
    authUrl: section.authUrl ?? section.https,
    credentials: credentials(fileAt(files, "fleet", "credentials")?.text ?? "{}"),
    sharers,
    tls: { ca: fileAt(files, "fleet", "ca")?.text ?? null, client: client(files) },
    proxyUrl: section.proxy === undefined ? null : proxyUrl(section.proxy, files),
    transport: section.transport,
    robots: robotChoice(section),
    events: eventSource(section.events, files, join(dataDir, "fleet")),
    families: new Map(Object.entries(section.families)),
    amrIds: new Map(Object.entries(section.robotNumbers)),
    cacheDirectory: join(dataDir, "fleet"),
    times: { ...section.times, streamSilenceMs: quality.streamSilenceMs, resyncMs: quality.resyncMs },
  };
}

/** The document was checked when its file was read. */
function credentials(text: string): FleetCredentials {
  const { api_key: apiKey, scope, secret } = apiKeyDocument.parse(JSON.parse(text));
  return { apiKey, scope, secret };
}

const apiKeyDocument = z.object({ api_key: z.string(), scope: z.string(), secret: z.string() });

function client(files: NamedFiles): FleetOptions["tls"]["client"] {
  const certificate = fileAt(files, "fleet", "clientCertificate");
  const key = fileAt(files, "fleet", "clientKey");
  return certificate !== null && key !== null ? { certificate: certificate.text, key: key.text } : null;
}

function proxyUrl(proxy: NonNullable<FleetSection["proxy"]>, files: NamedFiles): string {
  const address = new URL(proxy.url);
  address.username = encodeURIComponent(proxy.username ?? "");
  address.password = encodeURIComponent(fileAt(files, "fleet", "proxy", "password")?.text ?? "");
  return address.href;
}

function robotChoice(section: FleetSection): RobotChoice {
  return section.robots !== undefined
    ? { kind: "ids", ids: section.robots }
    : { kind: "locations", locations: section.locations ?? [] };
}

/** `quality:` how long each kind of silence may last before a value stops being good. */
export const qualitySection = z
  .strictObject({
    streamSilenceMs: milliseconds(
      1_000,
      3_600_000,
      30_000,
      "A stream shows a sign of life within this time, or is not live.",
    ),
    resyncMs: milliseconds(
      1_000,
      3_300_000,
      60_000,
      "The gateway asks for a robot's values again before they are this old.",
    ),
    holdMs: milliseconds(
      0,
      86_400_000,
      300_000,
      "How long a value that is no longer good stays, as stale or offline.",
    ),
  })
  .prefault({})
  .describe("How long a value stays good in silence.");
