/** Topics under the base; `{…}` is filled in. What is in braces must be a whole level. */
export interface TopicTemplates {
  readonly status: string;
  readonly health: string;
  readonly availability: string;
  readonly mission: string;
  readonly battery: string;
  readonly conveyor: string;
  readonly presence: string;
  readonly taskChain: string;
  readonly hold: string;
  readonly holdAll: string;
  readonly stationState: string;
  readonly robotAlarms: string;
  readonly stationAlarms: string;
  readonly alarms: string;
  readonly event: string;
  readonly gatewayEvent: string;
  readonly tag: string;
  readonly command: string;
  readonly station: string;
  readonly holdCommand: string;
  readonly holdAllCommand: string;
  readonly alarmCommand: string;
  readonly reply: string;
}

/** The topics of design.md, MQTT. */
export const defaultTopicTemplates: TopicTemplates = {
  status: "status",
  health: "health",
  availability: "robots/{robot}/availability",
  mission: "robots/{robot}/mission",
  battery: "robots/{robot}/battery",
  conveyor: "robots/{robot}/conveyors/{index}",
  presence: "robots/{robot}/presence",
  taskChain: "task_chains/{chain}",
  hold: "robots/{robot}/hold",
  holdAll: "hold",
  stationState: "stations/{station}",
  robotAlarms: "robots/{robot}/alarms",
  stationAlarms: "stations/{station}/alarms",
  alarms: "alarms",
  event: "robots/{robot}/event/{kind}",
  gatewayEvent: "event/{kind}",
  tag: "robots/{robot}/tags/{tag}",
  command: "clients/{client}/command/{operation}",
  station: "clients/{client}/station/{station}/{action}",
  holdCommand: "clients/{client}/hold/{robot}",
  holdAllCommand: "clients/{client}/hold",
  alarmCommand: "clients/{client}/alarm/{action}",
  reply: "clients/{client}/reply/{id}",
};

const placeholders: { readonly [Name in keyof TopicTemplates]: readonly string[] } = {
  status: [],
  health: [],
  availability: ["robot"],
  mission: ["robot"],
  battery: ["robot"],
  conveyor: ["robot", "index"],
  presence: ["robot"],
  taskChain: ["chain"],
  hold: ["robot"],
  holdAll: [],
  stationState: ["station"],
  robotAlarms: ["robot"],
  stationAlarms: ["station"],
  alarms: [],
  event: ["robot", "kind"],
  gatewayEvent: ["kind"],
  tag: ["robot", "tag"],
  command: ["client", "operation"],
  station: ["client", "station", "action"],
  holdCommand: ["client", "robot"],
  holdAllCommand: ["client"],
  alarmCommand: ["client", "action"],
  reply: ["client", "id"],
};

/** What is wrong with a base and templates: one sentence each, with the name of the template. */
export function templateProblems(base: string, templates: TopicTemplates): string[] {
  const problems: string[] = [];
  if (base === "" || /[#+{}\0]/.test(base) || /^[/$]|\/$/.test(base))
    problems.push("base: must not be empty, begin or end with /, begin with $, or hold # + { }");
  const seen = new Map<string, string>();
  for (const name of Object.keys(placeholders) as Array<keyof TopicTemplates>) {
    const template = templates[name];
    const levels = template.split("/");
    const found = levels.flatMap((level) => /^\{(\w+)\}$/.exec(level)?.[1] ?? []);
    if (levels.some((level) => level === "" || (/[#+{}\0]/.test(level) && !/^\{\w+\}$/.test(level))))
      problems.push(`${name}: "${template}" has an empty level, a wildcard, or braces in part of a level`);
    else if ([...found].sort().join() !== [...placeholders[name]].sort().join())
      problems.push(
        `${name}: "${template}" must name ${placeholders[name].map((p) => `{${p}}`).join(" and ") || "nothing"}`,
      );
    const shape = template.replace(/\{\w+\}/g, "+");
    const other = seen.get(shape);
    if (other !== undefined) problems.push(`${name}: is the same topic as ${other}`);
    seen.set(shape, name);
  }
  for (const name of ["station", "holdCommand", "holdAllCommand", "alarmCommand", "reply"] as const)
    if (ownPrefix(templates[name]) !== ownPrefix(templates.command))
      problems.push(`${name}: must begin as command does up to {client}: it is that client's own subtree`);
  return problems;
}

/** What comes before the client's name. */
export function ownPrefix(template: string): string {
  const levels = template.split("/");
  return levels.slice(0, levels.indexOf("{client}")).join("/");
}
