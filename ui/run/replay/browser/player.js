// The player: one clock for all sides, buttons, keys, and the presenter mode.

const SPEEDS = [0.25, 0.5, 1, 2, 4]
const LENGTH = 6 // seconds that a story takes at speed 1
const RATE = 34 // frames a second: smooth to the eye, and most of a core is left alone
const HOLD = 1500 // milliseconds at the end, before a loop begins again
const KEYS = "Space: play and pause   ← →: step   Home, End: first and last   ↑ ↓: speed   L: loop"
const LETTERS = { r: ["run"], s: ["stop"], h: ["heal"], f: ["flip 0"] } // actions of the server by their key
const played = (globalThis.hipadPlayed ??= new Set()) // stories that have played by themselves

class Player {
  constructor(parent) {
    this.host = parent
    this.at = 0
    this.speed = 1
    this.frames = 0 // drawn so far: what a benchmark counts
    this.sides = []
    this.shown = "all"
    this.build()
    this.watch()
  }

  build() {
    this.dialog = make("dialog", "presenter", this.host)
    this.root = make("section", "show", this.host)
    this.root.player = this
    this.head = make("p", "headline", this.root)
    this.alarm = make("p", "alarm", this.root)
    this.stage = make("div", "sides", this.root)
    this.bar = make("div", "bar", this.root)
    iconButton(this.bar, "start", "First step (Home)", () => this.seek(0))
    iconButton(this.bar, "back", "One step back (left arrow)", () => this.step(-1))
    this.play = iconButton(this.bar, "play", "Play (space)", () => this.toggle())
    this.play.classList.add("main")
    iconButton(this.bar, "forward", "One step on (right arrow)", () => this.step(1))
    this.loop = iconButton(this.bar, "loop", "Play again and again (L)", () => this.toggleLoop())
    this.loop.setAttribute("aria-pressed", "false")
    this.scrubber = make("input", "scrubber", this.bar)
    Object.assign(this.scrubber, { type: "range", min: 0, step: 1 })
    this.scrubber.setAttribute("aria-label", "Step of the story")
    this.scrubber.addEventListener("input", () => this.seek(Number(this.scrubber.value)))
    this.place = make("span", "place", this.bar)
    this.pace = make("select", "pace", this.bar)
    this.pace.setAttribute("aria-label", "Speed")
    for (const speed of SPEEDS) make("option", "", this.pace, `× ${speed}`).value = speed
    this.pace.value = this.speed
    this.pace.addEventListener("change", () => this.setSpeed(Number(this.pace.value)))
    this.turn = wordsButton(this.bar, "Rules", () => this.turnRules())
    this.curves = wordsButton(this.bar, "How it was found", () => this.showCurves(!this.algorithm))
    this.presenting = iconButton(this.bar, "present", "Present: large, without the rest (P)", () => this.present())
    this.note = make("p", "note", this.root)
    this.actions = make("div", "actions", this.root)
    this.keys = make("p", "keys", this.root)
    this.spoken = make("p", "spoken", this.root)
    this.spoken.setAttribute("aria-live", "polite")
  }

  watch() {
    this.room = new ResizeObserver(() => {
      this.drawing ??= requestAnimationFrame(() => this.draw())
    })
    this.room.observe(this.stage)
    this.sight = new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting
      if (this.seen) this.wake()
    })
    this.sight.observe(this.root)
    this.quiet = window.matchMedia("(prefers-reduced-motion: reduce)")
    this.anywhere = (event) => this.pressedAnywhere(event)
    document.addEventListener("keydown", this.anywhere, true)
    this.dialog.addEventListener("close", () => this.leave())
    // A click into the page's own keys must not reach them: R would run the page anew.
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation())
  }

  /** New data from the server: another story, or more of the same. */
  take(data, tell) {
    this.tell = tell
    this.data = data
    const same = this.identity === data.label
    if (!same) {
      this.shown = data.both ? "all" : 0
      this.algorithm = data.algorithm
    }
    if (data.algorithm !== this.wasExpert) this.algorithm = this.wasExpert = data.algorithm
    const wasLast = this.at >= this.last - 0.001
    const stories = data.stories
    while (this.sides.length > stories.length) this.sides.pop().root.remove()
    while (this.sides.length < stories.length) this.sides.push(new Side(this.stage, this.room))
    // The feature of a tile opens on the page, which the presenter covers.
    for (const side of this.sides) side.grid.pick = (cell) => this.dialog.open || this.ask(`feature ${cell}`)
    if (this.shown !== "all" && this.shown >= stories.length) this.shown = 0
    this.look = this.looked()
    this.sides.forEach((side, i) => side.take(stories[i], this.look, data.classes))
    this.arrange()
    this.root.setAttribute("aria-label", data.label)
    this.identity = data.label
    this.scrubber.max = Math.max(this.last, 0)
    this.offer(data.actions)
    const begins = !same && this.last > 0
    const ends = wasLast || begins || this.at > this.last
    this.seek(ends && !this.playing ? Math.max(this.last, 0) : this.at, this.playing)
    if (data.plays && !played.has(data.plays) && this.last > 0) this.playOnce(data.plays)
  }

  /** A new story plays once by itself, unless its reader wants things to stand still. */
  playOnce(name) {
    played.add(name)
    if (this.quiet.matches) return
    this.at = 0
    if (!this.playing) this.toggle()
  }

  /** Buttons for what the presenter can ask of the server. */
  offer(actions) {
    const names = JSON.stringify(actions)
    if (names === this.offered) return
    this.offered = names
    this.actions.replaceChildren()
    for (const [name, words] of actions) wordsButton(this.actions, words, () => this.ask(name))
  }

  ask(name) {
    this.tell("asked", name)
  }

  showCurves(open) {
    this.algorithm = open
    this.arrange()
    this.draw()
  }

  get last() {
    return Math.max(0, ...this.visible.map((side) => side.story.frames - 1))
  }

  get visible() {
    return this.sides.filter((_, i) => this.shown === "all" || this.shown === i)
  }

  get live() {
    return this.sides.some((side) => side.story.live)
  }

  /** Sizes and colours of the theme, larger for a projector. */
  looked() {
    const style = getComputedStyle(this.root)
    const theme = style.getPropertyValue("--st-chart-categorical-colors").match(/#[0-9a-f]{6}/gi)
    const colours = theme?.length ? theme : this.data.colours
    const ground = channels(style.getPropertyValue("--st-background-color") || "#ffffff")
    const text = channels(style.getPropertyValue("--st-text-color") || "#000000")
    const large = this.dialog.open
    return {
      colour: (i) => colours[(i + 10 * colours.length) % colours.length],
      ground,
      text,
      grid: mixed(ground, text, 0.16),
      faint: mixed(ground, text, 0.75),
      font: style.fontFamily,
      red: channels(style.getPropertyValue("--st-red-text-color") || "#c0392b"),
      size: large ? Math.max(16, Math.round(window.innerHeight / 52)) : 12,
      line: large ? 4 : 2,
      sides: this.data.sides,
      still: this.quiet.matches,
    }
  }

  arrange() {
    const { visible } = this
    this.sides.forEach((side) => {
      side.root.hidden = !visible.includes(side)
      if (side.story) side.share(visible.length > 1)
    })
    this.root.classList.toggle("two", visible.length > 1)
    const told = this.data.stories[this.sides.indexOf(visible[0])]
    const alone = visible.length === 1
    this.head.textContent = alone ? told.headline + told.aside : ""
    this.alarm.textContent = visible.map((side) => this.data.stories[this.sides.indexOf(side)].alarm).find(Boolean) ?? ""
    this.head.classList.toggle("bad", Boolean(told.alarm))
    const other = this.sides.length > 1
    this.turn.hidden = !other
    this.turn.textContent = { 0: "With and without rules (C)", all: "Without rules (C)", 1: "With rules (C)" }[this.shown]
    const open = this.algorithm || this.dialog.open
    this.root.classList.toggle("open", open)
    this.curves.hidden = this.dialog.open || !this.data.stories.some((story) => story.charts.some((chart) => chart.algorithm))
    this.curves.setAttribute("aria-expanded", String(Boolean(open)))
    const rules = other ? "   C: with and without rules" : ""
    this.keys.textContent = `${KEYS}${rules}   Esc: leave`
  }

  draw() {
    this.drawing = null
    if (!this.data) return
    this.look = this.looked()
    for (const side of this.sides) {
      for (const chart of side.charts) chart.look = this.look
      side.grid.look = this.look
      side.draw()
    }
    this.show(performance.now())
  }

  toggle() {
    if (this.playing) return this.pause()
    if (this.at >= this.last) this.at = 0
    if (!this.last) return
    this.playing = true
    nameButton(this.play, "pause", "Pause (space)")
    this.ended = this.before = null
    this.wake()
  }

  pause() {
    this.playing = false
    nameButton(this.play, "play", "Play (space)")
    this.speak()
  }

  toggleLoop() {
    this.looping = !this.looping
    this.loop.setAttribute("aria-pressed", String(this.looping))
  }

  setSpeed(speed) {
    this.speed = speed
    this.pace.value = speed
  }

  step(by) {
    this.seek(by > 0 ? Math.floor(this.at + 1e-6) + 1 : Math.ceil(this.at - 1e-6) - 1)
  }

  seek(at, playing = false) {
    this.at = Math.min(Math.max(at, 0), this.last)
    if (!playing) this.pause()
    this.wake()
  }

  /** Begin to draw, unless that is under way. */
  wake() {
    this.request ??= requestAnimationFrame((now) => this.tick(now))
  }

  tick(now) {
    this.request = null
    if (!this.isDue(now)) return this.wake()
    if (this.playing && this.seen !== false) this.advance(now)
    this.before = now
    this.show(now)
    const fading = this.sides.map((side) => side.grid.fade(now)).some(Boolean)
    this.frames += 1
    if ((this.playing && this.seen !== false) || fading) this.wake()
    else this.before = null
  }

  /** Whether this frame of the screen is one to draw in. */
  isDue(now) {
    const passed = this.ticked === undefined ? 1000 : now - this.ticked
    this.ticked = now
    this.credit = Math.min((this.credit ?? 1) + (passed * RATE) / 1000, 1.5)
    if (this.credit < 1) return false
    this.credit -= 1
    return true
  }

  advance(now) {
    const passed = this.before === null ? 0 : (now - this.before) / 1000
    this.at = Math.min(this.at + (passed * this.speed * this.last) / LENGTH, this.last)
    if (this.at < this.last) return
    this.ended ??= now
    if (!this.looping) this.pause()
    else if (now - this.ended > HOLD) this.at = this.ended = 0
    if (this.at === 0) this.ended = null
  }

  show(now) {
    for (const side of this.sides) if (!side.root.hidden) side.reveal(this.at, now)
    const frame = String(Math.floor(this.at + 1e-6))
    if (this.scrubber.value !== frame) this.scrubber.value = frame
    const longest = this.visible.reduce((most, side) => (side.story.frames > most.story.frames ? side : most))
    if (this.place.textContent !== longest.words) {
      this.place.textContent = longest.words
      this.scrubber.setAttribute("aria-valuetext", longest.words)
    }
    if (this.note.textContent !== longest.story.note) this.note.textContent = longest.story.note
  }

  speak() {
    cancelAnimationFrame(this.speaking)
    this.speaking = requestAnimationFrame(() => {
      if (this.live) return
      const words = this.sides.filter((side) => !side.root.hidden).map((side) => side.sentence())
      this.spoken.textContent = words.join(" ")
    })
  }

  /** With the rules, without them, and both again; the server is asked for a run that is not here. */
  turnRules() {
    if (this.sides.length > 1) {
      this.shown = { 0: "all", all: 1, 1: 0 }[this.shown]
      this.arrange()
      this.scrubber.max = Math.max(this.last, 0)
      if (this.at > this.last) this.seek(this.last)
      this.draw()
    }
  }

  present() {
    if (this.dialog.open) return this.dialog.close()
    this.dialog.append(this.root)
    this.dialog.showModal()
    this.play.focus()
    this.arrange()
    this.draw()
  }

  leave() {
    this.host.append(this.root)
    this.arrange()
    this.draw()
    this.presenting.focus()
  }

  /** Keys act wherever the page is, except in what takes keys itself. */
  pressedAnywhere(event) {
    const at = event.composedPath()[0]
    const inside = event.composedPath().includes(this.root)
    const takes = at instanceof Element && at.closest("input, textarea, select, [contenteditable=true], [role=slider], [role=listbox], [role=radiogroup]")
    if (this.dialog.open || inside) return this.pressed(event)
    const elsewhere = at instanceof Element && at.closest("button, a, [role=button], [role=dialog], summary")
    const letter = event.key.length === 1 && event.key !== " "
    if (takes || (elsewhere && !letter) || event.key.startsWith("Arrow") || ["Home", "End", "Escape"].includes(event.key)) return
    this.pressed(event)
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const act = this.action(event)
    if (!act) return
    event.preventDefault()
    event.stopPropagation()
    act()
  }

  action(event) {
    const presenting = this.dialog.open
    const at = event.composedPath()[0]
    const onControl = at instanceof HTMLElement && at.matches("button, select")
    switch (event.key) {
      case " ":
        if (onControl && at !== this.play && !presenting) return null
        return this.offers("pause") ? () => this.ask("pause") : this.offers("go_on") ? () => this.ask("go_on") : () => this.toggle()
      case "ArrowRight":
        return () => this.step(1)
      case "ArrowLeft":
        return () => this.step(-1)
      case "ArrowUp":
        return () => this.faster(1)
      case "ArrowDown":
        return () => this.faster(-1)
      case "Home":
        return () => this.seek(0)
      case "End":
        return () => this.seek(this.last)
      case "c":
      case "C":
        return this.sides.length > 1 ? () => this.turnRules() : null
      case "l":
      case "L":
        return () => this.toggleLoop()
      case "p":
      case "P":
        return () => this.present()
      case "Escape":
        return presenting ? () => this.dialog.close() : null
    }
    const name = LETTERS[event.key.toLowerCase()]?.find((one) => this.offers(one))
    return name ? () => this.ask(name) : null
  }

  offers(name) {
    return this.data.actions.some(([one]) => one === name)
  }

  faster(by) {
    const place = SPEEDS.indexOf(this.speed) + by
    this.setSpeed(SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)])
  }

  end() {
    cancelAnimationFrame(this.request)
    this.room.disconnect()
    this.sight.disconnect()
    document.removeEventListener("keydown", this.anywhere, true)
    this.root.remove()
    this.dialog.remove()
  }
}

const players = new WeakMap()

/** Called by Streamlit at first and whenever there are new data. */
export default function ({ data, parentElement, setTriggerValue }) {
  let player = players.get(parentElement)
  if (!player) players.set(parentElement, (player = new Player(parentElement)))
  player.take(data, setTriggerValue)
  return () => {
    // Also called for a drawing that a newer one overtook: the player goes when its place has gone.
    if (parentElement.isConnected) return
    player.end()
    players.delete(parentElement)
  }
}
