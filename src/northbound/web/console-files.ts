import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
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

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/**
 * Only scripts, styles, fonts and pictures of the gateway itself; nothing inline, and no text becomes markup
 * or script.
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
  "trusted-types 'none'",
].join("; ");

interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly zipped: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Serves the console's files, and its page under each of its addresses. The files are read once: nothing in a
 * request becomes a path of this machine.
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

function send(file: ConsoleFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isZipped = /\bgzip\b/.test(`${request.headers["accept-encoding"] ?? ""}`);
  if (isZipped) reply.header("content-encoding", "gzip");
  return reply
    .type(file.type)
    .headers({ ...file.headers, vary: "accept-encoding" })
    .send(isZipped ? file.zipped : file.bytes);
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
      const type = types[extname(name)];
      if (type === undefined) return [];
      const bytes = readFileSync(path);
      return [[address, { type, bytes, zipped: gzipSync(bytes, { level: 9 }), headers: headersOf(address) }]];
    }),
  );
}

/** The names of assets change with their content; the page names those of its own build. */
function headersOf(address: string): Readonly<Record<string, string>> {
  if (address.startsWith("/assets/")) return { "cache-control": "public, max-age=31536000, immutable" };
  return address.endsWith(".html")
    ? { "content-security-policy": policy, "cache-control": "no-cache" }
    : { "cache-control": "no-cache" };
}
