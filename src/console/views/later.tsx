import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";

/**
 * A view whose code is loaded when it is first shown: most pages do not need it, and the first page loads
 * faster.
 *
 * @param title its heading while it is loaded; absent: it is a part of another view
 */
export function viewLater<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  title?: string,
): ComponentType<Props> {
  const found = signal<{ readonly View: ComponentType<Props> } | null>(null);
  const problem = signal("");

  async function begin(): Promise<void> {
    try {
      found.value = { View: await load() };
      problem.value = "";
    } catch {
      // A gateway of another version has other files.
      problem.value = "This part of the page could not be loaded. Load the page again.";
    }
  }

  return function Later(props: Props) {
    useEffect(() => {
      if (found.peek() === null) void begin();
    }, []);
    if (found.value !== null) return <found.value.View {...props} />;
    return (
      <>
        {title !== undefined && <h1>{title}</h1>}
        {problem.value === "" ? <p>Loading …</p> : <p class="warning">◆ {problem.value}</p>}
      </>
    );
  };
}
