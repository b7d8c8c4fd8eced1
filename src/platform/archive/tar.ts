import { packTar as pack, unpackTar as unpack } from "modern-tar";

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

/** An archive that `tar` reads too. */
export async function packTar(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const packed = await pack(
    entries.map(({ name, kind, mode, owner, group, changedMs, content }) => ({
      header: {
        name,
        type: kind === "file" ? ("file" as const) : ("directory" as const),
        size: content.length,
        mode,
        uname: owner,
        gname: group,
        mtime: new Date(changedMs),
      },
      body: content,
    })),
  );
  return Buffer.from(packed);
}

/** The files and folders of an archive. Throws ArchiveRefused for anything else, as links. */
export async function unpackTar(archive: Buffer): Promise<readonly ArchiveEntry[]> {
  const found = await unpack(archive, { strict: true }).catch((cause: unknown) => {
    throw new ArchiveRefused("it is damaged, or no archive", { cause });
  });
  return found.map(({ header, data = [] }) => {
    const { name, type, mode = 0, uname = "", gname = "", mtime } = header;
    if (type !== "file" && type !== "directory")
      throw new ArchiveRefused(`${name} is neither a file nor a folder: fleetgate has not written it`);
    const changedMs = mtime?.getTime() ?? 0;
    return {
      name,
      kind: type === "file" ? ("file" as const) : ("folder" as const),
      mode,
      owner: uname,
      group: gname,
      changedMs,
      content: Buffer.from(data),
    };
  });
}
