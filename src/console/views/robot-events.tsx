import { eventsOf } from "../fleet/events.ts";
import { usePage } from "./context.ts";
import { Table, Time } from "./parts.tsx";

const MOST_SHOWN = 20;

/** The events of a robot that the page has received, the newest first. */
export function RobotEvents({ robotId }: { readonly robotId: string }) {
  const { store } = usePage();
  const log = store.events.value;
  if (log === null) return null;
  const shown = eventsOf(log, robotId, MOST_SHOWN);
  return (
    <>
      {shown.length > 0 && (
        <Table caption="Events of this robot" columns={["Time", "Event", "Says"]}>
          {shown.map(({ id, at, kind, text }) => (
            <tr key={id}>
              <td>
                <Time iso={at} isDated />
              </td>
              <td>{kind}</td>
              <td>{text}</td>
            </tr>
          ))}
        </Table>
      )}
      <p>
        {shown.length === 0 ? "Events of this robot: none" : `The newest ${MOST_SHOWN} at most`} since{" "}
        <Time iso={log.since} isDated />. The page knows none from before.
      </p>
    </>
  );
}
