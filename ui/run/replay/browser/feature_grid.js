// All features as one image: regions of cells that light up as features enter and fade as they leave.

const [OUT, FOR_POSITIVE, FOR_NEGATIVE, PASSING, FALSE_ONE] = [0, 1, 2, 3, 4]
const MISSED = 5
const HARMFUL = 6
const LIGHTING = 450 // milliseconds
const FADING = 900
const FEW_CELLS = 80 // so few get large cells, with their names
const SHADES = 14 // between two colours: so many repaints of a cell at most
const WIDEST = 3 // times as wide as high is a cell at most
const ROOMY = 44 // side of a cell that can hold a name
const MOST_FADING = 4000 // cells; more than these change at once

class GridView {
  constructor(parent) {
    this.root = make("div", "grid", parent)
    this.box = make("div", "box", this.root)
    this.canvas = make("canvas", "", this.box)
    this.canvas.setAttribute("role", "img")
    this.labels = make("div", "labels", this.box)
    this.tip = make("div", "tip", this.box)
    this.tip.hidden = true
    this.legend = make("div", "legend", this.root)
    this.fading = new Map()
    this.canvas.addEventListener("pointermove", (event) => this.point(event))
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true))
    this.canvas.addEventListener("click", (event) => {
      const cell = this.cellAt(event.offsetX, event.offsetY)
      if (cell !== null) this.pick?.(cell)
    })
  }

  take(field, look, classes, story) {
    this.field = field
    this.live = story.live
    this.harmful = story.alarmBlock
    this.look = look
    const n = field.regions.reduce((sum, region) => sum + region.cells, 0)
    this.offsets = unpacked(field.offsets, Uint32Array)
    this.cells = unpacked(field.cells, Uint32Array)
    this.changes = unpacked(field.levels, Uint8Array)
    this.names = new Map()
    unpacked(field.named, Uint32Array).forEach((cell, i) => this.names.set(cell, field.names[i]))
    if (!this.levels || this.levels.length !== n) {
      this.levels = new Uint8Array(n)
      this.frame = -1
    }
    this.region = new Uint16Array(n)
    let begin = 0
    field.regions.forEach((region, i) => this.region.fill(i, begin, (begin += region.cells)))
    this.frame = Math.min(this.frame, this.offsets.length - 2)
    this.ended = this.isEnd(this.frame)
    this.levels = this.levelsAt(this.frame)
    this.fading.clear()
    this.paint = this.paints()
    this.shades = new Map()
    this.classes = classes
    this.key(classes)
    this.draw()
  }

  /** Colours of the states: what is out is faint, and what should be in and is not has its own. */
  paints() {
    const { look } = this
    const colour = (i) => channels(look.colour(i))
    const out = mixed(look.ground, look.text, 0.07)
    const missed = mixed(look.ground, colour(4), 0.42)
    // While a run works nobody knows yet which way a feature will count.
    const passing = this.live ? colour(2) : mixed(look.ground, look.text, 0.5)
    return [out, colour(look.sides[1]), colour(look.sides[0]), passing, colour(3), missed, look.red]
  }

  key(classes) {
    this.legend.replaceChildren()
    const one = (paint, words) => {
      const item = make("span", "swatch", this.legend, words)
      item.style.setProperty("--own", css(this.paint[paint]))
    }
    one(FOR_POSITIVE, `for ${classes[1]}`)
    one(FOR_NEGATIVE, `for ${classes[0]}`)
    if (this.changes.includes(PASSING)) one(PASSING, this.live ? "chosen" : "tried, then dropped")
    one(OUT, "not chosen")
    if (this.field.truth === null || !this.changes.length) return
    one(FALSE_ONE, "wrong")
    one(MISSED, "missed")
    if (this.harmful) one(HARMFUL, "harmful rule")
  }

  /** Where everything stands; called again when the room changes. */
  draw() {
    const width = this.box.clientWidth
    const height = this.box.clientHeight
    if (!this.field || !width || !height) return
    this.pen = fitted(this.canvas, width, height)
    this.ratio = window.devicePixelRatio || 1
    this.places = placed(this.field.regions, width, height, this.look.size, this.ratio)
    this.labels.replaceChildren()
    for (const place of this.places) this.label(place)
    this.fading.clear()
    for (let cell = 0; cell < this.levels.length; cell++) this.fill(cell, css(this.paint[this.resting(cell)]))
    this.describe()
  }

  label(place) {
    if (!place.label) return
    const many = place.region.features === 1 ? "feature" : "features"
    const words = place.wide
      ? `${place.region.name}: ${place.region.features.toLocaleString("en")} ${many}`
      : place.region.name
    const label = make("div", "label", this.labels, words)
    if (place.region.name === this.harmful) label.classList.add("bad")
    label.style.transform = `translate(${place.x}px,${place.y - 1.35 * this.look.size}px)`
    label.style.maxWidth = `${place.room}px`
  }

  /** The paint of a cell that does not change: what is out may be something missed. */
  resting(cell) {
    const level = this.levels[cell]
    if (!this.ended) return level
    const { region } = this.regionOf(cell)
    if (level === OUT) return this.field.truth !== null && region.relevant ? MISSED : OUT
    return region.name === this.harmful ? HARMFUL : level
  }

  /** Whether nothing comes after this frame: only then something is missed, or does harm. */
  isEnd(frame) {
    return !this.live && frame >= 0 && frame === this.offsets.length - 2
  }

  regionOf(cell) {
    return this.places[this.region[cell]]
  }

  fill(cell, colour) {
    const place = this.regionOf(cell)
    const k = cell - place.begin
    // Edges lie on points of the screen, so that cells of one and a half points leave no seams.
    const edge = (begin, i, side) => Math.round((begin + i * side) * this.ratio) / this.ratio
    const column = Math.floor(k / place.rows)
    const row = k % place.rows
    const [x, y] = [edge(place.x, column, place.across), edge(place.y, row, place.side)]
    const [right, below] = [edge(place.x, column + 1, place.across), edge(place.y, row + 1, place.side)]
    this.pen.fillStyle = colour
    this.pen.fillRect(x, y, right - x - place.gap, below - y - place.gap)
    if (place.side >= ROOMY && this.names.has(cell)) this.write(this.names.get(cell), x, y, place, colour)
  }

  /** A feature's name on its cell, where there is room for it. */
  write(name, x, y, { across, side }, colour) {
    const { pen, look } = this
    const [red, green, blue] = channels(colour)
    pen.fillStyle = 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000" : "#fff"
    pen.font = `${look.size}px ${look.font}`
    pen.textAlign = "center"
    pen.textBaseline = "middle"
    const least = Math.max(3, Math.floor((across - 6) / (0.55 * look.size)))
    pen.fillText(name.length > least ? `${name.slice(0, least - 1)}…` : name, x + across / 2, y + side / 2)
  }

  levelsAt(frame) {
    const levels = new Uint8Array(this.levels.length)
    const end = frame < 0 ? 0 : this.offsets[frame + 1]
    for (let i = 0; i < end; i++) levels[this.cells[i]] = this.changes[i]
    return levels
  }

  /** Go to a frame: what is new lights up, what is gone fades. */
  reveal(frame, now) {
    if (frame === this.frame || !this.pen) return
    const before = this.frame
    this.frame = frame
    if (this.ended !== this.isEnd(frame)) this.judge(frame, now)
    if (frame > before) {
      for (let i = this.offsets[before + 1]; i < this.offsets[frame + 1]; i++) this.turn(this.cells[i], this.changes[i], now)
    } else {
      const levels = this.levelsAt(frame)
      for (let cell = 0; cell < levels.length; cell++) if (levels[cell] !== this.levels[cell]) this.turn(cell, levels[cell], now)
    }
  }

  /** At the end, and on the way back from it, cells change that stay in or out. */
  judge(frame, now) {
    const before = this.places ? Uint8Array.from(this.levels, (_, cell) => this.resting(cell)) : []
    this.ended = this.isEnd(frame)
    before.forEach((from, cell) => {
      if (from !== this.resting(cell)) this.change(cell, from, this.resting(cell), now)
    })
  }

  turn(cell, level, now) {
    const from = this.resting(cell)
    this.levels[cell] = level
    this.change(cell, from, this.resting(cell), now)
  }

  change(cell, from, to, now) {
    if (this.look.still || this.fading.size >= MOST_FADING) this.fill(cell, css(this.paint[to]))
    else this.fading.set(cell, { from, to, begun: now, shade: -1 })
  }

  /** Paint what is changing; true while there is more to come. */
  fade(now) {
    for (const [cell, state] of this.fading) {
      const rising = state.to !== OUT && state.to !== MISSED
      const share = Math.min((now - state.begun) / (rising ? LIGHTING : FADING), 1)
      const shade = Math.round(share * SHADES)
      if (shade !== state.shade) {
        state.shade = shade
        this.fill(cell, this.shaded(state.from, state.to, shade, rising))
      }
      if (share >= 1) this.fading.delete(cell)
    }
    return this.fading.size > 0
  }

  /** Between two paints; what lights up is brighter at first than it will be. */
  shaded(from, to, shade, rising) {
    const key = (from * 8 + to) * 32 + shade
    if (!this.shades.has(key)) {
      const share = shade / SHADES
      const goal = this.paint[to]
      const flash = mixed(goal, this.look.text, 0.55 * (1 - share))
      this.shades.set(key, css(rising ? mixed(this.paint[from], flash, Math.min(3 * share, 1)) : mixed(this.paint[from], goal, share)))
    }
    return this.shades.get(key)
  }

  point(event) {
    const cell = this.cellAt(event.offsetX, event.offsetY)
    this.tip.hidden = cell === null
    if (cell === null) return
    const { region, begin } = this.regionOf(cell)
    const many = region.features / region.cells
    const state = ["not in the model", `favours ${this.classes?.[1]}`, `favours ${this.classes?.[0]}`, this.live ? "in the model" : "tried, then dropped", "in the model, but carries nothing", "carries the class, but is missed", "in the model by a rule that does harm"][this.resting(cell)]
    const name = this.names.get(cell) ?? (many > 1 ? `about ${Math.round(many)} features` : `no. ${cell - begin + 1}`)
    this.tip.textContent = `${name} (${region.name}): ${state}`
    this.tip.style.transform = `translate(${Math.min(event.offsetX + 12, this.box.clientWidth - 180)}px,${event.offsetY + 14}px)`
  }

  cellAt(x, y) {
    for (const place of this.places ?? []) {
      const column = Math.floor((x - place.x) / place.across)
      const row = Math.floor((y - place.y) / place.side)
      const k = column * place.rows + row
      if (column >= 0 && row >= 0 && row < place.rows && k < place.region.cells) return place.begin + k
    }
    return null
  }

  describe() {
    const regions = this.field.regions.slice(0, 12).map((region) => `${region.name} ${region.features.toLocaleString("en")}`)
    this.canvas.setAttribute("aria-label", `Image of all features, a cell each. Regions: ${regions.join(", ")}.`)
  }
}

/** Rectangles for the regions: named blocks above with cells as large as there is room, the rest below. */
function placed(regions, width, height, size, ratio) {
  const rest = regions.at(-1).name === "no block" ? regions.at(-1) : null
  const blocks = rest ? regions.slice(0, -1) : regions
  const top = 1.5 * size
  const all = regions.reduce((sum, region) => sum + region.cells, 0)
  const few = all <= FEW_CELLS
  const share = few ? 0.65 * height : Math.max(0.3 * height, Math.min(0.4 * height, 110))
  const strip = !blocks.length ? 0 : rest ? share : height
  const places = blocks.length ? packedBlocks(blocks, width, strip, top, size, ratio, few ? 110 : 26) : []
  if (rest) {
    const used = places.map((place) => place.y + Math.min(place.rows, place.region.cells) * place.side)
    const below = Math.max(0, ...used) + top + (places.length ? 6 : 0)
    const room = { x: 0, y: below, width, height: height - below }
    places.push({ ...filled(rest, room, ratio), region: rest, label: true, wide: true, room: width })
  }
  if (few) stretched(places, width)
  let begin = 0
  for (const place of places) {
    place.across ??= place.side
    place.begin = begin
    begin += place.region.cells
  }
  return places
}

/** Few cells take the whole width, so that their names have room. */
function stretched(places, width) {
  const right = (place) => place.x + Math.ceil(place.region.cells / place.rows) * place.side
  const factor = Math.min(WIDEST, width / Math.max(...places.map(right)))
  if (factor <= 1) return
  for (const place of places) {
    place.across = place.side * factor
    place.x *= factor
    place.room *= factor
  }
}

/** Blocks side by side in bands, with the largest cells that fit. */
function packedBlocks(blocks, width, height, top, size, ratio, largest) {
  const unit = 1 / ratio
  for (const even of [true, false]) {
    for (let side = largest; side >= (even ? 4 : unit); side -= side > 4 ? 1 : unit) {
      for (let bands = 1; bands <= 12; bands++) {
        const rows = Math.floor((height / bands - top - 4) / side)
        if (rows < 1) break
        const places = inBands(blocks, width, height / bands, top, { side, rows, bands, size, even })
        if (places) return places
      }
    }
  }
  // Too many blocks for rectangles of their own: one after the other, without names.
  const all = blocks.reduce((sum, block) => sum + block.cells, 0)
  const one = filled({ cells: all }, { x: 0, y: 2, width, height: height - 4 }, ratio)
  let column = 0
  return blocks.map((region) => {
    const place = { ...one, x: one.x + column * one.side, region, label: false }
    column += Math.ceil(region.cells / one.rows)
    return place
  })
}

function inBands(blocks, width, band, top, { side, rows, bands, size, even }) {
  const places = []
  const least = blocks.length > 24 ? 6 : 4.5 * size
  let x = 0
  let row = 0
  for (const region of blocks) {
    const high = even ? evenRows(region.cells, rows) : rows
    if (!high) return null
    const own = Math.ceil(region.cells / high) * side
    const room = Math.max(own, least)
    if (x > 0 && x + room > width) {
      x = 0
      row += 1
    }
    if (row >= bands || room > width) return null
    const gap = side >= 4 ? 1 : 0
    places.push({ x, y: row * band + top, side, rows: high, gap, region, label: room >= 3 * size, wide: room > 14 * size, room })
    x += room + Math.min(10, size)
  }
  return places
}

/** Rows of a block that is about twice as wide as high, without a notch: 50 as 5 x 10; 0 where none fit. */
function evenRows(cells, most) {
  for (let rows = Math.min(most, Math.floor(Math.sqrt(cells))); rows >= 1; rows--) {
    if (cells % rows === 0 && cells <= 8 * rows * rows) return rows
  }
  return cells <= 8 ? 1 : 0
}

/** One region in a rectangle: cells as large as they can be, in columns that are all full if possible. */
function filled(region, room, ratio) {
  const { cells } = region
  const square = Math.sqrt((room.width * room.height) / cells)
  const guess = Math.max(1, Math.round(room.height / Math.min(110, square)))
  let best = null
  for (let rows = Math.max(1, Math.floor(0.8 * guess)); rows <= Math.ceil(1.25 * guess); rows++) {
    const columns = Math.ceil(cells / rows)
    let side = Math.min(110, room.height / rows, room.width / columns)
    if (side > 12) side = Math.floor(side)
    const worth = rows * columns === cells ? side : 0.85 * side // a full last column leaves no notch
    if (side >= 0.5 / ratio && (!best || worth > best.worth)) best = { worth, rows, side }
  }
  const { rows, side } = best ?? { rows: guess, side: square }
  return { x: room.x, y: room.y, side, rows, gap: side >= 3 ? 1 : 0 }
}
