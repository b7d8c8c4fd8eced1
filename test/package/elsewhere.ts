import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { run } from "./debian-root.ts";

const runFile = promisify(execFile);
const quiet = ["--quiet", "--mode=root"];
const key = { api_key: "key", secret: "s", scope: "fleet" };

/** Lays the next Debian in `root`, without an init that boots. */
export async function layTrixie(root: string): Promise<void> {
  const programs = "systemd,libstdc++6,init-system-helpers";
  await run("mmdebstrap", [...quiet, "--variant=minbase", `--include=${programs}`, "trixie", root]);
}

/**
 * As a new user would: install, init, run. Ends with 0 when the gateway was ready, and has stopped in order.
 */
const trial = `set -eu
cd /trial
dpkg --install fleetgate.deb
dpkg --verify fleetgate
fleetgate init --id plant1 --fleet 127.0.0.1:9 --api-key api-key.json --locations hall-1 --opcua on
fleetgate --version --long
install -d -o fleetgate -g fleetgate -m 0700 /var/lib/fleetgate
: >log
setpriv --reuid=fleetgate --regid=fleetgate --clear-groups \\
    fleetgate run --config /etc/fleetgate/fleetgate.yaml >>log 2>&1 &
gateway=$!
tail --follow --lines=+1 --pid=$gateway log | grep --max-count=1 '"msg":"ready"' || { cat log; exit 1; }
kill $gateway
wait $gateway
`;

/** Installs and starts the package there, without a network. @returns what it said */
export async function tryOnTrixie(root: string, deb: string): Promise<string> {
  const folder = join(root, "trial");
  mkdirSync(folder);
  cpSync(deb, join(folder, "fleetgate.deb"));
  writeFileSync(join(folder, "api-key.json"), JSON.stringify(key));
  writeFileSync(join(folder, "trial.sh"), trial);
  const own = ["--register=no", "--keep-unit", "--private-network", "--quiet", "-D", root];
  const { stdout } = await runFile("systemd-nspawn", [...own, "sh", "/trial/trial.sh"], { timeout: 300_000 });
  return stdout;
}

/** Lays the libraries of another processor's Debian in `root`, unpacked only. */
export async function layArm64(root: string): Promise<void> {
  const libraries = ["--architectures=arm64", "--include=libc6,libstdc++6", "bookworm", root];
  await run("mmdebstrap", [...quiet, "--variant=extract", ...libraries]);
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
  writeFileSync(join(folder, "api-key.json"), JSON.stringify(key), { mode: 0o600 });
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
