import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { type PlainKey, say, speakMore } from "../texts/texts.ts";

/**
 * A view whose code is loaded when it is first shown: most pages do not need it, and the first page loads
 * faster.
 *
 * @param title its heading while it is loaded; absent: it is a part of another view
 */
export function viewLater<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  title?: PlainKey,
): ComponentType<Props> {
  const found = signal<{ readonly View: ComponentType<Props> } | null>(null);
  const problem = signal("");

  async function begin(): Promise<void> {
    try {
      const [View] = await Promise.all([load(), speakMore()]);
      found.value = { View };
      problem.value = "";
    } catch {
      // A gateway of another version has other files.
      problem.value = say("later.failed");
    }
  }

  return function Later(props: Props) {
    useEffect(() => {
      if (found.peek() === null) void begin();
    }, []);
    if (found.value !== null) return <found.value.View {...props} />;
    return (
      <>
        {title !== undefined && <h1>{say(title)}</h1>}
        {problem.value === "" ? <p>{say("later.loading")}</p> : <p class="warning">◆ {problem.value}</p>}
      </>
    );
  };
}
