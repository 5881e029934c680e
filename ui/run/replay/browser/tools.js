// Small tools: numbers from the server, elements, colours, axes.

const ICONS = {
  play: "M7 4l13 8-13 8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  back: "M17 5v14L7 12zM4 5h3v14H4z",
  forward: "M7 5v14l10-7zM17 5h3v14h-3z",
  start: "M4 5h3v14H4zM21 5v14l-7-7zM14 5v14l-7-7z",
  loop: "M7 7h10v3l5-4-5-4v3H5v7h2zM17 17H7v-3l-5 4 5 4v-3h12v-7h-2z",
  present: "M3 4h18v12H3zM5 6v8h14V6zM8 19h8v2H8z",
}

/** Numbers that the server packed as base64. */
function unpacked(text, Kind) {
  const raw = atob(text)
  const bytes = new Uint8Array(raw.length)
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i)
  return new Kind(bytes.buffer)
}

/** A new element with a class, words and a parent. */
function make(tag, name, parent, words) {
  const element = document.createElement(tag)
  if (name) element.className = name
  if (words !== undefined) element.textContent = words
  if (parent) parent.append(element)
  return element
}

/** A button with a drawn sign and a name that screen readers say. */
function iconButton(parent, icon, label, act) {
  const button = make("button", "icon", parent)
  button.type = "button"
  button.append(drawnIcon(icon))
  nameButton(button, icon, label)
  button.addEventListener("click", act)
  return button
}

/** A button with words. */
function wordsButton(parent, words, act) {
  const button = make("button", "words", parent, words)
  button.type = "button"
  button.addEventListener("click", act)
  return button
}

function drawnIcon(icon) {
  const space = "http://www.w3.org/2000/svg"
  const svg = document.createElementNS(space, "svg")
  svg.setAttribute("viewBox", "0 0 24 24")
  svg.setAttribute("aria-hidden", "true")
  svg.append(document.createElementNS(space, "path"))
  svg.firstChild.setAttribute("d", ICONS[icon])
  return svg
}

function nameButton(button, icon, label) {
  if (button.dataset.icon === icon && button.title === label) return
  button.dataset.icon = icon
  button.title = label
  button.setAttribute("aria-label", label)
  button.querySelector("path").setAttribute("d", ICONS[icon])
}

/** [red, green, blue] of a colour such as #0072b2 or rgb(0, 114, 178). */
function channels(colour) {
  const hex = colour.trim().match(/^#([0-9a-f]{6})/i)
  if (hex) return [0, 2, 4].map((i) => parseInt(hex[1].slice(i, i + 2), 16))
  const parts = colour.match(/[\d.]+/g)
  return parts ? parts.slice(0, 3).map(Number) : [128, 128, 128]
}

function mixed(from, to, share) {
  return from.map((value, i) => Math.round(value + (to[i] - value) * share))
}

function css(parts) {
  return `rgb(${parts[0]},${parts[1]},${parts[2]})`
}

/** A step of 1, 2 or 5 times a power of ten that cuts a span into at most so many parts. */
function niceStep(span, parts) {
  const rough = Math.max(span / parts, 1e-12)
  const power = 10 ** Math.floor(Math.log10(rough))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999)
}

/** The end of an axis on which more is to come: it moves seldom, and then by much. */
function roomyEnd(last) {
  let end = 10
  for (const factor of [2, 2.5, 2]) if (end < last) end *= factor
  while (end < last) end *= 2
  return end
}

/** A number for an axis or a reading. */
function short(value, percent) {
  if (percent) return `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`
  const size = Math.abs(value)
  if (size && (size < 1e-3 || size >= 1e6)) return value.toExponential(0).replace("e+", "e")
  if (Number.isInteger(value)) return value.toLocaleString("en")
  return String(Number(value.toPrecision(3)))
}

/** A canvas with as many points as the screen has, whatever its zoom. */
function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1
  canvas.width = Math.max(1, Math.round(width * ratio))
  canvas.height = Math.max(1, Math.round(height * ratio))
  const pen = canvas.getContext("2d")
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  return pen
}
