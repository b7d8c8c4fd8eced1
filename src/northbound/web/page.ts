import type { Quality } from "../../domain/quality.ts";
import type { Health } from "../../platform/component.ts";
import { type Html, html } from "./html.ts";
import type { Cell, RobotRow } from "./robot-rows.ts";

/** How often a browser asks for the page again, in seconds. */
const REFRESH_SECONDS = 2;

/** The data of the page. */
export interface PageContent {
  readonly gatewayId: string;
  readonly nowMs: number;
  readonly health: Readonly<Record<string, Health>>;
  readonly rows: readonly RobotRow[];
}

/** The whole page. It has no script and nothing inline: its content security policy allows neither. */
export function renderPage(content: PageContent): string {
  const { gatewayId, nowMs, health, rows } = content;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<title>${gatewayId} · Fleetgate</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header>
<h1>${gatewayId}</h1>
<p>As of <time datetime="${isoTime(nowMs)}">${isoTime(nowMs)}</time></p>
<ul class="health">${Object.entries(health).map(([name, part]) => healthItem(name, part))}</ul>
</header>
<main>
${rows.length === 0 ? html`<p>No robot is known yet.</p>` : table(rows, nowMs)}
</main>
</body>
</html>
`.html;
}

function healthItem(name: string, part: Health): Html {
  return html`<li class="${part.state}">${name}: ${part.state}${part.detail === undefined ? "" : ` (${part.detail})`}</li>`;
}

function table(rows: readonly RobotRow[], nowMs: number): Html {
  return html`<p>${summary(rows)}</p>
<table>
<thead><tr><th scope="col">Robot</th><th scope="col">Family</th><th scope="col">Quality</th><th scope="col">Mission</th><th scope="col">Battery</th></tr></thead>
<tbody>
${rows.map((row) => line(row, nowMs))}
</tbody>
</table>`;
}

function line(row: RobotRow, nowMs: number): Html {
  return html`<tr class="${row.quality}"><th scope="row">${row.robotId}</th><td>${row.family}</td><td class="quality">${qualityText[row.quality]}</td>${value(row.mission, nowMs)}${value(row.battery, nowMs)}</tr>
`;
}

/** Strikes out a value that is not good, and shows its age: it must not look like the present. */
function value(cell: Cell | null, nowMs: number): Html {
  if (cell === null) return html`<td class="none">–</td>`;
  if (cell.quality === "good") return html`<td>${cell.text}</td>`;
  return html`<td class="old"><span>${cell.text}</span> <small>${cell.quality}, ${age(nowMs - cell.receivedAtMs)} old</small></td>`;
}

/** Words and signs, because colour alone does not reach every reader. */
const qualityText: Readonly<Record<Quality, string>> = {
  good: "● good",
  stale: "◐ stale",
  offline: "○ offline",
  lost: "✕ lost",
  unknown: "? unknown",
};

function summary(rows: readonly RobotRow[]): string {
  const good = rows.filter((row) => row.quality === "good").length;
  const robots = rows.length === 1 ? "1 robot" : `${rows.length} robots`;
  return good === rows.length ? `${robots}, all good` : `${robots}, ${good} good`;
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
