/** Drawn on 24 × 24, as lines: the colour is that of the text beside it. The map has some of them too. */
export const iconPaths = {
  floor: "M4 6l5-2 6 2 5-2v14l-5 2-6-2-5 2zM9 4v14M15 6v14",
  stations: "M3 16h18M5 16v4M19 16v4M12 4v8M8.5 8.5L12 12l3.5-3.5",
  commands: "M4 6h10M4 12h7M4 18h10M17 9l3 3-3 3M20 12h-6",
  alarms: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4M12 3v2",
  tags: "M4 4h7l9 9-7 7-9-9zM8 8h.01",
  connections: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
  simulator: "M10 3v6L4.5 19A1.5 1.5 0 0 0 6 21h12a1.5 1.5 0 0 0 1.5-2L14 9V3M8 3h8M7.5 15h9",
  manual: "M12 6.5C10 5 7 4.5 4 5v13c3-.5 6 0 8 1.5 2-1.5 5-2 8-1.5V5c-3-.5-6 0-8 1.5zM12 6.5v13",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  search: "M11 18a7 7 0 1 1 0-14 7 7 0 0 1 0 14zM16 16l4.5 4.5",
  pause: "M8 5v14M16 5v14",
  play: "M7 5l12 7-12 7z",
  hold: "M7 12V6.5a1.5 1.5 0 0 1 3 0V11M10 10V4.5a1.5 1.5 0 0 1 3 0V11M13 11V5.5a1.5 1.5 0 0 1 3 0V14M16 9.5a1.5 1.5 0 0 1 3 0V14a7 7 0 0 1-13 3l-2-4a1.5 1.5 0 0 1 2.5-1.5L7 13",
  goTo: "M12 21s-7-6-7-11a7 7 0 0 1 14 0c0 5-7 11-7 11zM12 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  charge: "M13 3L5 14h6l-1 7 8-11h-6z",
  conveyor:
    "M3 15h18M6 18.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM18 18.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 18.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM8 5h8v7H8z",
  cancel: "M6 6l12 12M18 6L6 18",
  expert: "M5 5l6 6-6 6M13 18h7",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  day: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  night: "M20 14a8 8 0 1 1-10-10 6.5 6.5 0 0 0 10 10z",
  check: "M5 12l5 5 9-10",
  home: "M4 11l8-7 8 7M6 10v10h12V10M10 20v-5h4v5",
  robot: "M5 9h14v9H5zM9 18v2M15 18v2M12 9V5M9 13h.01M15 13h.01M12 5h.01",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
} as const;

export type IconName = keyof typeof iconPaths;
