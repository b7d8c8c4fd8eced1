import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { publicRoute } from "./access/session-routes.ts";
import { sendProblem } from "./problem.ts";

/** The first parts of the console's addresses: its script shows the page of each. */
const pages = [
  "/",
  "/robots/*",
  "/commands",
  "/commands/*",
  "/send",
  "/stations",
  "/alarms",
  "/tags",
  "/tags/*",
  "/connections",
];
/** The page of the demo. */
const simulatorPage = "/simulator";
/** The folder of the manual, whose pages `scripts/build-manual.mjs` makes. */
const manual = "/docs";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".json": "application/json",
};
/** Compressed already. */
const packed = [".woff2", ".png"];
/** Of the examples that the manual has, as a browser shows them. */
const plainText = "text/plain; charset=utf-8";

/**
 * Only scripts, styles, fonts and pictures of the gateway itself; nothing inline, and no text becomes markup
 * or script. The only script that a page starts by its address is the worker that draws the floor.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types floor-worker",
].join("; ");

interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Null: it is not worth it. */
  readonly zipped: (() => Promise<Buffer>) | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
}

const zip = promisify(gzip);

/**
 * Serves the console's files with the manual, and the console's page under each of its addresses. None of
 * them says anything of the plant, so they need no log-in. The files are read once: nothing in a request
 * becomes a path of this machine.
 *
 * @param folder the folder of the build; null: nothing was built
 * @param hasSimulator whether a simulated fleet service runs beside the gateway
 */
export function addConsole(server: FastifyInstance, folder: string | null, hasSimulator = false): void {
  const files = folder === null ? new Map<string, ConsoleFile>() : readConsole(folder);
  for (const [path, file] of files)
    if (path !== "/index.html") server.get(path, publicRoute, (request, reply) => send(file, request, reply));
  const page = files.get("/index.html");
  for (const path of hasSimulator ? [...pages, simulatorPage] : pages) {
    server.get(path, publicRoute, (request, reply) =>
      page === undefined
        ? sendProblem(reply, 503, "the console is not built: run npm run build")
        : send(page, request, reply),
    );
  }
  const first = files.get(`${manual}/index.html`);
  if (first !== undefined) {
    server.get(`${manual}/`, publicRoute, (request, reply) => send(first, request, reply));
    server.get(manual, publicRoute, (_request, reply) => reply.redirect(`${manual}/`, 308));
  }
  if (page !== undefined) addNoSuchPage(server, page);
}

/** A person who mistypes an address gets the console's own page; a program gets a problem. */
function addNoSuchPage(server: FastifyInstance, page: ConsoleFile): void {
  server.addHook("onRequest", async (request, reply) => {
    const { method, url, routeOptions, headers } = request;
    if (method !== "GET" || routeOptions.url !== undefined || reply.sent) return;
    if (/^\/(api|assets)(\/|\?|$)/.test(url) || !/\btext\/html\b/.test(headers.accept ?? "")) return;
    return send(page, request, reply.code(404));
  });
}

async function send(
  { type, bytes, zipped, headers, etag }: ConsoleFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.headers({ ...headers, etag, vary: "accept-encoding" });
  const { "if-none-match": known = "", "accept-encoding": encodings } = request.headers;
  const isKnown = known.split(",").some((each) => each.trim() === etag);
  if (isKnown && reply.statusCode === 200) return reply.code(304).send();
  reply.type(type);
  if (zipped === null || !/\bgzip\b/.test(`${encodings ?? ""}`)) return reply.send(bytes);
  return reply.header("content-encoding", "gzip").send(await zipped());
}

/** The files by their address. */
function readConsole(folder: string): ReadonlyMap<string, ConsoleFile> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    found.flatMap(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const address = `/${relative(folder, path).split(sep).join("/")}`;
      const extension = extname(name);
      const type = types[extension] ?? (address.startsWith(`${manual}/files/`) ? plainText : undefined);
      if (type === undefined) return [];
      const bytes = readFileSync(path);
      const zipped = packed.includes(extension) ? null : once(() => zip(bytes, { level: 9 }));
      return [[address, { type, bytes, zipped, headers: headersOf(address), etag: etagOf(bytes) }]];
    }),
  );
}

/** Compressed when somebody asks first: at the start, the manual would keep the gateway from its work. */
function once(make: () => Promise<Buffer>): () => Promise<Buffer> {
  let made: Promise<Buffer> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** Weak, because it is that of the compressed bytes too. */
function etagOf(bytes: Buffer): string {
  return `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
}

/**
 * The names of assets change with their content; the page names those of its build. One of them is a worker,
 * for which the policy of its response counts.
 */
function headersOf(address: string): Readonly<Record<string, string>> {
  const isAsset = address.startsWith("/assets/");
  return {
    "cache-control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
    ...(isAsset || address.endsWith(".html") ? { "content-security-policy": policy } : {}),
  };
}
