// The names that a rule may use: fetched once for each set of data, kept as long as the page is.

import { plain } from "./scanning.js";

const KEPT = new Map();

/** Names with what they are: [{ text, label, small, kind, detail }], and a quick `has`. */
export class Names {
  constructor({ features = [], blocks = [], classes = [], categories = [] }) {
    this.blocks = blocks.map(([text, size]) => entry(text, "block", `block of ${size}`));
    this.classes = classes.map((text) => entry(text, "outcome", "outcome"));
    this.features = features.map((text) => entry(text, "feature", ""));
    this.categories = categories.map(([text, levels]) => category(text, levels));
    this.levels = new Map(this.categories.map(({ label, levels }) => [plain(label), levels]));
    this.known = new Set();
    for (const { label, small } of [...this.features, ...this.blocks]) {
      this.known.add(label).add(small);
    }
    const own = [...this.blocks, ...this.categories, ...this.features];
    const levels = this.categories.flatMap((each) => each.levels);
    this.whole = new Set([...own, ...levels, ...this.classes].map(({ label }) => plain(label)));
    this.byFirst = new Map(); // names of several words or signs, by the first of them
    for (const name of [...own, ...this.classes]) {
      const first = firstOf(name.small);
      if (first === name.small) continue;
      if (!this.byFirst.has(first)) this.byFirst.set(first, []);
      this.byFirst.get(first).push(name);
    }
  }

  has(word) {
    return this.known.has(word);
  }

  /** Whether a text is a name as it stands: of a feature, block, category, level or outcome. */
  isWhole(text) {
    return this.whole.has(plain(text));
  }

  /** Names of several words or signs of which the text has at least the first. */
  begunBy(text, most) {
    const begun = plain(text);
    const found = [];
    for (const name of this.byFirst.get(firstOf(begun)) ?? []) {
      if (plain(name.label).startsWith(begun)) found.push(name);
      if (found.length === most) break;
    }
    return found;
  }
}

function firstOf(text) {
  return /^\s*([\p{L}\p{N}_]+|\S)/u.exec(text)?.[1] ?? "";
}

function category(text, levels) {
  const made = entry(text, "category", `category of ${levels.length}`);
  return { ...made, levels: levels.map((level) => entry(level, "level", made.label)) };
}

const MARKS = { "`": /``/g, '"': /""/g };

/** `text` is how a rule writes the name, `label` the name itself. */
export function entry(text, kind, detail) {
  const marks = MARKS[text[0]];
  const label = marks ? text.slice(1, -1).replace(marks, text[0]) : text;
  return { text, label, small: label.toLowerCase(), kind, detail };
}

/** The names under this key, from this address; the same promise for the same key. */
export function load(key, address) {
  if (!KEPT.has(key) && address) {
    const asked = fetch(address, { credentials: "same-origin" }).then((answer) => {
      if (!answer.ok) throw new Error(`names: ${answer.status}`);
      return answer.json();
    });
    KEPT.set(key, asked.then((lists) => new Names(lists)));
    asked.catch(() => KEPT.delete(key));
    for (const old of [...KEPT.keys()].slice(0, -3)) KEPT.delete(old);
  }
  return KEPT.get(key);
}

/** Up to `most` entries that have the query in their name: at its start, at a part's start, within. */
export function search(entries, query, most) {
  const small = query.toLowerCase();
  const ranks = [[], [], [], []];
  for (const found of entries) {
    const at = found.small.indexOf(small);
    if (at < 0 || (at > 0 && ranks[2].length >= most)) continue;
    const rank = at === 0 ? (found.label.startsWith(query) ? 0 : 1) : startsPart(found, small, at) ? 2 : 3;
    if (ranks[rank].length < most) ranks[rank].push(found);
    if (ranks[0].length >= most) break;
  }
  return ranks.flat().slice(0, most);
}

function startsPart({ label, small }, query, first) {
  for (let at = first; at >= 0; at = small.indexOf(query, at + 1)) {
    const [left, right] = [label[at - 1], label[at]];
    if (!/[\p{L}\p{N}]/u.test(left) || /\d/.test(left) !== /\d/.test(right)) return true;
    if (/\p{Ll}/u.test(left) && /\p{Lu}/u.test(right)) return true;
  }
  return false;
}
