import type { HoldRequest } from "../../northbound/web/api/hold.ts";
import type { Rights } from "../../northbound/web/api/rights.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { say } from "../texts/texts.ts";

/** An action of a user on the holds of a robot, with a second step. */
export interface HoldAction {
  readonly label: string;
  /** What it does, for the second step. */
  readonly effect: string;
  /** Its object, if it is not the robot alone. */
  readonly concerns?: string;
  /** Under /api/v1. */
  readonly path: string;
  readonly body: HoldRequest;
}

/** How `hold.by` marks a hold on all robots. */
const ON_ALL = " (all)";

/** A hold of the user's own, or its end; for engineers also the end of each other hold. */
export function holdActions({ robot_id: robotId, hold }: Robot, rights: Rights): readonly HoldAction[] {
  const path = `/robots/${encodeURIComponent(robotId)}/hold`;
  const own: HoldAction = hold.by.includes(rights.user)
    ? {
        label: say("hold.lift"),
        effect: say("hold.liftEffect"),
        path,
        body: { hold: false },
      }
    : {
        label: say("hold.begin"),
        effect: say("hold.beginEffect"),
        path,
        body: { hold: true },
      };
  const others = hold.by.filter((name) => name !== rights.user);
  return [own, ...others.flatMap((name) => liftOf(name, path, rights))];
}

function liftOf(name: string, path: string, { lift, lift_all: liftAll }: Rights): readonly HoldAction[] {
  if (!name.endsWith(ON_ALL)) {
    if (lift !== null) return [];
    const effect = say("hold.liftOfEffect", { user: name });
    return [{ label: say("hold.liftOf", { user: name }), effect, path, body: { hold: false, user: name } }];
  }
  if (liftAll !== null) return [];
  const user = name.slice(0, -ON_ALL.length);
  const effect = say("hold.liftAllEffect", { user });
  return [
    {
      label: say("hold.liftOf", { user }),
      effect,
      concerns: say("hold.all"),
      path: "/hold",
      body: { hold: false, user },
    },
  ];
}
