import type { CommandLine } from "./page.ts";

/** What a command line of a page does when it is run, or why this test does not run it. */
export type Expectation =
  | {
      readonly kind: "ends";
      /** Any of them where the line says how the demo is. */
      readonly code: number | readonly number[];
      readonly prints: RegExp;
      /** Run after it, so that the next line finds what its page says. */
      readonly undo?: string;
      /** It shows values, which an earlier line may have made stale: it is run until it prints this. */
      readonly again?: boolean;
    }
  /**
   * It follows something: it runs until it has printed this. A later line of the page causes it, or `cause`,
   * which is run when all lines have begun.
   */
  | { readonly kind: "follows"; readonly prints: RegExp; readonly cause?: string }
  /** Another test runs it: `file` has this text. */
  | { readonly kind: "elsewhere"; readonly file: string; readonly has: string }
  | { readonly kind: "not run"; readonly because: string };

const SUCCEEDED = /^succeeded$/m;

/** A developer's line: what it names exists, and CI runs it. */
const ci = (has: string): Expectation => ({ kind: "elsewhere", file: ".ci/run", has });
const script = (name: string): Expectation => ({
  kind: "elsewhere",
  file: "package.json",
  has: `"${name}":`,
});
const demoTest: Expectation = { kind: "elsewhere", file: "test/cli/demo.test.ts", has: '"demo"' };
/** A line that the booted Debian of `test/package/boot.test.ts` runs. */
const booted = (has: string): Expectation => ({
  kind: "elsewhere",
  file: "test/package/in-container.sh",
  has: `    ${has}`,
});
const upgraded = (has: string): Expectation => ({
  kind: "elsewhere",
  file: "test/package/upgrades.sh",
  has: `    ${has}`,
});
/** A line for the broker of a plant. */
const atPlant: Expectation = {
  kind: "elsewhere",
  file: "test/pages/plant-lines.test.ts",
  has: "flatMap(commandLines)",
};
/** A line for etcd, or for the boxes of a cluster. */
const onThreeMachines: Expectation = {
  kind: "elsewhere",
  file: "test/pages/cluster.test.ts",
  has: '"docs/cluster.md"',
};
const container: Expectation = { kind: "not run", because: "needs a container engine and its images" };

/** Every command line of the pages: the first row that fits counts. */
export const expectations: ReadonlyArray<readonly [line: RegExp, expectation: Expectation]> = [
  [/^cd cluster$/, onThreeMachines],
  [/^fleetgate init --cluster /, onThreeMachines],
  [/^sudo fleetgate status --active$/, onThreeMachines],
  [/^sudo fleetgate handover( --test)?$/, onThreeMachines],
  [/^sudo fleetgate fence-confirm box-a$/, onThreeMachines],
  [/^sudo systemctl (kill --signal=STOP fleetgate|restart keepalived)$/, onThreeMachines],
  [/^(sudo )?fleetgate journal (to|from)-cluster$/, onThreeMachines],
  [/^(sudo )?(systemctl|install) .*(\betcd\b|\bcluster\b)/, onThreeMachines],
  [/^npm ci && npm start -- --no-lively$/, { ...demoTest, has: '"--no-lively"' }],
  [/^npm ci && npm start$/, demoTest],
  [
    /^npm ci && npm start -- --sparkplug --no-lively$/,
    { ...demoTest, file: "test/pages/shell.ts", has: '"--sparkplug"' },
  ],
  [/^npm start -- …$/, demoTest],
  [
    /^npm (ci && npm )?run package\b/,
    { kind: "elsewhere", file: "test/package/boot.test.ts", has: "packaging/package.mjs" },
  ],
  [/^node dist\\main\.js demo$/, { kind: "not run", because: "needs Windows" }],
  [
    /^npx vitest run test\/cluster\/warm$/,
    { kind: "elsewhere", file: "test/cluster/warm/warm.test.ts", has: "warm" },
  ],
  [
    /^npm install node-red@5 node-red-contrib-opcua /,
    { kind: "elsewhere", file: "foreign/package.json", has: '"node-red": "5.' },
  ],
  [/^npm run foreign$/, ci("npm run --silent foreign")],
  [/^npm run try:foreign -- DIR$/, script("try:foreign")],
  [/^npm run bench\b/, script("bench")],
  [/^npm run chaos\b/, script("chaos")],
  [/^npm run soak\b/, script("soak")],
  [/^npm run screenshots\b/, script("screenshots")],
  [/^npm run lint$/, ci("npm run lint")],
  [/^npm (ci && npm )?test$/, ci("npm test")],
  [/^npm run test:all$/, ci("npm run test:all")],
  [/^npm run (build|generate)$/, script("generate")],
  [
    /^node scripts\/prose\.mjs --fix$/,
    { kind: "elsewhere", file: "test/pages/prose.test.ts", has: '"scripts/prose.mjs", "--fix"' },
  ],
  [
    /^MAKE_RECORDING=yes npx vitest run test\/e2e\/replay$/,
    { kind: "not run", because: "it would replace the recording that other tests are held to" },
  ],
  [
    /^LARGE_REQUEST_FIGURES=/,
    {
      kind: "elsewhere",
      file: "test/northbound/opcua/large-requests-harness.ts",
      has: "LARGE_REQUEST_FIGURES",
    },
  ],
  [/vitest run test\/(?:state|commands)$/, ci("npm test")],
  [/^npx vitest run test\/contract test\/fleet\/operations /, ci("npm run test:all")],
  [/vitest run test\/e2e\/record\.test\.ts -u && git diff /, ci("npm test")],
  [/vitest run test\/daemon\/conveyor-restart\.test\.ts$/, ci("npm run test:all")],
  [
    /^npx vitest run test\/daemon\/(?:decidability\.test\.ts test\/daemon\/)?crash\.test\.ts$/,
    ci("npm run test:all"),
  ],
  [/vitest run test\/contract -t WHK-18$/, ci("npm test")],

  [/^npx mqtt sub .*robots\/\+\/battery'$/, { kind: "follows", prints: /robots\/cart-01\/battery \{/ }],
  [/^node dist\/main\.js watch /, { kind: "follows", prints: /Robots\.cart-01\.Valid = true/ }],
  [/^CI=true npx vitest run test\/package\/boot\.test\.ts$/, ci("npm run test:all")],
  [/^fleetgate watch --user /, { kind: "elsewhere", file: "test/cli/watch.test.ts", has: '"watch"' }],
  [
    /^sudo systemctl enable (systemd-time-wait-sync|chrony-wait)/,
    { kind: "not run", because: "it needs a time server" },
  ],
  [/ call CreateMission /, { kind: "ends", code: 0, prints: SUCCEEDED }],
  [/call --list$/, { kind: "ends", code: 0, prints: /^CreateMission/m }],
  [/call --override ROBOT$/, { kind: "ends", code: 0, prints: SUCCEEDED }],
  [/call OPERATION /, { kind: "ends", code: 0, prints: SUCCEEDED }],
  // The mission m-1 of the page does not exist. The robot may be on another one, or on none.
  [
    /call UpdateMission /,
    { kind: "ends", code: 4, prints: /^refused: (INVALID_ARGUMENT|FAILED_PRECONDITION)$/m },
  ],
  [/fleetgate record save$/, { kind: "ends", code: 0, prints: /^saved \S+\.fgrec: \d+ bytes, from / }],
  [
    /fleetgate simulate --replay FILE\b/,
    { kind: "elsewhere", file: "test/cli/record.test.ts", has: '"--replay"' },
  ],
  [/fleetgate log-level$/, { kind: "ends", code: 0, prints: /^fleet +info$/m }],
  [/fleetgate log-level fleet debug$/, { kind: "ends", code: 0, prints: /^fleet logs at debug until / }],
  [/fleetgate log-level all info$/, { kind: "ends", code: 0, prints: /^all components log at info until / }],
  [
    /fleetgate tail$/,
    {
      kind: "follows",
      prints: /^\S+ \S+ {2}cart-01 +hold /,
      cause: "fleetgate hold cart-01 && fleetgate hold cart-01 --release",
    },
  ],
  [
    /fleetgate alarms list$/,
    { kind: "ends", code: 0, prints: /^(no alarm stands|\w+ {2}(active|returned))/ },
  ],
  [
    /fleetgate alarms ack --all$/,
    { kind: "ends", code: 0, prints: /^(nothing is to be acknowledged|.*: acknowledged by cli:)/ },
  ],
  [/fleetgate status --json$/, { kind: "ends", code: [0, 1], prints: /^\{"state":"(up|degraded)",/ }],
  [/fleetgate status --watch$/, { kind: "follows", prints: /^\S+ \S+ {2}demo: / }],
  [/fleetgate status$/, { kind: "ends", code: [0, 1], prints: /^demo: (all is well$|DEGRADED: )/m }],
  [/fleetgate robots$/, { kind: "ends", code: 0, prints: /^cart-01 +good +\d+ %/m, again: true }],
  [/hold (ROBOT|cart-01) --release/, { kind: "ends", code: 0, prints: /^succeeded$/m }],
  [/hold (ROBOT|cart-01)/, { kind: "ends", code: 0, prints: /^ *held by cli:/m }],
  [
    /hold --all/,
    { kind: "ends", code: 0, prints: /^ *held by cli:/m, undo: "fleetgate hold --all --release" },
  ],
  [/^sudo fleetgate journal reset --discard$/, booted("sudo fleetgate journal reset --discard\n")],
  [
    /journal reset/,
    { kind: "elsewhere", file: "test/daemon/lost-stores.test.ts", has: '"journal", "reset"' },
  ],

  [
    /^(sudo )?fleetgate check (.* )?--online$/,
    { kind: "elsewhere", file: "test/cli/check-json.test.ts", has: '"--online"' },
  ],
  [/^fleetgate check --json$/, { kind: "elsewhere", file: "test/cli/check-json.test.ts", has: '"--json"' }],
  [/^sudo fleetgate check$/, booted("sudo fleetgate check\n")],
  [
    /^sudo fleetgate reload( --config FILE)?$/,
    { kind: "elsewhere", file: "test/daemon/reload.test.ts", has: '"reload"' },
  ],
  [
    /^(sudo )?fleetgate certs list\b/,
    { kind: "elsewhere", file: "test/cli/certs/command.test.ts", has: '"certs", "list"' },
  ],
  [
    /^(sudo )?fleetgate certs approve\b/,
    { kind: "elsewhere", file: "test/cli/certs/command.test.ts", has: '"certs", "approve"' },
  ],
  [
    /^(sudo )?fleetgate certs reject\b/,
    { kind: "elsewhere", file: "test/cli/certs/command.test.ts", has: '"certs", "reject"' },
  ],
  [
    /^(sudo )?fleetgate certs show\b/,
    { kind: "elsewhere", file: "test/cli/certs/command.test.ts", has: '"certs", "show"' },
  ],
  [
    /^(sudo )?fleetgate certs request\b/,
    { kind: "elsewhere", file: "test/cli/certs/command.test.ts", has: '"certs", "request"' },
  ],
  [
    /^(sudo )?fleetgate certs import\b/,
    { kind: "elsewhere", file: "test/cli/certs/command.test.ts", has: '"certs", "import"' },
  ],
  [
    /^(sudo )?fleetgate certs renew\b/,
    { kind: "elsewhere", file: "test/cli/certs/command.test.ts", has: '"certs", "renew"' },
  ],
  [
    /^sudo fleetgate passwd /,
    { kind: "elsewhere", file: "test/cli/passwd.test.ts", has: '"passwd", "--out"' },
  ],
  [/^fleetgate token$/, { kind: "elsewhere", file: "test/cli/token.test.ts", has: '["token"]' }],
  [
    /^sudo fleetgate init$/,
    { kind: "elsewhere", file: "test/cli/init/init.test.ts", has: '["init", "--config"' },
  ],
  [
    /^sudo fleetgate init --config \/etc\/fleetgate\/hall2\.yaml /,
    { kind: "elsewhere", file: "test/cli/init/init.test.ts", has: 'args("hall4")' },
  ],
  [
    /fleetgate init --web-user/,
    { kind: "elsewhere", file: "test/cli/init/console.test.ts", has: '"--web-user", "anna"' },
  ],
  [/^sudo fleetgate init --id /, booted("sudo fleetgate init --id plant1 --fleet")],
  [/^fleetgate init --help$/, { kind: "ends", code: 0, prints: /--mqtt-password-file/ }],
  [
    /^fleetgate export opcua --out /,
    { kind: "elsewhere", file: "test/cli/export/function-block.test.ts", has: '"export", "opcua"' },
  ],
  [/^fleetgate run /, { kind: "elsewhere", file: "test/cli/run.test.ts", has: '"run", "--config"' }],
  [
    /^sudo curl -s --unix-socket .*\/metrics$/,
    { kind: "elsewhere", file: "test/e2e/metrics.test.ts", has: 'get({ socketPath, path: "/metrics" })' },
  ],
  [/^curl .*\/metrics$/, { kind: "ends", code: 0, prints: /^fleetgate_fleet_link_up 1$/m }],
  [
    /^FLEETGATE_MISBEHAVE_MINUTES=/,
    { kind: "elsewhere", file: "test/e2e/misbehaving-service.test.ts", has: "FLEETGATE_MISBEHAVE_MINUTES" },
  ],
  [
    /^LOAD_STATION_VISITS=/,
    { kind: "elsewhere", file: "test/daemon/load-station-crash.test.ts", has: "LOAD_STATION_VISITS" },
  ],
  [
    /^FLEETGATE_DROPS=/,
    { kind: "elsewhere", file: "test/daemon/opcua-drops.test.ts", has: "FLEETGATE_DROPS" },
  ],
  [
    /^sudo curl -s --unix-socket .*\/api\/v1\/status$/,
    { kind: "elsewhere", file: "test/northbound/web/status.test.ts", has: "/api/v1/status" },
  ],
  [/^curl .*\/api\/v1\/robots$/, { kind: "ends", code: 0, prints: /"robot_id":"cart-01"/ }],
  [/^curl .*\/simulator\/faults\/silence /, { kind: "ends", code: 0, prints: /"active":\[/ }],
  [/^curl --unix-socket /, { kind: "ends", code: 0, prints: /"outcome":"succeeded"/ }],
  [/^sudo systemctl reload fleetgate$/, booted("sudo systemctl reload fleetgate\n")],
  [/^sudo systemctl restart fleetgate$/, booted("sudo systemctl restart fleetgate\n")],
  [/^sudo install .*\.crt$/, booted("sudo install -m 0644 /etc/fleetgate/fleet-ca.pem /usr/local/share")],
  [/^sudo systemctl stop fleetgate$/, booted("sudo systemctl stop fleetgate\n")],
  [/^sudo systemctl start fleetgate$/, booted("sudo systemctl start fleetgate\n")],
  [/^sudo systemctl enable --now fleetgate$/, booted("sudo systemctl enable --now fleetgate\n")],
  [/^sudo systemctl daemon-reload$/, booted("sudo systemctl daemon-reload\n")],
  [/^systemctl status fleetgate$/, booted("systemctl status fleetgate --no-pager\n")],
  [/^journalctl -u fleetgate -p warning$/, booted("journalctl -u fleetgate -p warning")],
  [
    /^journalctl -u fleetgate -g 'stood still'$/,
    { kind: "elsewhere", file: "test/platform/loop-watch.test.ts", has: "stood still" },
  ],
  [
    /^journalctl -t fleetgate-audit$/,
    { kind: "elsewhere", file: "test/platform/journal-stream.test.ts", has: "fleetgate-audit" },
  ],
  [/^journalctl -u fleetgate -f$/, booted("timeout 2 journalctl -u fleetgate -f")],
  [/^sudo dpkg -i fleetgate_\*_amd64\.deb$/, booted("sudo dpkg -i fleetgate_*_amd64.deb\n")],
  [
    /^sudo dpkg -i fleetgate_0\.2\.0_amd64\.deb$/,
    upgraded('measured "upgrade" unattended_install next.deb '),
  ],
  [/^sudo dpkg --configure -a$/, upgraded("sudo dpkg --configure -a\n")],
  [/^sudo dpkg --remove fleetgate$/, booted("sudo dpkg --remove fleetgate\n")],
  [/^sudo dpkg --purge fleetgate$/, booted("sudo dpkg --purge fleetgate\n")],
  [
    /^sudo install .* api-key\.json /,
    booted("sudo install -m 0640 -g fleetgate api-key.json /etc/fleetgate/secrets/\n"),
  ],
  [/^sudo mkdir /, booted("sudo mkdir -p /opt/fleetgate /etc/fleetgate /etc/sysusers.d\n")],
  [
    /^sudo fleetgate restore --keep-journal /,
    { kind: "elsewhere", file: "test/daemon/backup.test.ts", has: '"--keep-journal"' },
  ],
  [
    /^sudo fleetgate backup \/var\/backups\/fleetgate\/$/,
    { kind: "elsewhere", file: "test/daemon/backup.test.ts", has: "nightly()" },
  ],
  [
    /^sudo systemctl enable --now fleetgate-backup\.timer$/,
    { kind: "not run", because: "the reader writes the timer" },
  ],
  [/^sudo fleetgate backup /, booted("sudo fleetgate backup fleetgate-backup.tar.gz\n")],
  [/^sudo fleetgate restore /, booted("sudo fleetgate restore fleetgate-backup.tar.gz\n")],
  [
    /^sudo tar /,
    booted("sudo tar -xzf fleetgate-*-linux-amd64.tar.gz -C /opt/fleetgate --strip-components=1\n"),
  ],
  [/^sudo ln /, booted("sudo ln -s /opt/fleetgate/bin/fleetgate /usr/bin/fleetgate\n")],
  [
    /^sudo cp .*sysusers\.conf /,
    booted("sudo cp /opt/fleetgate/systemd/sysusers.conf /etc/sysusers.d/fleetgate.conf\n"),
  ],
  [/^sudo systemd-sysusers /, booted("sudo systemd-sysusers fleetgate.conf\n")],
  [/^sudo install -d /, booted("sudo install -d -m 0750 -g fleetgate /etc/fleetgate/secrets\n")],
  [/^sudo systemctl enable --now fleetgate@hall2$/, booted("sudo systemctl enable --now fleetgate@hall2\n")],
  [/^sudo cp .*\.yaml /, booted("sudo cp /opt/fleetgate/config/fleetgate.yaml /etc/fleetgate/\n")],
  [
    /^sudo cp .*\.service /,
    booted("sudo cp /opt/fleetgate/systemd/fleetgate*.service /etc/systemd/system/\n"),
  ],
  [/^(VERSION=\S+ )?docker /, container],
  [
    /^sudo install .*fleetgate\.asc /,
    { kind: "elsewhere", file: "test/packaging/apt-repository.test.ts", has: "fleetgate.asc" },
  ],
  [/^fleetgate --version --long$/, { kind: "elsewhere", file: "test/cli/version.test.ts", has: '"--long"' }],
  [
    /^node packaging\/check-sbom\.mjs /,
    { kind: "elsewhere", file: "test/package/boot.test.ts", has: "sbomProblems(sbom, tree)" },
  ],
  [/^dpkg --verify fleetgate$/, upgraded("dpkg --verify fleetgate\n")],
  [/^sudo systemctl edit fleetgate$/, { kind: "not run", because: "opens an editor" }],

  [/^fleetgate simulate --json$/, { kind: "follows", prints: /^\{"event":"ready"/ }],
  [/^fleetgate simulate/, { kind: "follows", prints: /credentials/ }],
  [
    /^sudo fleetgate init --mqtt embedded /,
    { kind: "elsewhere", file: "test/cli/init/console.test.ts", has: '"--mqtt", "embedded", "--host"' },
  ],
  [
    /^mosquitto_sub -h gateway1\./,
    { kind: "elsewhere", file: "test/cli/init/started.test.ts", has: "/mosquitto_sub .*/" },
  ],
  [
    /^mosquitto_sub .*'fleetgate\/demo\/#'$/,
    { kind: "follows", prints: /robots\/cart-01\/availability good/ },
  ],
  [/^mosquitto_(sub|rr) -h broker\.example\.com /, atPlant],
  [
    /^mosquitto_sub .*\/demo\/robots\/cart-01\/mission$/,
    { kind: "ends", code: 0, prints: /^\{"robot_id":"cart-01"/ },
  ],
  [/^mosquitto_sub .*\/demo\/alarms$/, { kind: "ends", code: 0, prints: /^\{"count":/ }],
  [/^mosquitto_sub .*\/demo\/stations\/dock$/, { kind: "ends", code: 0, prints: /^\{"station":"dock"/ }],
  [/^mosquitto_sub .*availability'$/, { kind: "follows", prints: /robots\/cart-02\/availability good/ }],
  [
    /^mosquitto_sub .*event\/\+'$/,
    { kind: "follows", prints: /robots\/cart-01\/event\/hold \{.*"to":"free"/ },
  ],
  [
    /^mosquitto_rr .*sparkplug-payload/,
    { kind: "ends", code: 0, prints: /^\{"id":"42","outcome":"succeeded"/, again: true },
  ],
  [/^mosquitto_rr .*NCMD/, { kind: "ends", code: 0, prints: /^Battery\/ChargePercent/m }],
  [/^mosquitto_rr /, { kind: "ends", code: 0, prints: /^\{"id":"51","outcome":"succeeded"/ }],
  [/^mosquitto_sub .*reply\/#'$/, { kind: "follows", prints: /"id":"42","outcome":"succeeded","code":"OK"/ }],
  [
    // The demo's own broker lets nobody else publish it.
    /^mosquitto_pub .*NDEATH/,
    { kind: "elsewhere", file: "test/northbound/mqtt/sparkplug/duplicates.test.ts", has: "/NDEATH/fleet" },
  ],
  [/^mosquitto_pub /, { kind: "ends", code: 0, prints: /^$/ }],

  [/^curl .*authorizeApiAccess > token$/, { kind: "ends", code: 0, prints: /^$/ }],
  [/^curl .*onlineAmr$/, { kind: "ends", code: 0, prints: /"name":"cart-01"/ }],
  [/^curl .*mission\/create /, { kind: "ends", code: 0, prints: /"missionId":"/ }],
  [/^curl -X DELETE$/, { kind: "elsewhere", file: "test/pages/shell.ts", has: "-X DELETE" }],
  [/^cd /, { kind: "ends", code: 0, prints: /^$/ }],
  [/^(fault|happen)\(\)/, { kind: "ends", code: 0, prints: /^$/ }],
  [/^fault /, { kind: "ends", code: 0, prints: /^\{"faults":/, undo: "faults_over" }],
  [/^happen /, { kind: "ends", code: 0, prints: /^\{\}$/ }],
];

/** The row of a line. */
export function expectationOf({ page, line }: CommandLine): Expectation {
  const row = expectations.find(([pattern]) => pattern.test(line));
  if (row === undefined)
    throw new Error(`${page}: no row of test/pages/expectations.ts says what this does: ${line}`);
  return row[1];
}
