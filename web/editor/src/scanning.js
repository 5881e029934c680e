// A light reading of one line: where its note begins, what is open, and on which side of the arrow.
// The language itself is read on the server; here nothing is refused.

export const ARROW = /^(?:={1,2}>|-{1,2}>|[⇒⟹→])/u;
const CLOSING = { "`": "`", '"': '"', "'": "'", "“": "”" };
const SAYS = /^(?:then|says|implies)(?![\p{L}\p{N}_.])/iu;

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

/** What stands before a place of the line: inside a note, behind an open mark, after the arrow. */
export function before(text) {
  const found = { inNote: false, open: -1, afterArrow: false };
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === "#") return { ...found, inNote: true };
    if (sign in CLOSING) {
      const end = closing(text, at);
      if (end < 0) return { ...found, open: at };
      at = end;
    } else if (ARROW.test(text.slice(at, at + 3)) || startsWord(text, at, SAYS)) {
      found.afterArrow = true;
    }
  }
  return found;
}

function startsWord(text, at, word) {
  return !/[\p{L}\p{N}_.]/u.test(text[at - 1] ?? " ") && word.test(text.slice(at, at + 9));
}
