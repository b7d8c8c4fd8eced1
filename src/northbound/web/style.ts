/** The page's style sheet, served from its own address because the page allows nothing inline. */
export const style = `:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif; }
body { margin: 1.5rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { margin: 0; font-size: 1.5rem; }
.health { display: flex; flex-wrap: wrap; gap: 0.5rem; list-style: none; padding: 0; }
.health li { border: 1px solid; border-radius: 0.3rem; padding: 0 0.5rem; }
.health .up { color: light-dark(#14602b, #7fd99a); }
.health .degraded, .health .starting { color: light-dark(#8a5a00, #f0c060); }
.health .down { color: light-dark(#a31212, #ff8f8f); font-weight: bold; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
thead th { position: sticky; top: 0; background: Canvas; }
.good .quality { color: light-dark(#14602b, #7fd99a); }
.stale { background: light-dark(#fff4d6, #3a2f10); }
.offline, .lost { background: light-dark(#fde3e3, #401818); }
.unknown, .none { opacity: 0.6; }
.old span { text-decoration: line-through; opacity: 0.7; }
`;
