import type { Robot } from "../../northbound/web/api/robot.ts";
import { sourceText } from "../fleet/command-words.ts";
import type { KnownRobot } from "../fleet/fleet.ts";
import { isPaused, pauseOf } from "../fleet/pauses.ts";
import { say } from "../texts/texts.ts";
import { useCommands } from "./command-log.tsx";
import { usePage } from "./context.ts";
import { gatewayNowMs, Says, Time } from "./parts.tsx";
import { firstText } from "./robot-facts.tsx";

/** The headline: why a robot stands, and of a paused one, who has paused it. */
export function FirstLine({ known }: { readonly known: KnownRobot }) {
  const { store } = usePage();
  const { robot } = known;
  const now = store.now.value;
  return (
    <p class="first">
      {firstText(robot, store.silence.value, now, gatewayNowMs(store) ?? now.wallMs)}
      {isPaused(robot) && <PausedBy key={robot.robot_id} robot={robot} />}
    </p>
  );
}

function PausedBy({ robot }: { readonly robot: Robot }) {
  const { remembered, problem, isRead } = useCommands(robot.robot_id);
  const pause = pauseOf([...remembered.values()], robot);
  if (pause !== null)
    return (
      <>
        {" "}
        <Says
          of="first.pausedBy"
          source={sourceText(pause)}
          time={<Time iso={pause.accepted_at} isDated />}
        />
      </>
    );
  if (problem !== "") return <> {say("log.problem", { problem })}</>;
  return isRead ? <> {say("first.pausedElsewhere")}</> : null;
}
