// Completion of features, blocks, outcomes, functions and words at the cursor.

import { autocompletion, pickedCompletion } from "@codemirror/autocomplete";
import { entry, search } from "./names.js";
import { before } from "./scanning.js";

const MOST = 50;
const UNTIL = /[^\s()[\],;:<>=!&|+*/^"'`#≤≥→⇒]+$/u; // a name may hold a hyphen: tried with and without

/** An extension; `look()` gives { names, functions, words } as they are known now. */
export function completing(look) {
  return autocompletion({
    override: [(context) => offer(context, look())],
    icons: false,
    maxRenderedOptions: MOST,
    optionClass: (option) => `hipad-option-${option.type}`,
  });
}

/** The completions at a place, or null. */
export function offer(context, known) {
  const line = context.state.doc.lineAt(context.pos);
  const text = line.text.slice(0, context.pos - line.from);
  const place = before(text);
  if (place.inNote) return null;
  for (const start of starts(text, place)) {
    const query = text.slice(start).replace(/^[`"'“]/u, "");
    if (!query && !context.explicit) return null;
    const found = matches(query, place, text[start], known);
    const isWritten = found.some(({ text: written }) => written === text.slice(start));
    if (isWritten && !context.explicit) return null;
    if (found.length) return answer(found, query, line.from + start, context, place);
  }
  return null;
}

function starts(text, { open }) {
  if (open >= 0) return [open];
  const word = UNTIL.exec(text)?.[0] ?? "";
  const whole = text.length - word.length;
  const last = text.length - (/[^-−]*$/u.exec(word)[0].length);
  if (/^[\d.]+$/.test(word)) return []; // a number is being written
  return whole === last ? [whole] : [whole, last];
}

function matches(query, place, mark, { names, functions, words }) {
  const classes = search(names?.classes ?? [], query, MOST);
  if (mark === '"' || mark === "'" || mark === "“") return classes;
  const own = [
    ...search(names?.blocks ?? [], query, MOST),
    ...search(names?.features ?? [], query, MOST),
  ];
  if (mark === "`") return own;
  const language = search(
    [
      ...functions.map((name) => entry(name, "function", "function")),
      ...words.map((word) => entry(word, "word", "")),
    ],
    query,
    MOST,
  ).filter(({ small }) => small.startsWith(query.toLowerCase()));
  const ordered = place.afterArrow ? [...classes, ...language, ...own] : [...own, ...language, ...classes];
  return place.afterArrow ? ordered : byStart(ordered, query.toLowerCase());
}

/** What begins like the query comes before what only holds it. */
function byStart(found, small) {
  const begins = ({ small: name }) => name.startsWith(small);
  return [...found.filter(begins), ...found.filter((name) => !begins(name))];
}

function answer(found, query, from, context, { open }) {
  const options = found.slice(0, MOST).map((name) => ({
    label: name.label,
    detail: name.detail || undefined,
    type: name.kind,
    apply: (view, completion, start, end) => write(view, completion, name, start, end, open >= 0),
  }));
  const getMatch = ({ label }) => {
    const at = label.toLowerCase().indexOf(query.toLowerCase());
    return query && at >= 0 ? [at, at + query.length] : [];
  };
  return { from, to: context.pos, options, filter: false, getMatch };
}

function write(view, completion, { text, kind }, from, to, isOpen) {
  const after = view.state.sliceDoc(to, to + 1);
  if (isOpen && after && "`\"'”".includes(after)) to += 1;
  const insert = kind === "function" && after !== "(" ? `${text}(` : text;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    annotations: pickedCompletion.of(completion),
    userEvent: "input.complete",
  });
}
