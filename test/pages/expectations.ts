/** What a command line of a page does when it is run, or why this test does not run it. */
export type Expectation =
  | {
      readonly kind: "ends";
      readonly code: number;
      readonly prints: RegExp;
      /** Run after it, so that the next line finds what its page says. */
      readonly undo?: string;
    }
  /** It follows something: it runs until it has printed this, which a later line of the page may cause. */
  | { readonly kind: "follows"; readonly prints: RegExp }
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
const booted: Expectation = { kind: "not run", because: "needs a booted system with systemd" };
const container: Expectation = { kind: "not run", because: "needs a container engine and its images" };

/** Every command line of the pages: the first row that fits counts. */
export const expectations: ReadonlyArray<readonly [line: RegExp, expectation: Expectation]> = [
  [/^npm ci && npm start -- --no-lively$/, { ...demoTest, has: '"--no-lively"' }],
  [/^npm start -- --no-lively$/, { ...demoTest, has: '"--no-lively"' }],
  [/^npm ci && npm start$/, demoTest],
  [/^npm start -- …$/, demoTest],
  [
    /^npm ci && npm run build && npm prune --omit=dev$/,
    { kind: "elsewhere", file: "Dockerfile", has: "npm prune --omit=dev" },
  ],
  [/^node dist\\main\.js demo$/, { kind: "not run", because: "needs Windows" }],
  [/^npm run bench\b/, script("bench")],
  [/^npm run (check|lint)$/, ci("npm run lint")],
  [/^npm run (build|generate)$/, script("generate")],
  [/^(npm run build && )?node scripts\/config-schema\.mjs$/, script("lint")],
  [/^(npm run build && )?node scripts\/commands-doc\.mjs$/, script("lint")],
  [
    /^node scripts\/prose\.mjs --fix$/,
    { kind: "elsewhere", file: "test/pages/prose.test.ts", has: '"scripts/prose.mjs", "--fix"' },
  ],
  [/vitest run test\/state$/, ci("npm test")],
  [/vitest run test\/contract -t WHK-18$/, ci("npm test")],

  [/^npx mqtt sub .*robots\/\+\/mission'$/, { kind: "follows", prints: /robots\/cart-01\/mission \{/ }],
  [/^node dist\/main\.js watch /, { kind: "follows", prints: /Robots\.cart-01\.Valid = true/ }],
  [/ call CreateMission /, { kind: "ends", code: 0, prints: SUCCEEDED }],
  [/call --list$/, { kind: "ends", code: 0, prints: /^CreateMission/m }],
  [/call --override ROBOT$/, { kind: "ends", code: 0, prints: SUCCEEDED }],
  [/call OPERATION /, { kind: "ends", code: 0, prints: SUCCEEDED }],
  // The mission m-1 of the page does not exist.
  [/call UpdateMission /, { kind: "ends", code: 4, prints: /^refused: INVALID_ARGUMENT$/m }],
  [/hold (ROBOT|cart-01) --release/, { kind: "ends", code: 0, prints: /^succeeded$/m }],
  [/hold (ROBOT|cart-01)/, { kind: "ends", code: 0, prints: /^ *held by cli:/m }],
  [
    /hold --all/,
    { kind: "ends", code: 0, prints: /^ *held by cli:/m, undo: "fleetgate hold --all --release" },
  ],
  [
    /journal reset/,
    { kind: "elsewhere", file: "test/daemon/lost-stores.test.ts", has: '"journal", "reset"' },
  ],

  [/^fleetgate check /, { kind: "ends", code: 0, prints: /is valid: gateway demo/ }],
  [/^fleetgate run /, { kind: "elsewhere", file: "test/cli/run.test.ts", has: '"run", "--config"' }],
  [/^curl .*\/healthz$/, { kind: "ends", code: 0, prints: /"state":"(up|degraded)"/ }],
  [
    /^FLEETGATE_MISBEHAVE_MINUTES=/,
    { kind: "elsewhere", file: "test/e2e/misbehaving-service.test.ts", has: "FLEETGATE_MISBEHAVE_MINUTES" },
  ],
  [/^curl --unix-socket /, { kind: "ends", code: 0, prints: /"outcome":"succeeded"/ }],
  [/systemctl|journalctl/, booted],
  [/^docker /, container],

  [/^fleetgate simulate --json$/, { kind: "follows", prints: /^\{"event":"ready"/ }],
  [/^fleetgate simulate/, { kind: "follows", prints: /credentials/ }],
  [
    /^mosquitto_sub .*'fleetgate\/demo\/#'$/,
    { kind: "follows", prints: /robots\/cart-01\/availability good/ },
  ],
  [/^mosquitto_sub .*reply\/#'$/, { kind: "follows", prints: /"id":"42","outcome":"succeeded","code":"OK"/ }],
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
