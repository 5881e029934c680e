// A line chart with axes that stand still: a pale line for all of the story, and a strong one that is
// drawn once and uncovered by moving a window over it, which costs a browser next to nothing.

class Chart {
  constructor(parent) {
    this.root = make("figure", "chart", parent)
    this.title = make("figcaption", "", this.root)
    this.box = make("div", "box", this.root)
    this.base = make("canvas", "", this.box)
    this.window = make("div", "window", this.box)
    this.ink = make("canvas", "", this.window)
    this.base.setAttribute("role", "img")
    this.ink.setAttribute("aria-hidden", "true")
    this.dots = []
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
    this.drawBase(fitted(this.base, this.width, this.height))
    const pen = fitted(this.ink, this.width, this.height)
    for (const line of this.lines) this.stroke(pen, line, this.look.line)
    this.shift = null
    this.reveal(Math.min(this.at ?? 0, Math.max(this.story.frames - 1, 0)))
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
    let free = right + size // numbers are written from the right, as far as there is room
    for (const [place, words] of [...this.story.ticks].reverse()) {
      const wide = pen.measureText(words).width / 2
      const x = Math.min(Math.max(this.x(place), left + wide - 12), right - wide)
      if (x + wide > free - 0.8 * size) continue
      pen.fillText(words, x, this.height - 0.35 * size)
      free = x - wide
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
      pen.fillText(words, x + (late ? -4 : 4), bottom - 0.4 * size) // curves end high
    }
    pen.globalAlpha = 0.3
    for (const line of this.lines) this.stroke(pen, line, 1.5)
    pen.globalAlpha = 1
  }

  levels() {
    if (!this.story.frames) return []
    const { low, high, log } = this.chart
    const found = []
    if (log) {
      const every = Math.max(1, Math.ceil(Math.log10(high / low) / 4))
      for (let power = Math.ceil(Math.log10(low)); 10 ** power <= high; power += every) found.push(10 ** power)
      return found
    }
    const parts = Math.max(2, Math.floor((this.frame.bottom - this.frame.top) / (2.6 * this.look.size)))
    const step = Math.max(niceStep(high - low, Math.min(parts, 5)), this.chart.whole ? 1 : 0)
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-12; k++) found.push(Number((k * step).toPrecision(12)))
    return found
  }

  /** The value of a line between two frames. */
  valueAt(line, at) {
    const k = Math.min(Math.floor(at), line.values.length - 1)
    const next = Math.min(k + 1, line.values.length - 1)
    return line.values[k] + (line.values[next] - line.values[k]) * (at - k)
  }

  stroke(pen, line, width) {
    pen.strokeStyle = this.look.colour(line.colour)
    pen.lineWidth = width
    pen.lineJoin = "round"
    pen.setLineDash(line.dashed ? [7, 4] : [])
    pen.beginPath()
    let open = false
    line.values.forEach((value, k) => {
      const point = [this.x(this.story.placeAt(k)), this.y(value)]
      if (open && Number.isFinite(value)) pen.lineTo(...point)
      else pen.moveTo(...point)
      open = Number.isFinite(value)
    })
    pen.stroke()
    pen.setLineDash([])
  }

  /** Show the story up to here: the window ends there, what is seen through it stays in place. */
  reveal(at) {
    this.at = at
    for (const dot of this.dots) dot.hidden = !this.story.frames
    if (!this.frame) return
    const x = this.story.frames ? Math.round(2 * this.x(this.story.placeAt(at))) / 2 : 0
    const shift = this.width - x
    if (shift === this.shift) return
    this.shift = shift
    this.window.style.transform = `translateX(${-shift}px)`
    this.ink.style.transform = `translateX(${shift}px)`
    this.lines.forEach((line, i) => {
      const y = this.y(this.valueAt(line, at))
      this.dots[i].style.transform = `translate(${x}px,${y.toFixed(1)}px)`
      this.dots[i].hidden = !Number.isFinite(y)
    })
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
