// The plant for a foreign stack: the demo, open to all of this machine, and a second gateway at its fleet
// that takes signed and encrypted sessions alone.
import { execFileSync, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { stringify } from "yaml";

const program = join(import.meta.dirname, "../../dist/main.js");
const [DEMO_PORT, SECURE_PORT] = [21_400, 21_410];
const USER = "scada";
const PASSWORD = "try it";

/** Starts it. Resolves when robots can be commanded. It ends with this process. */
export async function startPlant() {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-try-"));
  const children = [];
  process.once("exit", () => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (output, isReady, ...words) => {
    const child = spawn(process.execPath, [program, ...words], { cwd: folder });
    children.push(child);
    return new Promise((resolve, reject) => {
      createInterface(child[output]).on("line", (line) => isReady(line) && resolve(line));
      child.once("exit", (code) => reject(new Error(`fleetgate ${words[0]} ended with ${code}`)));
    });
  };
  const isReady = (line) => JSON.parse(line).event === "ready";
  const demo = await start("stdout", isReady, "demo", "--json", "--no-lively", "--base-port", `${DEMO_PORT}`);
  const { fleet, opcua } = JSON.parse(demo);
  const config = writeConfiguration(folder, fleet);
  await start("stderr", (line) => line.includes('"msg":"ready"'), "run", "--config", config);
  const { certificate, key, thumbprint } = makeCertificate(folder);
  return {
    url: opcua,
    happen: (incident) => happen(fleet, incident),
    secure: {
      url: `opc.tcp://localhost:${SECURE_PORT}`,
      certificate,
      key,
      user: USER,
      password: PASSWORD,
      approve: () =>
        void execFileSync(process.execPath, [program, "certs", "approve", thumbprint, "--config", config]),
    },
  };
}

/** Lets an incident happen to a simulated robot. */
async function happen({ https, ca }, incident) {
  const options = { method: "POST", ca: readFileSync(ca), headers: { "content-type": "application/json" } };
  const sent = request(`${https}/simulator/incidents`, options);
  sent.end(JSON.stringify(incident));
  const [answer] = await once(sent, "response");
  answer.resume();
  if (answer.statusCode >= 300) throw new Error(`the simulator answers ${answer.statusCode}`);
}

function writeConfiguration(folder, fleet) {
  const path = join(folder, "fleetgate.yaml");
  writeFileSync(join(folder, "password"), PASSWORD, { mode: 0o600 });
  const { grpc, https, ca, credentials } = fleet;
  const configuration = {
    gateway: { id: "secure", dataDir: "data" },
    fleet: { grpc: { address: grpc }, https, ca, credentials, robots: ["cart-01"] },
    opcua: {
      listen: { host: "127.0.0.1", port: SECURE_PORT },
      hostname: "localhost",
      users: { [USER]: { password: "password", role: "operator" } },
    },
  };
  writeFileSync(path, stringify(configuration), { mode: 0o600 });
  return path;
}

/** The client's certificate, in the forms that the stacks read. */
function makeCertificate(folder) {
  const [pem, key, certificate] = ["client.pem", "client.key.pem", "client.der"].map((name) =>
    join(folder, name),
  );
  const names = "subjectAltName=URI:urn:fleetgate:try,DNS:localhost";
  const usage = "keyUsage=digitalSignature,nonRepudiation,keyEncipherment,dataEncipherment";
  const made = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=try"];
  const written = ["-addext", names, "-addext", usage, "-keyout", key, "-out", pem];
  execFileSync("openssl", ["req", ...made, ...written], { stdio: "ignore" });
  const parsed = new X509Certificate(readFileSync(pem));
  writeFileSync(certificate, parsed.raw);
  return { certificate, key, thumbprint: parsed.fingerprint.replaceAll(":", "") };
}
