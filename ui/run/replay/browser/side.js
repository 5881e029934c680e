// One story on the stage: its name, what it shows now, its charts and its features.

class Side {
  /** `room` is told of every box whose size matters. */
  constructor(parent, room) {
    this.room = room
    this.root = make("article", "side", parent)
    this.top = make("div", "top", this.root)
    this.title = make("h3", "", this.top)
    this.readings = make("div", "readings", this.top)
    this.panels = make("div", "panels", this.root)
    this.column = make("div", "charts", this.panels)
    this.grid = new GridView(this.panels)
    room.observe(this.grid.box)
    this.charts = []
  }

  take(told, look, classes) {
    const places = unpacked(told.places, Float32Array)
    const frames = places.length
    this.own = frames ? [places[0], places[frames - 1]] : [0, 1]
    this.told = told
    this.story = {
      ...told,
      frames,
      placeAt: (at) => {
        const k = Math.min(Math.floor(at), frames - 1)
        return places[k] + ((places[k + 1] ?? places[k]) - places[k]) * (at - k)
      },
    }
    this.share(this.shares)
    this.title.textContent = told.title
    this.title.classList.toggle("bad", Boolean(told.alarm))
    this.right = unpacked(told.right, Uint32Array)
    this.inside = unpacked(told.field.inside, Uint32Array)
    this.found = unpacked(told.field.found, Uint32Array)
    this.column.classList.toggle("curves", told.charts.some((chart) => chart.algorithm))
    while (this.charts.length > told.charts.length) this.dropChart(this.charts.pop())
    while (this.charts.length < told.charts.length) this.addChart()
    this.charts.forEach((chart, i) => {
      chart.root.classList.toggle("algorithm", told.charts[i].algorithm)
      chart.take(told.charts[i], this.story, look)
      chart.describe()
    })
    this.grid.take(told.field, look, classes, told)
    this.read(Math.min(this.frame ?? -1, frames - 1))
  }

  /** The axis of steps: its own, or the one of all sides while they stand beside each other. */
  share(shares) {
    this.shares = shares
    const { told, story } = this
    const [first, last] = (shares && told.span) || this.own
    story.begin = first
    story.end = told.live ? roomyEnd(last) : Math.max(last, first + 1)
    story.ticks = told.ticks.length ? told.ticks : numberTicks(first, story.end, told.axis)
  }

  addChart() {
    const chart = new Chart(this.column)
    this.room.observe(chart.box)
    this.charts.push(chart)
  }

  dropChart(chart) {
    this.room.unobserve(chart.box)
    chart.root.remove()
  }

  draw() {
    for (const chart of this.charts) chart.draw()
    this.grid.draw()
  }

  /** Show the story at a place between frames. */
  reveal(at, now) {
    const own = Math.min(at, this.story.frames - 1)
    if (own < 0) return
    for (const chart of this.charts) chart.reveal(own)
    const frame = Math.floor(own + 1e-6)
    this.grid.reveal(frame, now)
    if (frame !== this.frame) this.read(frame)
  }

  /** The figures of a frame; only what can be read at a glance. */
  read(frame) {
    this.frame = frame
    const { story } = this
    const shown = this.figures(frame)
    while (this.readings.children.length > shown.length) this.readings.lastChild.remove()
    while (this.readings.children.length < shown.length) {
      const item = make("div", "reading", this.readings)
      make("b", "", item)
      make("span", "", item)
    }
    shown.forEach(([value, words, extra], i) => {
      this.readings.children[i].classList.toggle("extra", Boolean(extra))
      const [bold, plain] = this.readings.children[i].children
      if (bold.textContent !== value) bold.textContent = value
      if (plain.textContent !== words) plain.textContent = words
    })
    this.words = frame < 0 ? story.state : story.words[frame]
  }

  figures(frame) {
    const { field, live, judged } = this.story
    const total = field.regions.reduce((sum, region) => sum + region.features, 0).toLocaleString("en")
    if (frame < 0) return [[total, "features"]]
    const inside = this.inside[frame]
    const figures = []
    if (judged) figures.push([this.right[frame].toLocaleString("en"), `of ${judged} right`])
    figures.push([inside.toLocaleString("en"), `of ${total} features chosen`])
    if (field.truth === null) return figures
    const found = this.found[frame]
    figures.push([`${found} of ${field.truth}`, live ? "that matter" : "correct"]) // while live their signs are not known
    if (live) return figures
    if (frame === this.story.frames - 1) figures.push([String(field.truth - found), "missed"])
    figures.push([(inside - found).toLocaleString("en"), "wrong"])
    return figures
  }

  /** The frame in a sentence, with the names of those who came and went. */
  sentence() {
    const frame = this.frame
    if (frame < 0) return `${[this.story.title, this.story.state].filter(Boolean).join(": ")}.`
    const figures = this.figures(frame).map(([value, words]) => `${value} ${words}`)
    const { offsets, cells, changes, names } = this.grid
    const came = []
    const went = []
    for (let i = offsets[frame]; i < offsets[frame + 1]; i++) {
      const list = changes[i] === OUT ? went : came
      if (names.has(cells[i])) list.push(names.get(cells[i]))
    }
    const told = [figures.join(", ")]
    if (came.length) told.push(`entered: ${listed(came)}`)
    if (went.length) told.push(`left: ${listed(went)}`)
    return `${[this.story.title, this.words].filter(Boolean).join(". ")}: ${told.join("; ")}.`
  }
}

function listed(names) {
  const more = names.length - 6
  return names.slice(0, 6).join(", ") + (more > 0 ? ` and ${more.toLocaleString("en")} more` : "")
}

function numberTicks(begin, end, axis) {
  const step = Math.max(1, niceStep(end - begin, 5))
  const ticks = []
  for (let k = Math.ceil(begin / step); k * step < end - 0.6 * step; k++) ticks.push([k * step, short(k * step)])
  ticks.push([end, `${axis} ${short(end)}`])
  return ticks
}
