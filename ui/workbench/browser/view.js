// The view: sliders on the left, what the model does on the right, and the line to the server.

const AT_REST = 350 // milliseconds without a move until the page is told
const AGAIN = [500, 1500, 4000, 8000] // milliseconds until the next attempt to connect

/** Asks for the model of a move; the next move is sent when the answer to the last has come. */
class Line {
  constructor(answered, opened) {
    this.answered = answered
    this.opened = opened
    this.attempts = 0
  }

  open(address, token) {
    if (token === this.token && address === this.address) return
    this.close()
    this.token = token
    this.address = address
    this.attempts = 0
    this.connect()
  }

  connect() {
    const socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}${this.address}`)
    this.socket = socket
    this.isBusy = true
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ token: this.token }))
      this.isBusy = false
      this.next()
      this.opened()
    })
    socket.addEventListener("message", (event) => {
      this.attempts = 0
      this.isBusy = false
      this.answered(JSON.parse(event.data))
      this.next()
    })
    socket.addEventListener("close", () => {
      if (this.socket !== socket) return
      this.socket = null
      const wait = AGAIN[this.attempts++]
      if (wait) this.waiting = setTimeout(() => this.connect(), wait)
    })
  }

  ask(move) {
    this.move = move
    this.next()
  }

  next() {
    if (!this.move || this.isBusy || this.socket?.readyState !== WebSocket.OPEN) return
    this.socket.send(JSON.stringify(this.move))
    this.move = null
    this.isBusy = true
  }

  close() {
    clearTimeout(this.waiting)
    const socket = this.socket
    this.socket = null
    this.move = null
    socket?.close()
  }
}

class View {
  constructor(parent) {
    this.host = parent
    this.client = crypto.getRandomValues(new Uint32Array(2)).join("-")
    this.n = 0 // the last move
    this.states = 0 // models that were shown while sliders moved: what a measurement counts
    this.values = {}
    this.on = {}
    this.root = make("section", "view", parent)
    this.root.view = this
    this.root.setAttribute("aria-label", "Sliders of the rules, and what the model does")
    this.sliders = new RuleSliders(this.root, (name, value) => this.move(name, value), (position, on) => this.turn(position, on))
    this.stage = make("div", "stage", this.root)
    this.words = make("p", "words", this.stage)
    this.field = new FieldOfFeatures(this.stage)
    this.field.pick = (cell) => this.pick("picked", String(cell))
    this.dots = new PatientsAsDots(this.stage)
    this.legend = make("div", "legend", this.stage)
    this.spoken = make("p", "spoken", this.root)
    this.spoken.setAttribute("aria-live", "polite")
    this.line = new Line((answer) => this.take(answer), () => (this.root.dataset.line = "open"))
    this.quiet = window.matchMedia("(prefers-reduced-motion: reduce)")
    this.room = new ResizeObserver(() => (this.drawing ??= requestAnimationFrame(() => this.draw())))
    for (const part of [this.sliders.root, this.field.root, this.dots.canvas]) this.room.observe(part)
  }

  /** What the page says: rules, settings, and the model at rest. */
  update(data, tell, pick) {
    this.tell = tell
    this.pick = pick
    this.data = data
    this.look = this.looked()
    const seen = data.seen?.client === this.client ? data.seen.n : 0
    if (data.turn !== this.turned) this.forget()
    this.turned = data.turn
    const isNewest = seen >= this.n
    if (isNewest) this.forget()
    this.sliders.take(data.rules, this.look, !isNewest)
    this.field.take(data.setting, this.look)
    this.dots.take(data.setting, this.look)
    this.key(data.setting.classes)
    if (data.live) this.line.open(data.address, data.token)
    else this.line.close()
    if (isNewest && data.state) {
      this.light(data.state)
      this.spoken.textContent = data.state.words
      this.root.dataset.rest = String(this.n)
    }
  }

  /** Moves that the page knows, or that another text of rules has overtaken. */
  forget() {
    this.values = {}
    this.on = {}
    clearTimeout(this.resting)
  }

  move(name, value) {
    this.values[name] = value
    this.n += 1
    delete this.root.dataset.rest
    if (this.data.live) this.line.ask({ n: this.n, values: this.values })
    this.rest()
  }

  turn(position, on) {
    this.on[position] = on
    this.n += 1
    delete this.root.dataset.rest
    this.rest()
  }

  /** Tell the page, when nothing has moved for a moment. */
  rest() {
    clearTimeout(this.resting)
    this.resting = setTimeout(() => {
      const { client, n, values, on } = this
      this.tell("moved", { client, n, turn: this.data.turn, values: { ...values }, on: { ...on } })
    }, AT_REST)
  }

  /** The answer to a move. */
  take(answer) {
    if (answer.error) this.words.textContent = `These rules cannot be fitted: ${answer.error}`
    else if (answer.later) this.words.textContent = "This change takes longer: it is fitted when you let go."
    if (answer.error || answer.later) return
    this.states += 1
    this.light(answer)
  }

  light(state) {
    this.field.light(state)
    this.dots.place(state)
    this.words.textContent = state.words
    this.begun = performance.now()
    this.wake()
  }

  wake() {
    this.request ??= requestAnimationFrame((now) => {
      this.request = null
      const share = this.quiet.matches ? 1 : Math.min(Math.max((now - this.begun) / MOVING, 0), 1)
      this.field.show(share)
      this.dots.show(share)
      if (share < 1) this.wake()
    })
  }

  draw() {
    this.drawing = null
    if (!this.data) return
    this.look = this.sliders.look = this.field.look = this.dots.look = this.looked()
    this.sliders.draw()
    this.field.draw()
    this.dots.show(1)
  }

  /** Colours of the theme. */
  looked() {
    const style = getComputedStyle(this.root)
    const theme = style.getPropertyValue("--st-chart-categorical-colors").match(/#[0-9a-f]{6}/gi)
    const colours = theme?.length ? theme : this.data.colours
    const ground = channels(style.getPropertyValue("--st-background-color") || "#ffffff")
    const text = channels(style.getPropertyValue("--st-text-color") || "#000000")
    return { ground, text, faint: mixed(ground, text, 0.75), font: style.fontFamily, side: (i) => colours[this.data.sides[i]] }
  }

  key(classes) {
    const text = classes.join("|")
    if (this.keyed === text + this.look.side(0)) return
    this.keyed = text + this.look.side(0)
    this.legend.replaceChildren()
    make("span", "", this.legend, `Class that a feature favours or a ${this.data.setting.row} has:`)
    for (const which of [1, 0]) {
      const item = make("span", "swatch", this.legend, classes[which])
      item.style.setProperty("--own", this.look.side(which))
    }
    make("span", "swatch ring", this.legend, "changed answer")
  }

  end() {
    this.line.close()
    clearTimeout(this.resting)
    cancelAnimationFrame(this.request)
    this.room.disconnect()
    this.root.remove()
  }
}

const views = new WeakMap()

/** Called by Streamlit at first and whenever there are new data. */
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  let view = views.get(parentElement)
  if (!view) views.set(parentElement, (view = new View(parentElement)))
  view.update(data, setStateValue, setTriggerValue)
  return () => {
    // Also called for a drawing that a newer one overtook: the view goes when its place has gone.
    if (parentElement.isConnected) return
    view.end()
    views.delete(parentElement)
  }
}
