// What compiled programs contain, which no package of npm names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/** Of `process.versions`: licence, project page, and the vendor and product of the NVD where it has them. */
const ofNode = {
  acorn: ["MIT", "https://github.com/acornjs/acorn", "acornjs:acorn"],
  ada: ["MIT OR Apache-2.0", "https://github.com/ada-url/ada"],
  amaro: ["MIT", "https://github.com/nodejs/amaro"],
  ares: ["MIT", "https://c-ares.org/", "c-ares:c-ares"],
  brotli: ["MIT", "https://github.com/google/brotli", "google:brotli"],
  cjs_module_lexer: ["MIT", "https://github.com/nodejs/cjs-module-lexer"],
  cldr: ["Unicode-3.0", "https://cldr.unicode.org/"],
  icu: ["Unicode-3.0", "https://icu.unicode.org/", "unicode:international_components_for_unicode"],
  llhttp: ["MIT", "https://github.com/nodejs/llhttp", "llhttp:llhttp"],
  merve: ["MIT OR Apache-2.0", "https://github.com/nodejs/merve"],
  nbytes: ["MIT", "https://github.com/nodejs/nbytes"],
  ncrypto: ["MIT", "https://github.com/nodejs/ncrypto"],
  nghttp2: ["MIT", "https://nghttp2.org/", "nghttp2:nghttp2"],
  nghttp3: ["MIT", "https://github.com/ngtcp2/nghttp3"],
  ngtcp2: ["MIT", "https://github.com/ngtcp2/ngtcp2"],
  openssl: ["Apache-2.0", "https://openssl-library.org/", "openssl:openssl"],
  simdjson: ["Apache-2.0 OR MIT", "https://simdjson.org/", "simdjson:simdjson"],
  simdutf: ["Apache-2.0 OR MIT", "https://github.com/simdutf/simdutf"],
  sqlite: ["blessing", "https://www.sqlite.org/", "sqlite:sqlite"],
  tz: ["LicenseRef-fleetgate-tz-public-domain", "https://www.iana.org/time-zones"],
  undici: ["MIT", "https://undici.nodejs.org/", "nodejs:undici"],
  uv: ["MIT", "https://libuv.org/", "libuv:libuv"],
  uvwasi: ["MIT", "https://github.com/nodejs/uvwasi"],
  v8: ["BSD-3-Clause", "https://v8.dev/", "google:v8"],
  zlib: ["Zlib", "https://www.zlib.net/", "zlib:zlib"],
  zstd: ["BSD-3-Clause OR GPL-2.0-only", "https://facebook.github.io/zstd/", "facebook:zstandard"],
};
/** Numbers of interfaces and standards, and Node.js itself. */
const noLibraries = ["node", "modules", "napi", "unicode"];

/**
 * The libraries inside Node.js, as the shipped version names them itself.
 *
 * @param program a Node.js of that version that runs on this machine
 */
export function contentsOfNode(program) {
  const versions = JSON.parse(run(program, ["-p", "JSON.stringify(process.versions)"]));
  return Object.entries(versions).flatMap(([name, version]) => {
    // An empty version: built without it.
    if (noLibraries.includes(name) || version === "") return [];
    if (ofNode[name] === undefined)
      throw new Error(`Node.js contains ${name}: look, and add it to contents.mjs`);
    const [licence, url, product] = ofNode[name];
    const cpe = product && `cpe:2.3:a:${product}:${version.split("-")[0]}:*:*:*:*:*:*:*`;
    return [{ name, version, licence, url, cpe }];
  });
}

/** The libraries inside the binary of lmdb, by the headers that its package has. */
export function contentsOfLmdb(root) {
  const dependencies = join(root, "node_modules/lmdb/dependencies");
  const versionIn = (file, prefix, last) => {
    const text = readFileSync(join(dependencies, file), "utf8");
    const numbers = ["MAJOR", "MINOR", last].map(
      (part) => new RegExp(`define ${prefix}_VERSION_${part}\\s+(\\d+)`).exec(text)?.[1],
    );
    if (numbers.includes(undefined)) throw new Error(`${file} names no version: look, and mend contents.mjs`);
    return numbers.join(".");
  };
  const found = { licence: "OLDAP-2.8", url: "https://www.symas.com/lmdb" };
  const lmdb = versionIn("lmdb/libraries/liblmdb/lmdb.h", "MDB", "PATCH");
  const lz4 = versionIn("lz4/lib/lz4.h", "LZ4", "RELEASE");
  return [
    { name: "LMDB", version: lmdb, ...found, cpe: `cpe:2.3:a:symas:lmdb:${lmdb}:*:*:*:*:*:*:*` },
    {
      name: "LZ4",
      version: lz4,
      licence: "BSD-2-Clause",
      url: "https://lz4.org/",
      cpe: `cpe:2.3:a:lz4_project:lz4:${lz4}:*:*:*:*:*:*:*`,
    },
  ];
}
