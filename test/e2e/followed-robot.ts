import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import type { Chronicle } from "../support/chronicle.ts";
import type { ManualClock } from "../support/manual-clock.ts";
import type { E2eHarness } from "./e2e-harness.ts";
import type { Shown } from "./plc.ts";

/** A robot that is followed over both protocols while the world's time passes in steps. */
export interface FollowedRobot {
  /** What its tags showed, `Robots.<id>.` left out. */
  readonly shown: Chronicle<Shown>;
  /** A tag's path from its name under the robot. */
  tag(name: string): string;
  /** Waits until the service's newest mission message has come out of both protocols. */
  arrived(): Promise<void>;
  /** Lets time pass until `holds`, which is asked whenever both protocols show what the service knows. */
  live(what: string, holds: () => boolean): Promise<void>;
  /** Mission messages as MQTT showed them, a line each. */
  missionLines(): readonly string[];
  /** The `from → to` of a mission's events, in order. */
  transitions(missionId: string): readonly string[];
  /** The values that a tag showed, in order, those with another status than Good with its name. */
  values(tag: string): readonly unknown[];
}

/** Shorter than anything in the world takes: no two messages of a robot fall into one step. */
const STEP_MS = 250;
const MOST_STEPS = 400;

const missionTags = [
  ...["MissionId", "State", "StateText", "MissionType", "CurrentGoal", "CurrentGoalIndex", "GoalCount"],
  ...["Feedback", "Arrived", "SequenceNumber", "Owner", "MissionCount", "CurrentMissionIndex"],
].map((name) => `Mission.${name}`);

/** Follows a robot's mission over both protocols, and whatever else of its tags is named. */
export async function followRobot(
  harness: E2eHarness,
  clock: ManualClock,
  robotId: string,
  moreTags: readonly string[] = [],
): Promise<FollowedRobot> {
  const startMs = clock.nowMs();
  const tag = (name: string) => `Robots.${robotId}.${name}`;
  const followed = [...missionTags, ...moreTags].map(tag);
  const topic = `robots/${robotId}/mission`;
  const client = await harness.simulator().client();
  await harness.mqtt.on(topic);
  await harness.plc.shows(tag("Valid"), true);
  const shown = await harness.plc.follow(...followed);

  async function arrived(): Promise<void> {
    const stream = client.stream(FleetService.method.subscribeMissionStatus, {
      selector: { targetId: { case: "robotIds", value: { ids: [robotId] } } },
    });
    // A subscription begins with what the service knows now.
    const { metadata } = await stream.next();
    stream.cancel();
    const sequence = Number(metadata?.sequenceNumber);
    await harness.mqtt.on(topic, (text) => text.includes(`"sequence_number":${sequence}}`));
    await shown.first(
      `mission message ${sequence} of ${robotId}`,
      (one) => one.tag === tag("Mission.SequenceNumber") && one.value === sequence,
    );
  }

  return {
    shown,
    tag,
    arrived,
    async live(what, holds) {
      for (let step = 0; step < MOST_STEPS; step += 1) {
        await arrived();
        if (holds()) return;
        clock.advance(STEP_MS);
      }
      throw new Error(`in ${(MOST_STEPS * STEP_MS) / 1000} s of the world's time not: ${what}`);
    },
    missionLines() {
      const texts = new Set(harness.mqtt.texts(topic));
      return [...texts].map((text) => missionLine(text, startMs));
    },
    transitions: (missionId) =>
      harness.mqtt
        .texts(`robots/${robotId}/event/mission`)
        .map((text) => JSON.parse(text) as Record<string, string | null>)
        .filter((event) => event.mission_id === missionId)
        .map(({ from, to }) => `${from} → ${to}`),
    values: (name) =>
      shown.entries
        .filter((one) => one.tag === tag(name))
        .map(({ value, status }) => (status === "Good" ? value : status)),
  };
}

interface MissionText {
  readonly quality: string;
  readonly state: {
    readonly metadata: { readonly timestamp: string; readonly sequence_number: number };
    readonly current_mission: {
      readonly state: string;
      readonly current_goal_index: number;
      readonly mission_feedback: Readonly<Record<string, { readonly status: string }>>;
    } | null;
    readonly current_goal: { readonly destination_id: string } | null;
  };
}

/** Seconds since the start by the robot's clock, quality, state, goal and feedback. */
function missionLine(text: string, startMs: number): string {
  const { quality, state } = JSON.parse(text) as MissionText;
  const seconds = ((Date.parse(state.metadata.timestamp) - startMs) / 1000).toFixed(2);
  const mission = state.current_mission;
  if (mission === null) return `${seconds} ${quality} no mission`;
  const [feedback] = Object.values(mission.mission_feedback);
  const goal = `${mission.current_goal_index} ${state.current_goal?.destination_id}`;
  return `${seconds} ${quality} ${mission.state} goal ${goal} ${feedback?.status}`;
}
