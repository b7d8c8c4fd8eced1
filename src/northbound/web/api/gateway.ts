import { z } from "zod";
import { clusterModel } from "../../../models/cluster.ts";
import { page, session, time, type ViewOf } from "../../../models/parts.ts";

const partState = z.enum(["starting", "up", "degraded", "down"]);

export const part = z.strictObject({
  state: partState,
  since: time.nullable().describe("Null: not known."),
  detail: z.string().describe("Why; empty where all is well."),
  figures: z.record(z.string(), z.number()),
});

export const health = z.strictObject({
  state: partState.describe("The worst of the parts."),
  at: time,
  gateway_id: z.string(),
  version: z.string(),
  session_id: session,
  started_at: time,
  parts: z.record(z.string(), part),
});

/** The body of `PUT /api/v1/log-level`. */
export const logLevelRequest = z.strictObject({
  component: z.string().optional().describe("As GET lists it; left out, or *: all."),
  level: z.string(),
});

/** The body of `POST /api/v1/handover`. */
export const handoverRequest = z.strictObject({
  to: z.string().optional().describe("The box that is to lead; left out: the other one."),
  drill: z.boolean().optional().describe("Whether it hands back."),
});

/** The body of `POST /api/v1/fence`. */
export const fenceRequest = z.strictObject({
  member: z.string().describe("The box that is off."),
});

export const problem = z.strictObject({
  type: z.literal("about:blank"),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("What is wrong, where, and what would be right."),
  outcome: z.string().optional(),
  code: z.string().optional(),
  retry_safe: z.boolean().optional(),
});

export type Health = ViewOf<typeof health>;
export type Problem = ViewOf<typeof problem>;

const peer = z.strictObject({
  kind: z.enum(["broker", "session", "reverse", "reader"]),
  name: z
    .string()
    .describe("The user; of a broker or a reverse connection its address. Empty: nobody has logged on yet."),
  client: z.string().describe("The program, as it calls itself; empty: it says nothing."),
  address: z.string().describe("Empty: not known."),
  state: z
    .enum(["connected", "waiting", "lost", "unused"])
    .describe(
      "waiting: nobody has logged on yet; of a reverse connection: no secure channel is open yet. lost: its connection is gone, and it is closed if it does not come back. unused: another one is used instead.",
    ),
  since: time.nullable(),
  detail: z.string().describe("Why; empty where nothing is to be said."),
});

/** Anything that is connected to the gateway, or to which the gateway is connected. */
export const connection = z.strictObject({
  name: z.string(),
  ...part.shape,
  peer_count: z.int().min(0).describe("Of all; at most 500 are listed."),
  peers: z.array(peer),
});

const figures = z.record(z.string(), z.number());

const expiry = z.strictObject({
  kind: z.enum(["token", "certificate"]),
  name: z.string().describe("Of a certificate the key of the configuration that names it."),
  path: z.string().nullable(),
  ends_at: time.nullable().describe("Null: it cannot be read."),
  seconds_left: z.int().nullable(),
});

export const connections = z.strictObject({
  ...page,
  connections: z.array(connection),
  queues: z
    .array(z.strictObject({ name: z.string(), figures }))
    .describe("What waits for each, and what was dropped."),
  cluster: clusterModel.optional().describe("Left out without a cluster."),
  disk: z.strictObject({
    path: z.string(),
    free_bytes: z.int().nullable(),
    detail: z.string().describe("What is wrong; empty where nothing is."),
  }),
  expiries: z.array(expiry).describe("The token for the fleet service, and the gateway's own certificates."),
});

export type Connection = ViewOf<typeof connection>;
export type Connections = ViewOf<typeof connections>;
export type Expiry = ViewOf<typeof expiry>;

const thumbprint = z
  .string()
  .regex(/^[0-9a-f]{40}$/)
  .describe("SHA-1 in hexadecimal, as OPC UA tools show it.");

/** The certificate of an OPC UA client, or of a CA. Its owner wrote the texts. */
export const certificate = z.strictObject({
  thumbprint,
  state: z.enum(["waiting", "trusted"]).describe("waiting: nobody has approved it, or it was rejected."),
  since: time,
  subject: z.string(),
  issuer: z.string(),
  application_uri: z.string().nullable(),
  ca: z.boolean().describe("All clients that it has signed are trusted, too."),
  configured: z.boolean().describe("The configuration trusts it: it cannot be rejected here."),
  valid_from: time,
  valid_to: time,
  warnings: z.array(z.string()),
});

export const certificates = z.strictObject({
  ...page,
  certificates: z.array(certificate),
  why_not: z.string().describe("Why you cannot decide on them; empty where you can."),
});

/** The body of `PUT /api/v1/certificates/{thumbprint}`. */
export const certificateRequest = z.strictObject({
  trusted: z.boolean().describe("Whether the client is trusted."),
  password: z.string().describe("Yours, again."),
});

export type Certificate = ViewOf<typeof certificate>;
export type Certificates = ViewOf<typeof certificates>;
export type CertificateRequest = ViewOf<typeof certificateRequest>;
