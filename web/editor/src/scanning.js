// A light reading of one line: where its note begins, what is open, and where its outcome begins.
// The language itself is read on the server; here nothing is refused.

export const ARROW = /^(?:={1,3}>|-{1,2}>|[⇒⟹→⟶↦➔➜])/u;
const CLOSING = { "`": "`", '"': '"', "'": "'", "“": "”" };
const SAYS = /^(?:then|says|implies|means|indicates|predicts|leads\s+to)(?![\p{L}\p{N}_.])/iu;
const NOTE = /^(?:--+(?=\s)|\/\/)/;
const CHUNK = /[\p{L}\p{N}_]+|\S/uy;
const BLANKS = /\s*/uy;

/** Where `mark`, opened at `at`, ends; a doubled mark stands for one. -1 if it is still open. */
export function closing(line, at) {
  const mark = CLOSING[line[at]];
  for (let i = at + 1; i < line.length; i++) {
    if (line[i] !== mark) continue;
    if (mark === line[at] && line[i + 1] === mark) i++;
    else return i;
  }
  return -1;
}

/** Whether a mark opens here; the one of `isn't` does not. */
function opens(text, at) {
  return text[at] in CLOSING && !(text[at] === "'" && /[\p{L}\p{N}]/u.test(text[at - 1] ?? ""));
}

/** What stands before a place: a note, an open mark, and an arrow, after which the outcome begins. */
export function before(text) {
  const found = { inNote: false, open: -1, outcome: -1 };
  for (let at = 0; at < text.length; at++) {
    const isAfterBlank = /\s/.test(text[at - 1] ?? "");
    if (text[at] === "#" || (isAfterBlank && NOTE.test(text.slice(at)))) return { ...found, inNote: true };
    if (opens(text, at)) {
      const end = closing(text, at);
      if (end < 0) return { ...found, open: at };
      at = end;
      continue;
    }
    const arrow = ARROW.exec(text.slice(at, at + 4)) ?? saying(text, at);
    if (!arrow) continue;
    found.outcome = afterBlanks(text, at + arrow[0].length);
    at += arrow[0].length - 1;
  }
  return found;
}

function saying(text, at) {
  return /[\p{L}\p{N}_.]/u.test(text[at - 1] ?? " ") ? null : SAYS.exec(text.slice(at));
}

/** Where words and signs begin, from `first` on; what stands between marks is one of them. */
export function chunks(text, first = 0) {
  const starts = [];
  let at = afterBlanks(text, first);
  while (at < text.length) {
    starts.push(at);
    const end = opens(text, at) ? closing(text, at) : -1;
    at = afterBlanks(text, end < 0 ? past(CHUNK, text, at) : end + 1);
  }
  return starts;
}

/** The first place from `at` on that is no blank. */
export function afterBlanks(text, at) {
  return past(BLANKS, text, at);
}

/** Where a pattern that may stand at a place ends. */
function past(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** What a text spells without the marks around it, which may be open still. */
export function spelled(text) {
  const mark = CLOSING[text[0]];
  if (!mark) return text;
  const end = closing(text, 0);
  if (end >= 0 && text.slice(end + 1).trim()) return text;
  const inside = text.slice(1, end < 0 ? undefined : end);
  return mark === text[0] ? inside.replaceAll(mark + mark, mark) : inside;
}

/** A text as names are compared: in any case, with any blanks. */
export function plain(text) {
  return text.toLowerCase().trim().replace(/\s+/gu, " ");
}
