import ipaddr from "ipaddr.js";
import { z } from "zod";
import type { Rights } from "../../commands/options.ts";
import { roles } from "../../domain/command.ts";
import { isPlainText } from "../../domain/outcome.ts";
import {
  type Anchor,
  type FloorOptions,
  OPEN_USER,
  pointShapes,
  type WebOptions,
} from "../../northbound/web/options.ts";
import type { Live, Now } from "../../platform/live.ts";
import { pngSize } from "../../platform/png.ts";
import { isLoopback } from "../../platform/url-host.ts";
import { file, listen, live, names } from "../fields.ts";
import { type Finding, wrong } from "../finding.ts";
import { fileAt, type NamedFiles, pairAt } from "../named-files.ts";

const LONGEST_NAME = 64;

/** In a command's identity, a slash separates the name from the request id. */
const accountName = z.string().refine((name) => isPlainText(name, LONGEST_NAME) && !name.includes("/"), {
  error: `use 1 to ${LONGEST_NAME} printable characters without /`,
});

const robots = names("Only for these robots, by robot_id. Default: all.").min(1).optional();

const user = live(
  z.strictObject({
    password: file("userPassword", "File of the password, or of its hash."),
    role: z.enum(roles).describe("What the user may do."),
    robots,
  }),
);

const token = live(
  z.strictObject({
    hash: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/, {
        error: "write sha256: and 64 digits, as fleetgate token prints them",
      })
      .describe("Hash of a program's token, as fleetgate token prints it."),
    role: z.enum(roles).describe("What the program may do."),
    robots,
  }),
);

const pair = z.array(z.number()).length(2);
const anchor = z.strictObject({
  pixel: pair.describe("x and y of a pixel, from the upper left corner."),
  map: pair.describe("x and y of the same place on the map."),
});

const drawing = z.strictObject({
  file: file(
    "drawing",
    "A drawing (PNG) below the points, by number of the map: 1 MB and 32 million pixels at most.",
  ),
  at: z
    .array(anchor)
    .length(2)
    .refine(isPlaced, { error: "name two places that differ, on the drawing and on the map" })
    .describe("Two places that lay it on the map: turned and scaled, not stretched."),
});

const number = z.string().regex(/^\d{1,9}$/, { error: "write its number" });

const floor = live(
  z
    .strictObject({
      pointTypes: z
        .record(
          number,
          z.strictObject({
            name: z
              .string()
              .min(1)
              .max(60)
              .describe("Name of points of this type, for which the fleet service has a number only."),
            shape: z.enum(pointShapes).default("dot").describe("Their mark on the floor."),
          }),
        )
        .default({})
        .describe("Types of points, by number."),
      drawings: z.record(number, drawing).default({}).describe("Drawings."),
    })
    .prefault({})
    .describe("What the console's floor shows beside the service's points."),
);

/** `web:` health checks, metrics, the console and the HTTP API. */
export const webSection = z
  .strictObject({
    listen: listen(8080).prefault({}),
    hostnames: names(
      "Names under which it answers, a proxy's too, besides localhost and its address.",
    ).default([]),
    tls: live(
      z
        .strictObject({
          certificate: file("certificate", "Certificate with issuers, and key (PEM files)."),
          key: file("privateKey", "Its key (PEM file)."),
        })
        .optional()
        .describe("TLS."),
      ["changed"],
    ),
    users: z.record(accountName, user).default({}).describe("Users, by name."),
    tokens: z.record(accountName, token).default({}).describe("Programs with a token, by name."),
    commands: live(
      z
        .strictObject({
          from: z
            .array(z.string().refine(isNetwork, { error: "write an address or a network, as 10.1.2.0/24" }))
            .min(1)
            .optional()
            .describe("Addresses and networks that may move robots. Default: all."),
        })
        .prefault({})
        .describe("Commands over this listener."),
    ),
    floor,
  })
  .describe(
    "Health checks, metrics, the console and the HTTP API. Without users and tokens everybody gets in, on loopback only; beyond it tls is needed.",
  );

export type WebSection = z.output<typeof webSection>;

/** What the section and its files say, as the web listener wants it. */
export function webOptions(section: WebSection, files: NamedFiles): Now<WebOptions> {
  return {
    listen: section.listen,
    hostnames: section.hostnames,
    tls: pairAt(files, "web", "tls"),
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
    floor: floorOptions(section, files),
  };
}

/** The options of a running gateway, of which a reload changes some. */
export function runningWeb(live: Live<Now<WebOptions>>): WebOptions {
  return {
    ...live.now(),
    tls: live.pick(({ tls }) => tls),
    access: live.pick(({ access }) => access),
    floor: live.pick(({ floor }) => floor),
  };
}

function floorOptions({ floor: { pointTypes, drawings } }: WebSection, files: NamedFiles): FloorOptions {
  return {
    pointTypes: Object.entries(pointTypes).map(([type, { name, shape }]) => ({
      type: Number(type),
      name,
      shape,
    })),
    drawings: Object.entries(drawings).flatMap(([mapId, { at }]) => {
      const bytes = Buffer.from(
        fileAt(files, "web", "floor", "drawings", mapId, "file")?.text ?? "",
        "latin1",
      );
      const size = pngSize(bytes);
      const [first, second] = at.map(anchorOf);
      if (size === null || first === undefined || second === undefined) return [];
      return [{ mapId: Number(mapId), bytes, ...size, first, second }];
    }),
  };
}

function anchorOf({ pixel, map }: z.output<typeof anchor>): Anchor {
  const place = ([x = 0, y = 0]: readonly number[]) => ({ x, y });
  return { pixel: place(pixel), map: place(map) };
}

function isPlaced([first, second]: ReadonlyArray<z.output<typeof anchor>>): boolean {
  if (first === undefined || second === undefined) return false;
  const differ = (a: readonly number[], b: readonly number[]) => a[0] !== b[0] || a[1] !== b[1];
  return differ(first.pixel, second.pixel) && differ(first.map, second.map);
}

/** The users and tokens of the section with their roles, for the check of rights. */
export function webAccounts(section: WebSection | undefined): Rights["accounts"] {
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

/** Keys of `web` that contradict, or need, each other. */
export function webFindings(web: WebSection): readonly Finding[] {
  const findings: Finding[] = [];
  const names = Object.keys(web.users);
  const isOpen = names.length === 0 && Object.keys(web.tokens).length === 0;
  if (!isLoopback(web.listen.host)) {
    const path = ["web", "listen", "host"];
    const reach = `${web.listen.host} is reached from other machines`;
    if (isOpen)
      findings.push(wrong(path, `${reach}: give web users or tokens; without them everybody is let in`));
    if (web.tls === undefined)
      findings.push(
        wrong(path, `${reach}: give web.tls; without it passwords and tokens travel in the clear`),
      );
  }
  for (const name of names)
    if (Object.hasOwn(web.tokens, name))
      findings.push(wrong(["web", "tokens", name], "is the name of a user too; choose another"));
  return [...findings, ...openNameFindings(web)];
}

function openNameFindings(web: WebSection): readonly Finding[] {
  return (["users", "tokens"] as const).flatMap((kind) =>
    Object.hasOwn(web[kind], OPEN_USER)
      ? [wrong(["web", kind, OPEN_USER], "means everybody while nobody must log in; choose another name")]
      : [],
  );
}
