import { alarmCounts } from "../fleet/alarm-text.ts";
import { AlarmTable } from "./alarm-table.tsx";
import { usePage } from "./context.ts";

/** All alarms. */
export function Alarms() {
  const { store } = usePage();
  const standing = store.fleet.value?.alarms ?? { count: 0, alarms: [] };
  const { count, alarms } = standing;
  return (
    <>
      <h1>Alarms</h1>
      {count === 0 && <p>No alarm stands.</p>}
      {count > alarms.length && (
        <p>
          {count} alarms stand. The {alarms.length} most urgent are listed.
        </p>
      )}
      {count > 0 && <p>{alarmCounts(alarms)}.</p>}
      {count > 0 && <AlarmTable caption="Alarms that stand, the most urgent first" alarms={alarms} />}
    </>
  );
}
