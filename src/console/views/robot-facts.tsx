import type { ComponentChildren } from "preact";
import type { BatteryState } from "../../models/robot.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { type KnownRobot, seenOf } from "../fleet/fleet.ts";
import { codeWord, currentGoalText, doubted, whyText, xyText } from "../fleet/words.ts";
import { floorAddress, tagsAddress } from "../route.ts";
import { say, word } from "../texts/texts.ts";
import {
  ageMs,
  ageText,
  agoText,
  type Dated,
  dateAndTime,
  type Moment,
  timeOfDay,
} from "../trust/time-text.ts";
import { usePage } from "./context.ts";
import { Charge, Icon, Link, Says, Time } from "./parts.tsx";

const A_DAY_MS = 86_400_000;

/** The headline: why it stands, or that this is no longer known. */
export function firstText(robot: Robot, silence: Dated | null, now: Moment, gatewayMs: number): string {
  const text = standsText(robot, gatewayMs);
  if (silence === null || robot.idle.reason === "UNKNOWN") return text;
  return say("first.silent", { age: ageText(ageMs(silence, now), "age.daysAgo"), text });
}

/** "Stands since 14:02: waits for confirmation." */
function standsText(robot: Robot, gatewayMs: number): string {
  const { idle } = robot;
  const sinceMs = Date.parse(idle.since);
  const time = gatewayMs - sinceMs < A_DAY_MS ? timeOfDay(sinceMs) : dateAndTime(sinceMs);
  const why = idle.text === "" ? say("why.NO_REASON_KNOWN") : whyText(robot);
  if (idle.reason === "MOVING") return say("first.moves", { time });
  return say(idle.reason === "UNKNOWN" ? "first.notKnown" : "first.stands", { time, why });
}

interface FactsProps {
  readonly known: KnownRobot;
  readonly silence: Dated | null;
}

/** What one looks for first: the rest is on the robot's page. */
export function MainFacts({ known, silence }: FactsProps) {
  const { robot } = known;
  const { hold, lease } = robot;
  return (
    <dl class={silence === null ? "facts" : "facts unconfirmed"}>
      <dt>{say("facts.mission")}</dt>
      <Tagged robotId={robot.robot_id} name={say("facts.mission")} text="mission">
        {currentGoalText(robot)}
      </Tagged>
      <dt>{say("facts.place")}</dt>
      <Tagged robotId={robot.robot_id} name={say("facts.place")} text="position">
        <Place known={known} silence={silence} />
      </Tagged>
      <dt>{say("facts.battery")}</dt>
      <Tagged robotId={robot.robot_id} name={say("facts.battery")} text="battery">
        <Battery battery={robot.battery} />
      </Tagged>
      {hold.held && <dt>{say("facts.hold")}</dt>}
      {hold.held && <dd>{say("facts.heldBy", { by: hold.by.join(", ") })}</dd>}
      {lease !== null && <dt>{say("facts.lease")}</dt>}
      {lease !== null && <dd>{say("facts.leaseOf", lease)}</dd>}
    </dl>
  );
}

export function Facts({ known, silence }: FactsProps) {
  const { store } = usePage();
  const { robot } = known;
  const { hold, lease, exception, place } = robot;
  return (
    <dl class={silence === null ? "facts" : "facts unconfirmed"}>
      <dt>{say("facts.quality")}</dt>
      <dd>
        {silence !== null && robot.quality === "good"
          ? say("facts.qualityThen", {
              quality: word(robot.quality),
              ago: agoText(ageMs(silence, store.now.value)),
            })
          : word(robot.quality)}
      </dd>
      <dt>{say("facts.place")}</dt>
      <Tagged robotId={robot.robot_id} name={say("facts.place")} text="position">
        <Place known={known} silence={silence} />{" "}
        {place !== null && (
          <Link to={floorAddress(place.map_id, robot.robot_id)}>{say("facts.onFloor")}</Link>
        )}
      </Tagged>
      <dt>{say("facts.battery")}</dt>
      <Tagged robotId={robot.robot_id} name={say("facts.battery")} text="battery">
        <Battery battery={robot.battery} />
      </Tagged>
      <dt>{say("facts.hold")}</dt>
      <dd>{hold.held ? say("facts.heldBy", { by: hold.by.join(", ") }) : say("facts.noHold")}</dd>
      <dt>{say("facts.lease")}</dt>
      <dd>
        {lease === null ? (
          say("facts.none")
        ) : (
          <Says
            of="facts.leaseSince"
            station={lease.station}
            owner={lease.owner}
            time={<Time iso={lease.since} />}
          />
        )}
      </dd>
      <dt>{say("facts.exception")}</dt>
      <dd>
        {exception === null
          ? say("facts.noneKnown")
          : say("facts.exceptionOf", {
              words: [...exception.texts, ...exception.codes].join(", "),
              level: exception.level,
            })}
      </dd>
      <dt>{say("facts.tags")}</dt>
      <dd>
        <Link to={tagsAddress({ robot: robot.robot_id })}>
          {say("facts.allTags", { of: robot.robot_id })}
        </Link>
      </dd>
    </dl>
  );
}

/** A value that leads to its tags. */
function Tagged(props: {
  readonly robotId: string;
  readonly name: string;
  readonly text: string;
  readonly children: ComponentChildren;
}) {
  const { robotId, name, text, children } = props;
  return (
    <dd class="tagged">
      {children}
      <Link to={tagsAddress({ robot: robotId, text })}>
        <Icon name="tags" />
        <span class="unseen">{say("facts.tagsOf", { name, robot: robotId })}</span>
      </Link>
    </dd>
  );
}

/** Where it is, how old that is, and how far it is true. */
function Place({ known, silence }: FactsProps) {
  const { store, maps } = usePage();
  const { place } = known.robot;
  if (place === null) return <>{say("facts.notKnown")}</>;
  const { x, y, point, map_id: mapId, map_name: name, quality } = place;
  const seen = seenOf(known, store.fleet.value?.list ?? null);
  const where = x === null || y === null ? say("facts.noCoordinates") : xyText(x, y);
  const isConfirmed = silence === null && place.listed;
  // A quality that is good claims too much for an old place.
  const ago = agoText(ageMs(seen, store.now.value));
  const old =
    quality === "good"
      ? say("place.seen", { ago })
      : say("place.seenDoubted", { ago, quality: word(quality) });
  const shown = { where, map: name === "" ? mapId : name, doubt: isConfirmed ? word(quality) : old };
  if (point === "") return <>{say("facts.placeOf", shown)}</>;
  return <>{say("facts.placeAt", { ...shown, place: maps.nameOf(mapId, point) })}</>;
}

function Battery({ battery }: Pick<Robot, "battery">) {
  if (battery?.state == null) return <>{say("facts.notKnown")}</>;
  return (
    <>
      <Charge percent={battery.state.battery_state.charge_percent} />
      {doubted(batteryText(battery.state), battery.quality)}
    </>
  );
}

function batteryText({ battery_state: battery }: BatteryState): string {
  return say("facts.batteryOf", {
    percent: battery.charge_percent,
    state: codeWord(battery.state, "STATE_"),
  });
}
