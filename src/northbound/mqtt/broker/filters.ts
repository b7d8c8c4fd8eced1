/** Whether a topic can exist that both filters match. A topic is a filter, too. */
export function filtersMeet(one: string, other: string): boolean {
  const ones = one.split("/");
  const others = other.split("/");
  for (let index = 0; ; index += 1) {
    const level = ones[index];
    const otherLevel = others[index];
    // A filter that ends with # matches the level above it, too (MQTT 3.1.1, 4.7.1.2).
    if (level === "#" || otherLevel === "#") return true;
    if (level === undefined || otherLevel === undefined) return level === otherLevel;
    if (level !== "+" && otherLevel !== "+" && level !== otherLevel) return false;
  }
}
