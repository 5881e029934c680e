// What each line means, or what is wrong with it, beside the line and at its place.

import { setDiagnostics } from "@codemirror/lint";
import { RangeSet, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, ViewPlugin, gutter } from "@codemirror/view";

const ROW = 18; // pixels of one row of words beside a line; the same in editor.css
const PADDING = 20;
const SHARE = 0.42; // of the editor's width, for the words beside the lines
const NARROW = 560; // pixels below which the words stand under the editor only
const take = StateEffect.define();
const resize = StateEffect.define();

/** The words of one line: a meaning, or a mistake with its remedies as buttons. */
class Words extends GutterMarker {
  constructor(said) {
    super();
    this.said = said;
  }

  eq(other) {
    return JSON.stringify(this.said) === JSON.stringify(other.said);
  }

  toDOM(view) {
    const box = element("div", this.said.fixes ? "hipad-mistake" : "hipad-means", this.said.words);
    box.title = this.said.words;
    for (const button of remedies(view, this.said, -1)) box.append(button);
    return box;
  }
}

export function element(kind, className, words = "") {
  const made = document.createElement(kind);
  made.className = className;
  made.textContent = words;
  return made;
}

/** One button for each remedy of a mistake. */
export function remedies(view, said, tabIndex = 0) {
  return (said.fixes ?? []).map((fix) => {
    const button = element("button", "hipad-fix", fix.label);
    button.type = "button";
    button.tabIndex = tabIndex;
    button.addEventListener("mousedown", (event) => event.preventDefault()); // keep the cursor
    button.addEventListener("click", () => apply(view, said, fix));
    return button;
  });
}

/** Write a remedy in place of the line that it was made for, if that line still stands there. */
export function apply(view, said, fix) {
  const line = lineOf(view.state, said);
  if (!line || line.text !== fix.before) return false;
  view.dispatch({
    changes: shortest(line.text, fix.after, line.from),
    userEvent: "input.remedy",
    scrollIntoView: true,
  });
  view.focus();
  return true;
}

/** The change of one text into another, as small as it can be, so that the cursor stays. */
export function shortest(old, now, offset = 0) {
  let start = 0;
  const most = Math.min(old.length, now.length);
  while (start < most && old[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  return {
    from: offset + start,
    to: offset + old.length - end,
    insert: now.slice(start, now.length - end),
  };
}

const beside = StateField.define({
  create: () => RangeSet.empty,
  update(ranges, transaction) {
    ranges = ranges.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(take)) ranges = built(transaction.state, effect.value);
    return ranges;
  },
});

function built(state, lines) {
  const builder = new RangeSetBuilder();
  const known = lines.filter(({ at }) => at <= state.doc.length);
  for (const said of known) {
    const { from } = state.doc.lineAt(said.at);
    builder.add(from, from, new Words(said));
  }
  return builder.finish();
}

function lineOf(state, said) {
  for (const cursor = state.field(beside).iter(); cursor.value; cursor.next()) {
    if (cursor.value.said === said) return state.doc.lineAt(cursor.from);
  }
  return null;
}

/** What is said of the line at a place, or null. */
export function saidAt(state, place) {
  const { from, to } = state.doc.lineAt(place);
  let said = null;
  state.field(beside).between(from, to, (_, __, marker) => {
    said = marker.said;
  });
  return said;
}

/** Lines are made as high as the words beside them need. */
const heights = StateField.define({
  create: () => ({ width: 0, lines: Decoration.none }),
  update(value, transaction) {
    const widths = transaction.effects.filter((effect) => effect.is(resize)).map(({ value: width }) => width);
    const width = widths.at(-1) ?? value.width;
    const isNew = widths.length || transaction.effects.some((effect) => effect.is(take));
    if (!isNew) return { width, lines: value.lines.map(transaction.changes) };
    return { width, lines: heightened(transaction.state, width) };
  },
  provide: (field) => EditorView.decorations.from(field, ({ lines }) => lines),
});

function heightened(state, width) {
  const builder = new RangeSetBuilder();
  for (const cursor = state.field(beside).iter(); cursor.value; cursor.next()) {
    const rows = rowsOf(cursor.value.said, width);
    if (rows > 1) builder.add(cursor.from, cursor.from, tall(rows));
  }
  return builder.finish();
}

const TALL = new Map();
function tall(rows) {
  if (!TALL.has(rows)) {
    TALL.set(rows, Decoration.line({ attributes: { style: `min-height: ${rows * ROW + 4}px` } }));
  }
  return TALL.get(rows);
}

const PEN = document.createElement("canvas").getContext("2d");
function rowsOf({ words, fixes }, width) {
  if (width < 60 || !PEN) return 1;
  PEN.font = '13px "Source Sans", sans-serif';
  const room = 0.96 * (width - PADDING);
  let rows = 1;
  let used = 0;
  for (const word of words.split(/\s+/)) {
    const size = PEN.measureText(`${word} `).width;
    if (used && used + size > room) [rows, used] = [rows + 1, 0];
    rows += Math.floor(size / room);
    used += size % room;
  }
  return Math.min(rows, 8) + (fixes?.length ? 1.5 : 0);
}

const measured = ViewPlugin.define((view) => {
  const watch = new ResizeObserver(() => {
    const isNarrow = view.dom.clientWidth < NARROW;
    const width = isNarrow ? 0 : Math.round(SHARE * view.dom.clientWidth);
    view.dom.classList.toggle("hipad-narrow", isNarrow);
    view.dom.style.setProperty("--hipad-beside", `${width}px`);
    if (Math.abs(width - view.state.field(heights).width) > 1) view.dispatch({ effects: resize.of(width) });
  });
  watch.observe(view.dom);
  return { destroy: () => watch.disconnect() };
});

/** The extension. */
export function besideLines() {
  const column = gutter({
    class: "hipad-beside",
    side: "after",
    markers: (view) => view.state.field(beside),
  });
  return [beside, heights, measured, column];
}

/** Show what the server says of the text as it stands now. */
export function show(view, { meanings, problems }) {
  const size = view.state.doc.length;
  const lines = [
    ...meanings.map(([at, words]) => ({ at, words })),
    ...problems.map(({ line, words, fixes }) => ({ at: line, words, fixes })),
  ].sort((a, b) => a.at - b.at);
  view.dispatch({ effects: take.of(lines.filter((said, n) => !n || said.at !== lines[n - 1].at)) });
  const marks = problems
    .filter(({ to }) => to <= size)
    .map(({ from, to, words }) => ({ from, to, severity: "error", message: words }));
  view.dispatch(setDiagnostics(view.state, marks));
}
