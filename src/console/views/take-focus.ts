/**
 * Gives the focus to what has just been drawn. Call what it returns when that goes: the focus goes back to
 * where it was, unless it is elsewhere by then.
 *
 * @param area what is drawn, and goes
 * @param first what gets the focus in it
 */
export function takeFocus(area: HTMLElement | null, first: HTMLElement | null = area): () => void {
  const before = document.activeElement;
  first?.focus({ preventScroll: true });
  return () => {
    // The area may still be drawn here, and then it has the focus itself.
    const focused = document.activeElement ?? document.body;
    const isElsewhere = focused !== document.body && area?.contains(focused) !== true;
    if (before instanceof HTMLElement && !isElsewhere) before.focus();
  };
}
