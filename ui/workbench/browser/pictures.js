// The field of features as lights, and the patients as dots. Both stay where they are from one model to
// the next: only lights change, and dots move to the left and right on a fixed axis.

const MOVING = 140 // milliseconds from one model to the next
const WIDEST_SCORE = 3 // decision values beyond this stand at the edge
const DARKEST = 0.35 // share of its colour that the faintest light has
const LEAST_LIGHT = 3 // points of the screen: smaller cells are lit a little beyond themselves
const NAMED_SIDE = 44 // side of a cell that can hold a name

class FieldOfFeatures {
  constructor(parent) {
    this.root = make("div", "field", parent)
    this.base = make("canvas", "", this.root)
    this.top = make("canvas", "", this.root)
    this.labels = make("div", "labels", this.root)
    this.tip = make("div", "tip", this.root)
    this.tip.hidden = true
    this.base.setAttribute("aria-hidden", "true")
    this.top.setAttribute("role", "img")
    this.top.addEventListener("pointermove", (event) => this.point(event))
    this.top.addEventListener("pointerleave", () => (this.tip.hidden = true))
    this.top.addEventListener("click", (event) => {
      const cell = this.cellAt(event)
      if (cell !== null) this.pick?.(cell)
    })
    this.lights = new Map()
    this.from = new Map()
    this.names = new Map()
  }

  take(setting, look) {
    this.setting = setting
    this.look = look
    this.draw()
  }

  light(state) {
    const levels = unpacked(state.levels, Int8Array)
    this.from = this.lights
    this.lights = new Map()
    unpacked(state.cells, Uint32Array).forEach((cell, i) => this.lights.set(cell, levels[i]))
    unpacked(state.named, Uint32Array).forEach((cell, i) => this.names.set(cell, state.names[i]))
    this.top.setAttribute("aria-label", `Field of all features, lit where the model uses one: ${state.words}.`)
  }

  /** Where everything stands, and the dark cells; called again when the room changes. */
  draw() {
    if (!this.setting || !this.base.clientWidth) return
    const { pen, width, height } = fitted(this.base)
    this.canvas = fitted(this.top)
    this.places = placed(this.setting.regions, width, height)
    pen.fillStyle = css(mixed(this.look.ground, this.look.text, 0.09))
    this.labels.replaceChildren()
    for (const place of this.places) {
      for (let k = 0; k < place.region.cells; k++) pen.fillRect(...rectangle(place, k))
      if (!place.title) continue
      const many = place.region.features === 1 ? "feature" : "features"
      const words = place.room > 150 ? `${place.region.name}: ${place.region.features.toLocaleString("en")} ${many}` : place.region.name
      const label = make("div", "name", this.labels, words)
      label.style.transform = `translate(${place.x}px,${place.y - 15}px)`
      label.style.maxWidth = `${place.room}px`
    }
    this.show(1)
  }

  /** The lights between the model before (0) and the present one (1). */
  show(share) {
    if (!this.canvas) return
    const { pen, width, height } = this.canvas
    pen.clearRect(0, 0, width, height)
    const cells = share < 1 ? new Set([...this.from.keys(), ...this.lights.keys()]) : this.lights.keys()
    for (const cell of cells) {
      const before = this.from.get(cell) ?? 0
      const level = before + ((this.lights.get(cell) ?? 0) - before) * share
      const strength = Math.abs(level) / 127
      if (strength < 0.004) continue
      const place = this.places.findLast((each) => each.begin <= cell)
      const [x, y, wide, tall] = rectangle(place, cell - place.begin)
      const more = Math.max(0, LEAST_LIGHT - wide) / 2
      const colour = mixed(this.look.ground, channels(this.look.side(level > 0 ? 1 : 0)), share < 1 && !before ? share : DARKEST + (1 - DARKEST) * strength)
      pen.fillStyle = css(colour)
      pen.fillRect(x - more, y - more, wide + 2 * more, tall + 2 * more)
    }
    for (const [cell, name] of this.names) this.write(cell, name)
  }

  /** The name of a feature on its cell, where there is room. */
  write(cell, name) {
    const place = this.places.findLast((each) => each.begin <= cell)
    if (!place || place.side < NAMED_SIDE) return
    const [x, y, wide, tall] = rectangle(place, cell - place.begin)
    const level = this.lights.get(cell) ?? 0
    const ground = level ? channels(this.look.side(level > 0 ? 1 : 0)) : this.look.ground
    const shown = level ? mixed(this.look.ground, ground, DARKEST + ((1 - DARKEST) * Math.abs(level)) / 127) : ground
    const { pen } = this.canvas
    pen.fillStyle = 0.299 * shown[0] + 0.587 * shown[1] + 0.114 * shown[2] > 140 ? "#000" : "#fff"
    pen.font = `11px ${this.look.font}`
    pen.textAlign = "center"
    pen.textBaseline = "middle"
    const most = Math.max(3, Math.floor((wide - 6) / 6.2))
    pen.fillText(name.length > most ? `${name.slice(0, most - 1)}…` : name, x + wide / 2, y + tall / 2)
  }

  placeAt(event) {
    return (this.places ?? []).find((each) => event.offsetX >= each.x && event.offsetX < each.x + each.columns * each.side && event.offsetY >= each.y && event.offsetY < each.y + each.rows * each.side)
  }

  cellAt(event) {
    const place = this.placeAt(event)
    const k = place ? Math.floor((event.offsetX - place.x) / place.side) * place.rows + Math.floor((event.offsetY - place.y) / place.side) : -1
    return !place || k >= place.region.cells ? null : place.begin + k
  }

  point(event) {
    const [place, cell] = [this.placeAt(event), this.cellAt(event)]
    this.tip.hidden = cell === null
    if (this.tip.hidden) return
    const k = cell - place.begin
    const level = this.lights.get(cell) ?? 0
    const use = level ? `favours ${this.setting.classes[level > 0 ? 1 : 0]}` : "not used"
    const name = this.names.get(cell) ?? `no. ${k + 1}`
    this.tip.textContent = `${name} (${place.region.name}): ${use}`
    this.tip.style.transform = `translate(${Math.min(event.offsetX + 12, this.root.clientWidth - 200)}px,${event.offsetY + 14}px)`
  }
}

function rectangle(place, k) {
  const column = Math.floor(k / place.rows)
  const gap = place.side >= 4 ? 1 : place.side >= 2.5 ? 0.5 : 0
  return [place.x + column * place.side, place.y + (k % place.rows) * place.side, place.side - gap, place.side - gap]
}

/** Blocks side by side above, with cells as large as there is room for, and all others below. */
function placed(regions, width, height) {
  const title = 17
  const blocks = regions.filter((region) => !region.rest)
  const rest = regions.find((region) => region.rest)
  const inBlocks = blocks.reduce((sum, region) => sum + region.cells, 0)
  const total = inBlocks + (rest?.cells ?? 0)
  const strip = !rest ? height : Math.min(0.6, Math.max(0.3, inBlocks / total)) * height
  const places = blocks.length ? inBands(blocks, width, strip, title) : []
  if (rest) {
    const used = Math.max(0, ...places.map((place) => place.y + place.rows * place.side + 4))
    places.push(filled(rest, width, used + title, height - used - title))
  }
  let begin = 0
  for (const place of places) {
    place.begin = begin
    begin += place.region.cells
  }
  return places
}

/** Rows of a block: it is twice as wide as high, so that 50 cells are 5 x 10. */
function rowsOf(region) {
  return Math.max(1, Math.round(Math.sqrt(region.cells / 2)))
}

function inBands(blocks, width, height, title) {
  const least = Math.max(...blocks.map(rowsOf))
  for (let side = 72; side > 0.4; side *= 0.94) {
    const bands = Math.min(blocks.length, 6)
    for (let n = 1; n <= bands; n++) {
      const rows = Math.floor((height / n - title - 3) / side)
      if (rows < 1 || (rows < least && side > 3)) break
      let [x, band] = [0, 0]
      const places = []
      for (const region of blocks) {
        const tall = Math.min(rows, side > 3 ? rowsOf(region) : region.cells)
        const columns = Math.ceil(region.cells / tall)
        const room = Math.max(columns * side, blocks.length > 12 ? 20 : 84)
        if (x && x + room > width) [x, band] = [0, band + 1]
        if (x + room > width) band = n
        places.push({ region, x, y: (band * height) / n + title, side, rows: tall, columns, room, title: room >= 40 })
        x += room + 8
      }
      if (band < n) return places
    }
  }
  // Too many blocks for places of their own: one after the other, without names.
  let column = 0
  const one = filled({ cells: blocks.reduce((sum, region) => sum + region.cells, 0) }, width, 2, height - 4)
  return blocks.map((region) => {
    const place = { ...one, region, x: one.x + column * one.side, columns: Math.ceil(region.cells / one.rows), title: false }
    column += place.columns
    return place
  })
}

function filled(region, width, y, height) {
  let side = Math.min(72, Math.sqrt((width * height) / region.cells))
  while (side > 0.3 && Math.floor(height / side) * Math.floor(width / side) < region.cells) side *= 0.99
  const rows = Math.max(1, Math.min(Math.floor(height / side), region.cells))
  return { region, x: 0, y, side, rows, columns: Math.ceil(region.cells / rows), room: width, title: true }
}

class PatientsAsDots {
  constructor(parent) {
    this.root = make("figure", "dots", parent)
    this.caption = make("figcaption", "", this.root, "")
    this.canvas = make("canvas", "", this.root)
    this.canvas.setAttribute("role", "img")
  }

  take(setting, look) {
    this.setting = setting
    this.look = look
    this.truth = unpacked(setting.truth, Uint8Array)
    this.before = unpacked(setting.before, Uint8Array)
    this.caption.textContent = `Training ${setting.row}s by decision value. The model was fitted to them: it separates new ${setting.row}s less well.`
    this.show(1)
  }

  place(state) {
    this.from = this.scores
    this.scores = unpacked(state.scores, Float32Array)
    if (this.from?.length !== this.scores.length) this.from = this.scores
    const wrong = this.scores.reduce((sum, value, i) => sum + (value > 0 !== Boolean(this.before[i])), 0)
    this.canvas.setAttribute("aria-label", `${this.scores.length} training ${this.setting.row}s as dots by decision value, a lane for each actual class; ${wrong} of them have another answer than by the reference model.`)
  }

  show(share) {
    if (!this.scores || !this.canvas.clientWidth) return
    const { pen, width, height } = fitted(this.canvas)
    const { look, setting } = this
    const bottom = height - 18
    const lane = bottom / 2
    const x = (value) => width / 2 + (Math.max(-WIDEST_SCORE, Math.min(WIDEST_SCORE, value)) / WIDEST_SCORE) * (width / 2 - 10)
    pen.fillStyle = css(mixed(look.ground, look.text, 0.05))
    pen.fillRect(0, 0, width, lane - 1)
    pen.fillRect(0, lane + 1, width, lane - 1)
    const radius = Math.max(2, Math.min(5, 0.055 * Math.sqrt((width * lane) / (this.scores.length + 1)) + 1.6))
    for (let i = 0; i < this.scores.length; i++) {
      const value = this.from[i] + (this.scores[i] - this.from[i]) * share
      const y = (this.truth[i] ? 0 : lane) + 6 + ((i * 0.6180339887) % 1) * (lane - 12)
      pen.beginPath()
      pen.arc(x(value), y, radius, 0, 2 * Math.PI)
      pen.fillStyle = look.side(this.truth[i])
      pen.globalAlpha = 0.75
      pen.fill()
      pen.globalAlpha = 1
      if (this.scores[i] > 0 === Boolean(this.before[i])) continue
      pen.strokeStyle = css(look.text)
      pen.lineWidth = 2
      pen.stroke()
    }
    pen.fillStyle = css(look.text)
    pen.fillRect(width / 2 - 0.5, 0, 1, bottom)
    pen.fillStyle = css(look.faint)
    pen.font = `12px ${look.font}`
    pen.textBaseline = "alphabetic"
    pen.textAlign = "left"
    pen.fillText(`← predicted ${setting.classes[0]}`, 2, height - 4)
    pen.textAlign = "right"
    pen.fillText(`predicted ${setting.classes[1]} →`, width - 2, height - 4)
    pen.textAlign = "center"
    pen.fillText("decision value 0", width / 2, height - 4)
  }
}
