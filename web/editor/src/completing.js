// Completion of features, blocks, categories, levels, outcomes, functions and words at the cursor.
//
// What is offered takes the place of all that it completes: an outcome from the arrow on, a level from
// its sign on, a name from its first word on. Where a name stands whole nothing is offered, so that
// Enter begins a line.

import { autocompletion, pickedCompletion } from "@codemirror/autocomplete";
import { entry, search } from "./names.js";
import { afterBlanks, before, chunks, plain, spelled } from "./scanning.js";

const MOST = 50;
const LONGEST = 200; // characters of a name that is completed from its first word
const UNTIL = /[^\s()[\]{},;:<>=!&|+*/^"'`#≤≥→⇒]+$/u; // a name may hold a hyphen: tried with and without
const NUMBER = /^[+−-]?(?:\d+(?:[.,]\d*)*|\.\d*)%?$/u;
const AFTER_NUMBER = /(?:^|[^\p{L}\p{N}_.,])\d+(?:[.,]\d+)*%?\s+$/u; // a unit or a word follows, no name
const NOT = /^(?:not|no|non)[\s-]\s*/i;
const SIDES = new Set(["positive", "negative"]); // outcomes in any data
const RELATION =
  /[=<>!≤≥≠⩽⩾]+|(?<![\p{L}\p{N}_])(?:(?:not\s+)?in\s*[[({]|(?:is\s+not|isn['’]t|is|are|equals|equal\s+to)(?![\p{L}\p{N}_]))/giu;

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
  if (!context.explicit && (!text.trim() || isWhole(text, place, known))) return null;
  const found = place.outcome >= 0 ? inOutcome(text, place, known) : inPremise(text, place, known);
  const wanted = found.filter(({ query }) => query || context.explicit).slice(0, MOST);
  return wanted.length ? answer(wanted, line, context, place) : null;
}

/** What the text says from a place on, without marks. */
function said(text, start) {
  return spelled(text.slice(start)).trim().replace(/\s+/gu, " ");
}

/** Entries with where the text that they complete begins, and what it says. */
function placed(entries, text, start) {
  return entries.map((name) => ({ name, start, query: said(text, start) }));
}

/** Whether the text ends with something whole: a name, a level, an outcome or a word. */
function isWhole(text, { open, outcome }, { names, functions, words }) {
  if (outcome < 0) {
    const isKnown = (word) => words.includes(word) || functions.includes(word) || names?.isWhole(word);
    return nearChunks(text).some((start) => start !== open && isKnown(plain(said(text, start))));
  }
  const classes = names?.classes.map(({ label }) => plain(label)) ?? [];
  const isOutcome = (word) => SIDES.has(word) || NUMBER.test(word) || classes.includes(word);
  return (
    outcomeStarts(text, outcome).some((start) => start !== open && isOutcome(plain(said(text, start)))) ||
    words.includes(plain(lastWord(text)))
  );
}

/** Where words and signs begin that a name may begin with. */
function nearChunks(text) {
  return chunks(text).filter((start) => text.length - start <= LONGEST);
}

function lastWord(text) {
  return UNTIL.exec(text)?.[0] ?? "";
}

function outcomeStarts(text, outcome) {
  const turned = NOT.exec(text.slice(outcome));
  return turned ? [outcome, outcome + turned[0].length] : [outcome];
}

/** A class takes all that stands after the arrow, but for a leading not; its worth may follow. */
function inOutcome(text, { outcome }, { names, words }) {
  for (const start of outcomeStarts(text, outcome)) {
    const classes = search(names?.classes ?? [], said(text, start), MOST);
    if (classes.length) return placed(classes, text, start);
  }
  const last = text.length - lastWord(text).length;
  const ending = last > outcome ? /^worth / : /^not$/;
  const endings = words.filter((word) => ending.test(word)).map((word) => entry(word, "word", ""));
  return placed(starting(endings, text.slice(last)), text, last);
}

/** A level of a category, else a name from its first word on, else what the last word is part of. */
function inPremise(text, { open }, known) {
  const levels = ofCategory(text, open, known.names);
  if (levels.length) return levels;
  const word = open < 0 ? lastWord(text) : text.slice(open);
  const last = text.length - word.length;
  const earlier = nearChunks(text).filter((start) => start < last);
  for (const start of earlier) {
    const isNumber = NUMBER.test(text.slice(start).trim());
    const names = isNumber ? [] : (known.names?.begunBy(text.slice(start), MOST) ?? []);
    if (names.length) return placed(names, text, start);
  }
  if (open >= 0) return placed(marked(text[open], said(text, open), known), text, open);
  if (NUMBER.test(word)) return [];
  const phrases = word ? earlier.flatMap((start) => begunPhrases(text, start, known)) : [];
  const isAfterNumber = AFTER_NUMBER.test(text.slice(0, last));
  for (const start of [last, text.length - /[^-−]*$/u.exec(word)[0].length]) {
    const query = text.slice(start);
    const found = isAfterNumber ? starting(wordsOf(known), query) : anything(query, known);
    if (found.length || phrases.length) return [...phrases, ...placed(found, text, start)];
  }
  return [];
}

/** The levels of the category that stands before the last sign, from that sign on. */
function ofCategory(text, open, names) {
  if (!names?.levels.size) return [];
  const head = open < 0 ? text : text.slice(0, open);
  for (const sign of [...head.matchAll(RELATION)].reverse()) {
    const left = head.slice(0, sign.index).trimEnd();
    const group = nearChunks(left).find((start) => names.levels.has(plain(spelled(left.slice(start)))));
    if (group === undefined) continue;
    const levels = names.levels.get(plain(spelled(left.slice(group))));
    const first = sign.index + sign[0].length;
    const isSet = /[[({]$/.test(sign[0]);
    const start = afterBlanks(text, isSet ? lastItem(head, first) : first);
    const found = search(levels, said(text, start), MOST);
    if (found.length) return placed(found, text, start);
  }
  return [];
}

/** Where the last of several values begins. */
function lastItem(text, first) {
  return text.length - /[^,;]*$/u.exec(text.slice(first))[0].length;
}

/** Phrases of the language that an earlier word has begun: `is r` for `is raised in`. */
function begunPhrases(text, start, known) {
  const phrases = wordsOf(known).filter(({ small }) => small.includes(" "));
  return placed(starting(phrases, plain(text.slice(start))), text, start);
}

function wordsOf({ words }) {
  return words.map((word) => entry(word, "word", ""));
}

function language(known) {
  return [...known.functions.map((name) => entry(name, "function", "function")), ...wordsOf(known)];
}

/** What begins with the query. */
function starting(entries, query) {
  return search(entries, query, MOST).filter(({ small }) => small.startsWith(query.toLowerCase()));
}

/** Names that may stand between marks of this kind. */
function marked(mark, query, { names }) {
  if (mark !== "`") return search(names?.classes ?? [], query, MOST);
  return own(query, names);
}

function own(query, names) {
  const kinds = [names?.blocks ?? [], names?.categories ?? [], names?.features ?? []];
  return kinds.flatMap((entries) => search(entries, query, MOST));
}

function anything(query, known) {
  const classes = search(known.names?.classes ?? [], query, MOST);
  const found = [...own(query, known.names), ...starting(language(known), query), ...classes];
  const begins = ({ small }) => small.startsWith(query.toLowerCase());
  return [...found.filter(begins), ...found.filter((name) => !begins(name))];
}

function answer(found, line, context, { open }) {
  const first = Math.min(...found.map(({ start }) => start));
  const options = found.map(({ name, start, query }) => ({
    label: name.label,
    detail: name.detail || undefined,
    type: name.kind,
    query,
    apply: (view, completion, at, to) =>
      write(view, completion, name, { from: at + start - first, to, query, isOpen: open >= 0 }),
  }));
  const getMatch = ({ label, query }) => {
    const at = label.toLowerCase().indexOf(query.toLowerCase());
    return query && at >= 0 ? [at, at + query.length] : [];
  };
  return { from: line.from + first, to: context.pos, options, filter: false, getMatch };
}

function write(view, completion, { text, label, small, kind }, { from, to, query, isOpen }) {
  const after = view.state.sliceDoc(to, view.state.doc.lineAt(to).to);
  const rest = small.startsWith(query.toLowerCase()) ? label.slice(query.length) : "";
  const same = [rest, rest.trimStart()].find((each) => goesOn(after, each));
  to += same?.length ?? 0; // the cursor stood within the name
  const next = view.state.sliceDoc(to, to + 1);
  if (isOpen && next && "`\"'”".includes(next)) to += 1;
  const insert = kind === "function" && next !== "(" ? `${text}(` : text;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    annotations: pickedCompletion.of(completion),
    userEvent: "input.complete",
  });
}

/** Whether the text goes on with the rest of a name, and not with a longer word. */
function goesOn(text, rest) {
  const isSame = text.slice(0, rest.length).toLowerCase() === rest.toLowerCase();
  return rest && isSame && !/^[\p{L}\p{N}_]/u.test(text.slice(rest.length));
}
