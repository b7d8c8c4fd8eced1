import ipaddr from "ipaddr.js";
import { z } from "zod";
import type { DispatcherOptions } from "../../commands/options.ts";
import { roles } from "../../domain/command.ts";
import { isPlainText } from "../../domain/refusals.ts";
import type { WebOptions } from "../../northbound/web/options.ts";
import { file, listen, names } from "../fields.ts";
import { fileAt, type NamedFiles } from "../named-files.ts";

const LONGEST_NAME = 64;

/** In a command's identity a slash separates the name from the request id. */
const accountName = z.string().refine((name) => isPlainText(name, LONGEST_NAME) && !name.includes("/"), {
  error: `use 1 to ${LONGEST_NAME} printable characters without /`,
});

const robots = names("Only these robots may be commanded, by robot_id. Left out: all.").min(1).optional();

const user = z.strictObject({
  password: file(
    "userPassword",
    "File of the user's password, as it is or as scrypt:<salt base64>:<hash base64>.",
  ),
  role: z.enum(roles).describe("observer reads, operator moves robots, engineer also sets up webhooks."),
  robots,
});

const token = z.strictObject({
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, { error: "write sha256: and 64 digits, as fleetgate token prints them" })
    .describe("The token's hash, as fleetgate token prints it. The token itself stands nowhere."),
  role: z.enum(roles).describe("What the program may do."),
  robots,
});

/** `web:` health checks, metrics, the console and the HTTP API. */
export const webSection = z
  .strictObject({
    listen: listen(8080).prefault({}),
    hostnames: names(
      "Names under which it answers, besides localhost and the address at which it is reached; a proxy's too.",
    ).default([]),
    tls: z
      .strictObject({
        certificate: file("certificate", "File of the certificate and, after it, its issuers (PEM)."),
        key: file("privateKey", "File of the key of certificate (PEM)."),
      })
      .optional()
      .describe("With it, the listener speaks TLS. Beyond loopback it must."),
    users: z
      .record(accountName, user)
      .default({})
      .describe("Who may log in, by name. Without users and tokens everybody is let in, on loopback only."),
    tokens: z
      .record(accountName, token)
      .default({})
      .describe("Programs that send a token instead of a log-in, by name."),
    commands: z
      .strictObject({
        from: z
          .array(z.string().refine(isNetwork, { error: "write an address or a network, as 10.1.2.0/24" }))
          .min(1)
          .optional()
          .describe("Addresses and networks from which robots may be moved. Left out: all."),
      })
      .prefault({})
      .describe("Commands over this listener."),
  })
  .describe(
    "Health checks (/healthz, /livez, /readyz), metrics (/metrics), the console and the HTTP API (/api/v1). Leave the section out to switch it off.",
  );

export type WebSection = z.output<typeof webSection>;

/** What the section and its files say, as the web listener wants it. */
export function webOptions(section: WebSection, files: NamedFiles): WebOptions {
  const cert = fileAt(files, "web", "tls", "certificate")?.text;
  const key = fileAt(files, "web", "tls", "key")?.text;
  return {
    listen: section.listen,
    hostnames: section.hostnames,
    tls: cert === undefined || key === undefined ? null : { cert, key },
    access: {
      users: Object.entries(section.users).map(([name, { role, robots: own = null }]) => ({
        name,
        role,
        robots: own,
        password: fileAt(files, "web", "users", name, "password")?.text ?? "",
      })),
      tokens: Object.entries(section.tokens).map(([name, { hash, role, robots: own = null }]) => ({
        name,
        role,
        robots: own,
        digest: hash.slice("sha256:".length),
      })),
      movesFrom: section.commands.from ?? null,
    },
  };
}

/** The users and tokens of the section with their roles, for the one place that judges rights. */
export function webAccounts(section: WebSection | undefined): DispatcherOptions["accounts"] {
  if (section === undefined) return [];
  return (["users", "tokens"] as const).flatMap((kind) =>
    Object.entries(section[kind]).map(([name, { role, robots: own }]) => ({
      source: { protocol: "web", name } as const,
      role,
      key: `web.${kind}.${name}.role`,
      ...(own === undefined ? {} : { bound: { robots: own, key: `web.${kind}.${name}.robots` } }),
    })),
  );
}

function isNetwork(text: string): boolean {
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
}
