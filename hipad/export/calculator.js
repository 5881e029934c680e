// A risk calculator: the model stands in the page as JSON, and nothing leaves the page.
"use strict";

const model = JSON.parse(document.getElementById("model").textContent);
const element = (tag, text, parent) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
};

// what one column adds to the score; null where the model gives no answer without a value
function contribution(term, value) {
  const missing = value === null || value === undefined || value === "";
  if (term.weights) {
    if (missing && !term.answers_gaps) return null;
    return Object.hasOwn(term.weights, String(value)) ? term.weights[String(value)] : 0;
  }
  const number = missing ? term.fill : Number(value);
  return number === null || !Number.isFinite(number) ? null : term.weight * number;
}

function logOdds(score) {
  const { knots, line, bound } = model.risk;
  let found;
  if (line) found = line.slope * score + line.intercept;
  else {
    const last = knots.length - 1;
    if (score <= knots[0][0]) found = knots[0][1];
    else if (score >= knots[last][0]) found = knots[last][1];
    else {
      const k = knots.findIndex(([at]) => at >= score) - 1;
      const [[x0, y0], [x1, y1]] = [knots[k], knots[k + 1]];
      found = y0 + ((score - x0) * (y1 - y0)) / (x1 - x0);
    }
  }
  return Math.min(Math.max(found, -bound), bound);
}

// score, risk and contributions of values by column; score null where there is no answer
function answer(row) {
  const parts = model.terms.map((term) => contribution(term, row[term.column]));
  if (parts.includes(null)) return { score: null, risk: null, parts };
  const score = parts.reduce((sum, part) => sum + part, model.intercept);
  return { score, risk: model.risk ? 1 / (1 + Math.exp(-logOdds(score))) : null, parts };
}

function said(found) {
  if (found.score === null) return "No answer: a value is missing.";
  const above = model.threshold === null || found.risk === null
    ? found.score > 0 : found.risk >= model.threshold;
  return model.classes[above ? 1 : 0];
}

const form = document.getElementById("values");
const fields = model.terms.map((term, j) => {
  const label = element("label", undefined, form);
  element("span", term.column, label);
  let field;
  if (term.weights) {
    field = element("select", undefined, label);
    element("option", "not known", field).value = "";
    for (const level of term.levels) element("option", level, field).value = level;
    element("option", "another one", field).value = " another ";
  } else {
    field = element("input", undefined, label);
    field.type = "text";
    field.inputMode = "decimal";
    field.placeholder = term.fill === null ? "needed" : `not known: ${Number(term.fill.toPrecision(4))}`;
  }
  field.id = `value-${j}`;
  element("small", "", label).id = `note-${j}`;
  field.addEventListener("input", show);
  return field;
});

// what was typed, and what is odd about it; decimal commas are read as points
function typed(term, field) {
  const text = field.value.trim();
  if (term.weights || text === "") return { value: text || null, note: "" };
  const value = Number(text.replace(/^([^.]*),([^,.]*)$/, "$1.$2"));
  if (!Number.isFinite(value)) return { value: null, note: "not a number: taken as not known" };
  const outside = term.range && (value < term.range[0] || value > term.range[1]);
  const range = outside ? `outside what the model has seen (${term.range[0]} to ${term.range[1]})` : "";
  return { value, note: range };
}

function show() {
  const row = Object.create(null);
  model.terms.forEach((term, j) => {
    const { value, note } = typed(term, fields[j]);
    row[term.column] = value;
    document.getElementById(`note-${j}`).textContent = note;
  });
  const found = answer(row);
  document.getElementById("answer").textContent = said(found);
  document.getElementById("risk").textContent = found.risk === null
    ? "" : `Risk of ${model.classes[1]}: ${(100 * found.risk).toFixed(1)} %`;
  const reasons = document.getElementById("reasons");
  reasons.replaceChildren();
  if (found.score === null) return;
  const usual = model.terms.map((term) => contribution(term, null) ?? 0);
  found.parts
    .map((part, j) => [part - usual[j], model.terms[j].column])
    .filter(([by]) => by !== 0)
    .sort(([one], [other]) => Math.abs(other) - Math.abs(one))
    .slice(0, 12)
    .forEach(([by, name]) => {
      const item = element("li", undefined, reasons);
      element("span", name, item);
      element("span", `${by > 0 ? "towards" : "against"} ${model.classes[1]}: ${by.toFixed(3)}`, item);
    });
}

window.hipad = { answer };
show();
