import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./debian-root.ts";

/** Lays the libraries of another processor's Debian in `root`, unpacked only. */
export async function layArm64(root: string): Promise<void> {
  const libraries = ["--architectures=arm64", "--include=libc6,libstdc++6", "bookworm", root];
  await run("mmdebstrap", ["--quiet", "--mode=root", "--variant=extract", ...libraries]);
}

/**
 * Starts the package for ARM under an emulator, until it is ready.
 *
 * @param folder an empty one
 * @param root of `layArm64`
 * @returns what it said until then
 */
export async function startOnArm64(folder: string, root: string, deb: string): Promise<string> {
  await run("dpkg-deb", ["--extract", deb, root]);
  const configuration = join(folder, "fleetgate.yaml");
  const fleet = { grpc: { address: "127.0.0.1:9" }, https: "https://127.0.0.1:9", locations: ["hall-1"] };
  const gateway = { id: "plant1", dataDir: join(folder, "data") };
  writeFileSync(configuration, JSON.stringify({ gateway, fleet: { ...fleet, credentials: "api-key.json" } }));
  writeFileSync(
    join(folder, "api-key.json"),
    JSON.stringify({ api_key: "key", secret: "s", scope: "fleet" }),
    { mode: 0o600 },
  );
  const program = join(root, "usr/lib/fleetgate");
  const words = [join(program, "bin/node"), join(program, "dist/main.js"), "run", "--config", configuration];
  return new Promise((resolve, reject) => {
    let said = "";
    const started = execFile("qemu-aarch64-static", ["-L", root, ...words], { timeout: 300_000 }, (error) =>
      said.includes('"msg":"ready"') ? resolve(said) : reject(new Error(`${error?.message}: ${said}`)),
    );
    started.stderr?.on("data", (text: string) => {
      said += text;
      if (said.includes('"msg":"ready"')) started.kill("SIGTERM");
    });
  });
}
