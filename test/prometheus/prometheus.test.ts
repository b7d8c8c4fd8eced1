import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { anchors } from "../pages/page.ts";
import { metricNames } from "../support/promql.ts";
import { alertCases } from "./alert-cases.ts";
import { havePromtool, promtool } from "./promtool.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
const rulesFile = "config/prometheus-alerts.yml";
const { groups } = parse(readFileSync(rulesFile, "utf8")) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

it("sees the metrics of an expression, and nothing else of it", () => {
  const expression =
    'sum by (le, job) (rate(one_bucket{a="two"}[5m])) > 0.5 and on (job) three offset 1h unless 4e6';
  expect(metricNames(expression)).toEqual(["one_bucket", "three"]);
});

it("every alert has a severity, a text, and a page that helps", () => {
  for (const { alert, labels, annotations } of rules) {
    expect(["critical", "warning"], alert).toContain(labels.severity);
    expect(Object.keys(annotations), alert).toEqual(["summary", "description", "runbook"]);
    const [page = "", anchor = ""] = (annotations.runbook ?? "").split("#");
    expect(anchors(page), `${alert}: ${annotations.runbook}`).toContain(anchor);
  }
});

it("the page lists every alert with its severity", () => {
  const rows = readFileSync("docs/metrics.md", "utf8").matchAll(/^\| `(Fleetgate\w+)` \| (\w+) \|/gm);
  const listed = Array.from(rows, ([, alert, severity]) => `${alert} ${severity}`);
  expect(listed.sort()).toEqual(rules.map(({ alert, labels }) => `${alert} ${labels.severity}`).sort());
});

it("every alert has a case", () => {
  expect(alertCases.map(({ alert }) => alert).sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

it.runIf(havePromtool)("promtool accepts the rules and the scrape configuration", () => {
  expect(promtool(["check", "rules", "--lint-fatal", rulesFile])).toMatchObject({ code: 0 });
  expect(promtool(["check", "config", "config/prometheus.yml"])).toMatchObject({ code: 0 });
});

it.runIf(havePromtool)("each alert fires when it should, and not before", () => {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-promtool-"));
  const path = join(folder, "cases.yml");
  const rulesAndTests = { rule_files: [resolve(rulesFile)], evaluation_interval: "1m", tests: [world()] };
  writeFileSync(path, stringify(rulesAndTests));
  const { code, said } = promtool(["test", "rules", path]);
  rmSync(folder, { recursive: true });
  expect(said).toContain("SUCCESS");
  expect(code).toBe(0);
});

/** All cases at once: each has series of its own, and promtool opens a database for each world. */
function world() {
  const common = 'instance="gateway1:8080",job="fleetgate"';
  const series = alertCases.flatMap((each) => Object.entries(each.series));
  return {
    interval: "1m",
    input_series: series.map(([name, values]) => ({
      series: name.endsWith("}") ? `${name.slice(0, -1)},${common}}` : `${name}{${common}}`,
      values,
    })),
    promql_expr_test: alertCases.flatMap(({ alert, quietAt, firesAt }) => {
      const expr = `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`;
      const fires = [{ labels: `{alertname="${alert}"}`, value: 1 }];
      return [
        { expr, eval_time: quietAt, exp_samples: [] },
        { expr, eval_time: firesAt, exp_samples: fires },
      ];
    }),
  };
}
