// A line chart with axes that stand still: a pale line for all of the story, a strong one that grows.

class Chart {
  constructor(parent) {
    this.root = make("figure", "chart", parent)
    this.title = make("figcaption", "", this.root)
    this.box = make("div", "box", this.root)
    this.base = make("canvas", "", this.box)
    this.ink = make("canvas", "", this.box)
    this.base.setAttribute("role", "img")
    this.ink.setAttribute("aria-hidden", "true")
    this.dots = []
    this.inked = 0
  }

  /** Take a chart of a story; returns at once, `draw` paints. */
  take(chart, story, look) {
    this.chart = chart
    this.story = story
    this.look = look
    this.lines = chart.lines.map((line) => ({ ...line, values: unpacked(line.values, Float32Array) }))
    this.title.replaceChildren(chart.title)
    for (const line of this.lines.filter((line) => line.name)) {
      const key = make("span", "key", this.title, line.name)
      key.style.setProperty("--own", look.colour(line.colour))
      key.classList.toggle("dashed", line.dashed)
    }
    this.dots.forEach((dot) => dot.remove())
    this.dots = this.lines.map((line) => {
      const dot = make("div", "dot", this.box)
      dot.style.background = look.colour(line.colour)
      return dot
    })
    this.draw()
  }

  draw() {
    this.width = this.box.clientWidth
    this.height = this.box.clientHeight
    if (!this.chart || !this.width || !this.height) return
    const size = this.look.size
    this.frame = { left: 4.2 * size, right: this.width - 10, top: 6, bottom: this.height - 1.7 * size }
    this.pen = fitted(this.ink, this.width, this.height)
    this.inked = 0
    this.drawBase(fitted(this.base, this.width, this.height))
    this.reveal(this.at ?? 0)
  }

  x(place) {
    const { left, right } = this.frame
    const { begin, end } = this.story
    return left + ((place - begin) / Math.max(end - begin, 1e-9)) * (right - left)
  }

  y(value) {
    const { top, bottom } = this.frame
    const turn = this.chart.log ? (v) => Math.log10(Math.max(v, 1e-16)) : (v) => v
    const low = turn(this.chart.low)
    const share = (turn(value) - low) / Math.max(turn(this.chart.high) - low, 1e-12)
    return bottom - share * (bottom - top)
  }

  drawBase(pen) {
    const { left, right, top, bottom } = this.frame
    const size = this.look.size
    pen.font = `${size}px ${this.look.font}`
    pen.lineWidth = 1
    pen.strokeStyle = css(this.look.grid)
    pen.fillStyle = css(this.look.faint)
    pen.textBaseline = "middle"
    pen.textAlign = "right"
    for (const value of this.levels()) {
      const y = Math.round(this.y(value)) + 0.5
      pen.beginPath()
      pen.moveTo(left, y)
      pen.lineTo(right, y)
      pen.stroke()
      pen.fillText(short(value, this.chart.percent), left - 6, y)
    }
    pen.textBaseline = "alphabetic"
    pen.textAlign = "center"
    for (const [place, words] of this.story.ticks) {
      const wide = pen.measureText(words).width / 2
      const x = Math.min(Math.max(this.x(place), left + wide - 12), right - wide)
      pen.fillText(words, x, this.height - 0.35 * size)
    }
    for (const [place, words] of this.story.marks) {
      const x = Math.round(this.x(place)) + 0.5
      pen.setLineDash([4, 4])
      pen.beginPath()
      pen.moveTo(x, top)
      pen.lineTo(x, bottom)
      pen.stroke()
      pen.setLineDash([])
      if (this.root.previousSibling) continue // the first chart names it for all
      const late = x + pen.measureText(words).width + 6 > right
      pen.textAlign = late ? "right" : "left"
      pen.fillText(words, x + (late ? -4 : 4), top + size)
    }
    pen.globalAlpha = 0.3
    for (const line of this.lines) this.stroke(pen, line, 0, this.story.frames - 1, 1.5)
    pen.globalAlpha = 1
  }

  levels() {
    const { low, high, log } = this.chart
    const found = []
    if (log) {
      const every = Math.max(1, Math.ceil(Math.log10(high / low) / 4))
      for (let power = Math.ceil(Math.log10(low)); 10 ** power <= high; power += every) found.push(10 ** power)
      return found
    }
    const parts = Math.max(2, Math.floor((this.frame.bottom - this.frame.top) / (2.6 * this.look.size)))
    const step = niceStep(high - low, Math.min(parts, 5))
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-12; k++) found.push(Number((k * step).toPrecision(12)))
    return found
  }

  /** The value of a line between two frames. */
  valueAt(line, at) {
    const k = Math.min(Math.floor(at), line.values.length - 1)
    const next = Math.min(k + 1, line.values.length - 1)
    return line.values[k] + (line.values[next] - line.values[k]) * (at - k)
  }

  stroke(pen, line, from, to, width) {
    if (!(to >= from) || !line.values.length) return
    pen.strokeStyle = this.look.colour(line.colour)
    pen.lineWidth = width
    pen.lineJoin = "round"
    pen.setLineDash(line.dashed ? [7, 4] : [])
    pen.beginPath()
    let open = false
    const visit = (at) => {
      const value = this.valueAt(line, at)
      if (!Number.isFinite(value)) return void (open = false)
      const point = [this.x(this.story.placeAt(at)), this.y(value)]
      if (open) pen.lineTo(...point)
      else pen.moveTo(...point)
      open = true
    }
    visit(from)
    for (let k = Math.floor(from) + 1; k < to; k++) visit(k)
    if (to > from) visit(to)
    pen.stroke()
    pen.setLineDash([])
  }

  /** Show the story up to here; going on draws the new piece only. */
  reveal(at) {
    this.at = at
    if (!this.pen || !this.story.frames) return
    if (at < this.inked) {
      this.pen.clearRect(0, 0, this.width, this.height)
      this.inked = 0
    }
    this.lines.forEach((line, i) => {
      // A dashed line grows whole frames at a time, so that its dashes do not run together.
      const from = line.dashed ? Math.floor(this.inked) : Math.max(this.inked - 0.02, 0)
      const to = line.dashed ? Math.floor(at) : at
      if (to > from) this.stroke(this.pen, line, from, to, this.look.line)
      const x = this.x(this.story.placeAt(at))
      const y = this.y(this.valueAt(line, at))
      this.dots[i].style.transform = `translate(${x.toFixed(1)}px,${y.toFixed(1)}px)`
      this.dots[i].hidden = !Number.isFinite(y)
    })
    this.inked = at
  }

  /** The chart in a sentence, for those who do not see it. */
  describe() {
    const parts = this.lines.map((line) => {
      const known = [...line.values].filter(Number.isFinite)
      if (!known.length) return ""
      const span = `from ${short(known[0], this.chart.percent)} to ${short(known.at(-1), this.chart.percent)}`
      return line.name ? `${line.name} ${span}` : span
    })
    this.base.setAttribute("aria-label", `${this.chart.title}: ${parts.filter(Boolean).join("; ") || "no step yet"}.`)
  }
}
