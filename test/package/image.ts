import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { run } from "./debian-root.ts";

/** A program whose output is read. */
export type Running = ChildProcessByStdio<null, Readable, Readable>;

/** What the image says of itself, as Docker reads it. */
export interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Labels: Readonly<Record<string, string>>;
}

/** An image, made by buildah without a daemon and without a network. */
export interface Image {
  readonly config: ImageConfig;
  /** Runs a command in a container of it, as its user. It shares the machine's network. */
  run(volumes: readonly string[], command: readonly string[]): Running;
  /** Removes it, with all that was made for it. */
  remove(): Promise<void>;
}

const BASE = "localhost/debian-base";
const IMAGE = "localhost/fleetgate";

/**
 * Makes the image of the Dockerfile on a base that is made of a Debian.
 *
 * @param work an empty folder
 * @param debian the folder of the Debian
 * @param tarball what `npm run package` has made
 * @param version the tarball's; one of another version lies beside it
 */
export async function makeImage(
  work: string,
  debian: string,
  tarball: string,
  version: string,
): Promise<Image> {
  const storage = join(work, "storage.conf");
  mkdirSync(join(work, "context/dist-packages"), { recursive: true });
  writeFileSync(storage, `[storage]\ndriver = "vfs"\nrunroot = "${work}/run"\ngraphroot = "${work}/graph"\n`);
  for (const name of ["Dockerfile", ".dockerignore"]) cpSync(name, join(work, "context", name));
  cpSync(tarball, join(work, "context/dist-packages", basename(tarball)));
  writeFileSync(join(work, "context/dist-packages", basename(tarball).replace(version, "0.0.1")), "older");
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: storage };
  const buildah = async (...args: readonly string[]) =>
    (await run("buildah", args, { env, maxBuffer: 64_000_000 })).stdout.trim();

  const scratch = await buildah("from", "scratch");
  await buildah("add", "--quiet", scratch, debian, "/");
  await buildah("commit", "--quiet", "--rm", scratch, BASE);
  // HEALTHCHECK is of Docker's format only.
  const kind = ["--isolation", "chroot", "--pull-never", "--format", "docker"];
  const given = ["--build-arg", `BASE=${BASE}`, "--build-arg", `VERSION=${version}`];
  await buildah("bud", ...kind, ...given, "--tag", IMAGE, join(work, "context"));
  const container = await buildah("from", "--pull-never", IMAGE);
  const inspected: { readonly Docker: { readonly config: ImageConfig } } = JSON.parse(
    await buildah("inspect", container),
  );
  return {
    config: inspected.Docker.config,
    run(volumes, command) {
      const mounts = volumes.flatMap((volume) => ["--volume", volume]);
      return spawn("buildah", ["run", "--isolation", "chroot", ...mounts, container, "--", ...command], {
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
    },
    async remove() {
      await buildah("rm", "--all");
      await buildah("rmi", "--all", "--force");
    },
  };
}

/** Resolves with the line that has this text; rejects when the program ends first. */
export function lineOf({ stderr }: Running, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    createInterface(stderr)
      .on("line", (line) => {
        said.push(line);
        if (line.includes(text)) resolve(line);
      })
      .on("close", () => reject(new Error(`it ended without "${text}": ${said.join("\n")}`)));
  });
}

/** The process that a program has started, and that itself has started none. */
export async function innermostOf({ pid }: ChildProcess): Promise<number> {
  const { stdout } = await run("ps", ["-eo", "pid=,ppid="]);
  const childOf = new Map(
    stdout.split("\n").map((line) => {
      const [child, parent] = line.trim().split(/ +/).map(Number);
      return [parent, child] as const;
    }),
  );
  let innermost = pid;
  for (let at = pid; at !== undefined; at = childOf.get(at)) innermost = at;
  if (innermost === undefined || innermost === pid) throw new Error("it has started nothing");
  return innermost;
}
