import { z } from "zod";
import { clusterModel } from "../../../models/cluster.ts";
import { time, type ViewOf } from "../../../models/parts.ts";
import { part } from "./gateway.ts";
import { page } from "./parts.ts";

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
