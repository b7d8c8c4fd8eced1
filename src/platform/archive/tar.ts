/** A file or folder of an archive. */
export interface ArchiveEntry {
  /** With slashes, and none in front. */
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly mode: number;
  /** Names and not numbers: another machine may have other numbers. */
  readonly owner: string;
  readonly group: string;
  readonly changedMs: number;
  /** Empty for a folder. */
  readonly content: Buffer;
}

/** An archive is not what it should be; the message says why, as a sentence. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
const FILE = "0";
const FOLDER = "5";
/** Where the header holds what: offset and length (POSIX.1-1988, ustar). */
const fields = {
  name: [0, NAME_BYTES],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  changed: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  owner: [265, 32],
  group: [297, 32],
  prefix: [345, PREFIX_BYTES],
} as const satisfies Record<string, readonly [number, number]>;

/** An archive that `tar` reads too. Throws ArchiveRefused where a name is too long for it. */
export function packTar(entries: readonly ArchiveEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const rest = (BLOCK - (entry.content.length % BLOCK)) % BLOCK;
    return [headerOf(entry), entry.content, Buffer.alloc(rest)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** What `packTar` has packed. Throws ArchiveRefused for anything else, as links. */
export function unpackTar(archive: Buffer): readonly ArchiveEntry[] {
  const entries: ArchiveEntry[] = [];
  for (let at = 0; ; ) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.length < BLOCK) throw new ArchiveRefused("it ends in the middle");
    if (header.every((byte) => byte === 0)) return entries;
    const { size, entry } = readHeader(header);
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length < size) throw new ArchiveRefused("it ends in the middle");
    entries.push({ ...entry, content });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function headerOf({ name, kind, mode, owner, group, changedMs, content }: ArchiveEntry): Buffer {
  const header = Buffer.alloc(BLOCK);
  const put = (field: keyof typeof fields, text: string) => {
    const [offset, length] = fields[field];
    if (Buffer.byteLength(text) > length) throw new ArchiveRefused(`${name} is too long for an archive`);
    header.write(text, offset);
  };
  const octal = (field: keyof typeof fields, value: number) =>
    put(field, value.toString(8).padStart(fields[field][1] - 1, "0"));
  const [prefix, rest] = splitName(name);
  put("prefix", prefix);
  put("name", rest);
  octal("mode", mode);
  octal("uid", 0);
  octal("gid", 0);
  octal("size", content.length);
  octal("changed", Math.max(0, Math.floor(changedMs / 1_000)));
  put("type", kind === "file" ? FILE : FOLDER);
  put("magic", "ustar\u000000");
  put("owner", owner);
  put("group", group);
  put("checksum", `${checksumOf(header).toString(8).padStart(6, "0")}\u0000 `);
  return header;
}

function readHeader(header: Buffer): {
  readonly size: number;
  readonly entry: Omit<ArchiveEntry, "content">;
} {
  const text = (field: keyof typeof fields) => {
    const [offset, length] = fields[field];
    const bytes = header.subarray(offset, offset + length);
    const end = bytes.indexOf(0);
    return bytes.toString("utf8", 0, end === -1 ? length : end);
  };
  const octal = (field: keyof typeof fields) => {
    const digits = text(field).trimEnd();
    // A negative size would lead back, to the same header for ever.
    if (!/^[0-7]+$/.test(digits)) throw new ArchiveRefused("it is no archive that fleetgate has written");
    return Number.parseInt(digits, 8);
  };
  if (text("magic") !== "ustar" || octal("checksum") !== checksumOf(header))
    throw new ArchiveRefused("it is damaged, or no archive");
  const prefix = text("prefix");
  const name = prefix === "" ? text("name") : `${prefix}/${text("name")}`;
  const type = text("type");
  if (type !== FILE && type !== FOLDER)
    throw new ArchiveRefused(`${name} is neither a file nor a folder: fleetgate has not written it`);
  const entry = {
    name,
    kind: type === FILE ? ("file" as const) : ("folder" as const),
    mode: octal("mode"),
    owner: text("owner"),
    group: text("group"),
    changedMs: octal("changed") * 1_000,
  };
  return { size: octal("size"), entry };
}

/** A long name goes into two fields, parted at a slash. */
function splitName(name: string): readonly [string, string] {
  if (Buffer.byteLength(name) <= NAME_BYTES) return ["", name];
  for (let at = name.indexOf("/"); at !== -1; at = name.indexOf("/", at + 1)) {
    const [prefix, rest] = [name.slice(0, at), name.slice(at + 1)];
    if (Buffer.byteLength(rest) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES)
      return [prefix, rest];
  }
  throw new ArchiveRefused(`${name} is too long for an archive`);
}

/** The sum of the bytes, those of the sum itself counted as spaces. */
function checksumOf(header: Buffer): number {
  const [offset, length] = fields.checksum;
  const own = header.subarray(offset, offset + length).reduce((sum, byte) => sum + byte, 0);
  return header.reduce((sum, byte) => sum + byte, 0) - own + length * 0x20;
}
