// Colours: a tolerant tokenizer. What it does not know stays as plain text.

import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { Tag } from "@lezer/highlight";
import { ARROW, VERBS, closing } from "./scanning.js";

const KINDS = ["feature", "function", "number", "outcome", "note", "worth", "word", "sign", "title"];
const TAGS = Object.fromEntries(KINDS.map((kind) => [kind, Tag.define()]));
const STYLE = HighlightStyle.define(
  KINDS.map((kind) => ({ tag: TAGS[kind], class: `hipad-${kind}` })),
);
const WORD = /^[\p{L}_][\p{L}\p{N}_.]*/u;
const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?%?/i;
const RELATION = /^(?:<=|>=|=<|==|!=|[<>=≤≥⩽⩾≠±∈+\-−*·×/^])/u;

/** The words of the language as a set, and the functions, for `colours`. */
export function vocabulary(words, functions) {
  return { words: new Set(words), functions: new Set(functions) };
}

/** An extension that colours rules, with what is known of the names so far. */
export function colours(vocabulary, names) {
  const language = StreamLanguage.define({
    name: "rules",
    tokenTable: TAGS,
    startState: () => ({ side: "premise", begun: false }),
    copyState: (state) => ({ ...state }),
    token: (stream, state) => token(stream, state, vocabulary, names),
  });
  return [language, syntaxHighlighting(STYLE)];
}

function token(stream, state, { words, functions }, names) {
  if (stream.sol()) Object.assign(state, { side: "premise", begun: false });
  if (stream.eatSpace()) return null;
  const isFirst = !state.begun;
  state.begun = true;
  const sign = stream.peek();
  if (sign === "#") return stream.skipToEnd(), "note";
  if (sign === "`") return quoted(stream), state.side === "premise" ? "feature" : "outcome";
  if (sign === '"' || sign === "'" || sign === "“") return quoted(stream), "outcome";
  if (stream.match(ARROW)) return (state.side = "outcome"), "sign";
  if (stream.match(NUMBER)) return state.side === "premise" ? "number" : state.side;
  if (stream.match(RELATION)) return "sign";
  const word = stream.match(WORD)?.[0];
  if (!word) return stream.next(), null;
  if (isFirst && stream.match(/^\s*:(?!:)/, false)) return (state.begun = false), "title";
  if (isFirst && word.toLowerCase() === "off") return (state.begun = false), "word";
  return kindOf(word, state, words, functions, names, stream);
}

function kindOf(word, state, words, functions, names, stream) {
  const small = word.toLowerCase();
  if (small === "worth") return (state.side = "worth");
  if (VERBS.has(small)) return (state.side = "outcome"), "word";
  if (state.side !== "premise") return state.side;
  if (functions.has(small) && stream.match(/^\s*\(/, false)) return "function";
  if (names?.has(word)) return "feature";
  if (words.has(small)) return "word";
  return names?.has(small) ? "feature" : null;
}

function quoted(stream) {
  const end = closing(stream.string, stream.pos);
  if (end < 0) stream.skipToEnd();
  else stream.pos = end + 1;
}
