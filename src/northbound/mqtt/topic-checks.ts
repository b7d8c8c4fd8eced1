import {
  clientsSubtree,
  createRobotLevels,
  encodeLevel,
  type Placement,
  type TopicName,
  topicTemplates,
  wholeTemplate,
} from "./topic-templates.ts";

/** The key that decides on topics: of `mqtt`, or the place of a station. */
type TopicKey =
  | readonly ["base"]
  | readonly ["placement", "robot" | "station"]
  | { readonly station: string };

/** A level: a text, or what may stand there. */
type Level = string | Choice;

/** What a placeholder may be; without `values` and `pattern`: any text. */
interface Choice {
  readonly name: string;
  readonly values?: ReadonlySet<string>;
  readonly pattern?: RegExp;
}

/** Topics of one kind, by their levels. */
interface TopicShape {
  /** Whose topics they are, for a message. */
  readonly name: string;
  /** The key that decides on them. */
  readonly at: TopicKey;
  readonly levels: readonly Level[];
}

/** A flat topic has up to so many levels in place of `{tag}`. */
const TAG_LEVELS = 3;
const digits = /^\d+$/;
const word = /^[a-z_]+$/;

/** The shapes of a template: one, or several where a placeholder has several levels. */
function shapeOf(
  parts: Omit<TopicShape, "levels"> & {
    readonly template: string;
    readonly robots: ReadonlySet<string> | null;
  },
): readonly TopicShape[] {
  const { name, at, template, robots } = parts;
  const levels = template.split("/").map((level): Level => {
    const placeholder = /^\{(\w+)\}$/.exec(level)?.[1];
    return placeholder === undefined ? level : choiceOf(placeholder, robots);
  });
  const tag = levels.findIndex((level) => typeof level !== "string" && level.name === "tag");
  if (tag === -1) return [{ name, at, levels }];
  return Array.from({ length: TAG_LEVELS }, (_, more) => ({
    name,
    at,
    levels: levels.toSpliced(tag, 1, ...Array.from({ length: more + 1 }, () => ({ name: "tag" }))),
  }));
}

function choiceOf(name: string, robots: ReadonlySet<string> | null): Choice {
  switch (name) {
    case "robot":
    case "alias":
      return robots === null ? { name } : { name, values: robots };
    case "index":
    case "chain":
    case "map":
      return { name, pattern: digits };
    case "kind":
      return { name, pattern: word };
    default:
      return { name };
  }
}

/** A topic that is of both; null when there can be none. */
function collisionOf(a: readonly Level[], b: readonly Level[]): string | null {
  if (a.length !== b.length) return null;
  return commonBeginning(a, b);
}

/** What two topics can have in common, as far as the shorter one goes; null: they differ before. */
function commonBeginning(a: readonly Level[], b: readonly Level[]): string | null {
  const common: string[] = [];
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const level = commonLevel(a[index] ?? "", b[index] ?? "");
    if (level === null) return null;
    common.push(level);
  }
  return common.join("/");
}

function commonLevel(a: Level, b: Level): string | null {
  if (typeof a === "string") {
    if (typeof b === "string") return a === b ? a : null;
    return mayBe(b, a) ? a : null;
  }
  if (typeof b === "string") return mayBe(a, b) ? b : null;
  if (a.values !== undefined) {
    const { values } = a;
    return [...values].find((value) => mayBe(b, value)) ?? null;
  }
  if (b.values !== undefined) return commonLevel(b, a);
  const isApart = a.pattern !== undefined && b.pattern !== undefined && a.pattern !== b.pattern;
  return isApart ? null : `{${a.pattern === undefined ? b.name : a.name}}`;
}

function mayBe({ values, pattern }: Choice, text: string): boolean {
  return (values?.has(text) ?? true) && (pattern?.test(text) ?? true);
}

const names = Object.keys(topicTemplates) as TopicName[];
/** Under each client's own name. */
const ofClients: readonly TopicName[] = ["command", "reply"];

/** Something wrong with the topics, and the key that is to be changed. */
export interface TopicProblem {
  readonly at: TopicKey;
  readonly message: string;
  /** A warning: some brokers would refuse it. */
  readonly isWarning?: true;
}

/** Chariot takes 10, AWS IoT Core 8. */
const USUAL_LEVELS = 10;
const MOST_LEVELS = 32;
/** Without the ids that are filled in. */
const MOST_BYTES = 1_024;
const MOST_COLLISIONS = 3;
const notPlain = /[#+{}\p{Cc}]/u;

/**
 * What is wrong with the topics: one sentence each.
 *
 * @param areRobotsKnown no other robot than those of the placement can appear: only their names can collide
 */
export function topicProblems(
  base: string,
  placement: Placement,
  areRobotsKnown: boolean,
): readonly TopicProblem[] {
  const faults = [...baseProblems(base), ...placementProblems(placement)];
  if (faults.length > 0) return faults;
  const shapes = shapesOf(base, placement, areRobotsKnown);
  return [...sizeProblems(shapes), ...subtreeProblems(shapes, base), ...collisions(shapes)];
}

function baseProblems(base: string): readonly TopicProblem[] {
  if (base !== "" && !notPlain.test(base) && !/^[/$]|\/$/.test(base)) return [];
  const message = "must not be empty, begin or end with /, begin with $, or hold # + { }";
  return [{ at: ["base"], message }];
}

/** Of the two templates, and of the places that stations have. */
function placementProblems({ robot, station, stations }: Placement): readonly TopicProblem[] {
  const takesPlace = station?.split("/").includes("{place}") ?? false;
  return [
    ...(robot === null
      ? []
      : templateFault(robot, [["robot"], ["alias"]]).map(
          (message) => ({ at: ["placement", "robot"], message }) as const,
        )),
    ...(station === null
      ? []
      : templateFault(station, [["station"], ["place", "station"]]).map(
          (message) => ({ at: ["placement", "station"], message }) as const,
        )),
    ...stations.flatMap(({ name, place }): TopicProblem[] => {
      const at = { station: name };
      if (place !== null && !takesPlace)
        return [{ at, message: "does nothing: mqtt.placement.station does not have {place}" }];
      if (place === null && takesPlace)
        return [{ at, message: "is missing: mqtt.placement.station has {place}" }];
      return place !== null && station?.startsWith("{place}") && place.startsWith("$")
        ? [{ at, message: "must not begin with $: the broker's own topics do" }]
        : [];
    }),
  ];
}

/** @param wanted the sets of placeholders that it may have, each in alphabetical order */
function templateFault(template: string, wanted: ReadonlyArray<readonly string[]>): string[] {
  if (template.startsWith("$")) return [`"${template}" must not begin with $: the broker's own topics do`];
  const levels = template.split("/");
  if (levels.some((level) => level === "" || (notPlain.test(level) && !/^\{\w+\}$/.test(level))))
    return [`"${template}" has an empty level, a wildcard, or braces in part of a level`];
  const found = levels.flatMap((level) => /^\{(\w+)\}$/.exec(level)?.[1] ?? []);
  if (wanted.some((set) => set.join() === [...found].sort().join())) return [];
  const choices = wanted.map((set) => set.map((each) => `{${each}}`).join(" and "));
  return [`"${template}" must have ${choices.join(", or ")}, each once`];
}

/** Every topic there can be, by its levels. */
function shapesOf(base: string, placement: Placement, areRobotsKnown: boolean): readonly TopicShape[] {
  const levelOf = createRobotLevels(placement);
  const robots = areRobotsKnown ? new Set(placement.robots.map(({ robotId }) => levelOf(robotId))) : null;
  return names.flatMap((name) => {
    const at = keyOf(name, placement);
    const whole = wholeTemplate(base, name, placement);
    if (ofClients.includes(name) || !whole.includes("{station}"))
      return shapeOf({ name, at, template: whole, robots });
    return placement.stations.flatMap((station) => {
      const template = whole
        .replace("{place}", () => station.place ?? "")
        .replace("{station}", () => encodeLevel(station.name));
      const key = station.place === null ? at : { station: station.name };
      return shapeOf({ name: `${name} of "${station.name}"`, at: key, template, robots });
    });
  });
}

/** The key that says where topics are. */
function keyOf(name: TopicName, { robot, station }: Placement): TopicKey {
  const isMoved = (placement: Pick<Placement, "robot" | "station">) =>
    wholeTemplate("", name, placement) !== `/${topicTemplates[name]}`;
  if (isMoved({ robot, station: null })) return ["placement", "robot"];
  return isMoved({ robot: null, station }) ? ["placement", "station"] : ["base"];
}

function sizeProblems(shapes: readonly TopicShape[]): readonly TopicProblem[] {
  const bytesOf = ({ levels }: TopicShape) =>
    Buffer.byteLength(levels.map((level) => (typeof level === "string" ? level : "")).join("/"));
  const deepest = largest(shapes, ({ levels }) => levels.length);
  const longest = largest(shapes, bytesOf);
  const problems: TopicProblem[] = [];
  if (deepest.size > MOST_LEVELS)
    problems.push({
      at: deepest.shape.at,
      message: `${deepest.shape.name}: has ${deepest.size} levels; at most ${MOST_LEVELS} are allowed`,
    });
  else if (deepest.size > USUAL_LEVELS)
    problems.push({
      at: deepest.shape.at,
      message: `${deepest.shape.name}: has ${deepest.size} levels; some brokers take no more than ${USUAL_LEVELS}, or 8`,
      isWarning: true,
    });
  if (longest.size > MOST_BYTES)
    problems.push({
      at: longest.shape.at,
      message: `${longest.shape.name}: has ${longest.size} bytes without what is filled in; at most ${MOST_BYTES} are allowed`,
    });
  return problems;
}

function largest(shapes: readonly TopicShape[], sizeOf: (shape: TopicShape) => number) {
  const nothing: TopicShape = { name: "", at: ["base"], levels: [] };
  let found = { shape: nothing, size: 0 };
  for (const shape of shapes) {
    const size = sizeOf(shape);
    if (size > found.size) found = { shape, size };
  }
  return found;
}

/** What stands in the clients' own subtree can be read by one client only. */
function subtreeProblems(shapes: readonly TopicShape[], base: string): readonly TopicProblem[] {
  const own = clientsSubtree(base).split("/");
  const clients = new Set<string>(ofClients);
  const within = shapes.flatMap(({ name, at, levels }): TopicProblem[] => {
    if (clients.has(name) || levels.length <= own.length) return [];
    const common = commonBeginning(own, levels);
    if (common === null) return [];
    const message = `${name}: could be under "${common}", which is the clients' own subtree`;
    return [{ at, message }];
  });
  return within.slice(0, MOST_COLLISIONS);
}

function collisions(shapes: readonly TopicShape[]): readonly TopicProblem[] {
  const problems: TopicProblem[] = [];
  const seen = new Map<string, TopicShape>();
  const open: TopicShape[] = [];
  const report = (shape: TopicShape, other: TopicShape, topic: string) => {
    // The key of a station or a placement: the other topics are the usual ones.
    const at = shape.at.toString() === "base" ? other.at : shape.at;
    const message = `the topic "${topic}" could be of ${other.name} and of ${shape.name}: give them levels that tell them apart`;
    problems.push({ at, message });
  };
  for (const shape of shapes) {
    if (problems.length >= MOST_COLLISIONS) break;
    const isText = shape.levels.every((level) => typeof level === "string");
    const topic = shape.levels.join("/");
    const same = isText ? seen.get(topic) : undefined;
    if (same !== undefined) report(shape, same, topic);
    for (const other of isText ? open : shapes.slice(0, shapes.indexOf(shape))) {
      if (other.name === shape.name) continue;
      const common = collisionOf(other.levels, shape.levels);
      if (common !== null) report(shape, other, common);
    }
    if (isText) seen.set(topic, shape);
    else open.push(shape);
  }
  return problems.slice(0, MOST_COLLISIONS);
}
