// Small tools: elements, numbers from the server, colours, canvases.

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

/** A canvas with as many points as the screen has, whatever its zoom. */
function fitted(canvas) {
  const ratio = window.devicePixelRatio || 1
  const [width, height] = [canvas.clientWidth, canvas.clientHeight]
  canvas.width = Math.max(1, Math.round(width * ratio))
  canvas.height = Math.max(1, Math.round(height * ratio))
  const pen = canvas.getContext("2d")
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  return { pen, width, height }
}

/** A number as a person writes it; what rounds to zero has no minus. */
function short(value) {
  const size = Math.abs(value)
  if (size >= 1e6 || (size && size < 1e-4)) return value.toExponential(2).replace("e+", "e")
  return String(Number(value.toPrecision(6)) + 0)
}
