import { type IconName, iconPaths } from "../icon-paths.ts";

/** A picture beside a word, or of a button that has a name. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={iconPaths[name]} />
    </svg>
  );
}
