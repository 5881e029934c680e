// Three lanes with one clock: each runner is as far as its method would be after this time.

const raced = (globalThis.hipadRaced ??= new Set()) // races that have run by themselves
const tracks = new WeakMap()

function part(tag, name, parent, words) {
  const element = document.createElement(tag)
  element.className = name
  if (words !== undefined) element.textContent = words
  parent.append(element)
  return element
}

class Track {
  constructor(parent) {
    this.root = part("section", "race", parent)
    this.root.track = this
  }

  take(data) {
    this.data = data
    this.root.replaceChildren()
    part("p", "words", this.root, data.words)
    this.lanes = data.lanes.map(([name, seconds, words], i) => {
      const row = part("div", "lane", this.root)
      part("b", "name", row, name)
      const runner = part("div", "runner", part("div", "track", row))
      runner.style.setProperty("--own", data.colours[i])
      return { name, seconds, words, runner, finish: part("span", "finish", row) }
    })
    const again = part("button", "again", this.root, "Race again")
    again.type = "button"
    again.addEventListener("click", () => this.start())
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches
    if (still || raced.has(data.plays)) return this.show(Infinity)
    raced.add(data.plays)
    this.start()
  }

  start() {
    cancelAnimationFrame(this.request)
    this.begun = null
    this.request = requestAnimationFrame((now) => this.tick(now))
  }

  tick(now) {
    this.begun ??= now
    const seconds = (now - this.begun) / 1000 / this.data.factor
    this.show(seconds)
    if (this.root.isConnected && seconds < Math.max(...this.lanes.map((lane) => lane.seconds))) {
      this.request = requestAnimationFrame((next) => this.tick(next))
    }
  }

  /** The lanes after so many measured seconds. */
  show(seconds) {
    for (const lane of this.lanes) {
      const share = Math.min(seconds / lane.seconds, 1)
      lane.runner.style.transform = `scaleX(${share.toFixed(4)})`
      const words = share < 1 ? `${seconds.toFixed(3)} s` : lane.words
      if (lane.finish.textContent !== words) lane.finish.textContent = words
    }
  }
}

/** Called by Streamlit at first and whenever there are new data. */
export default function ({ data, parentElement }) {
  let track = tracks.get(parentElement)
  if (!track) tracks.set(parentElement, (track = new Track(parentElement)))
  const told = JSON.stringify(data)
  if (told !== track.told) track.take(data)
  track.told = told
  return () => {
    if (parentElement.isConnected) return
    cancelAnimationFrame(track.request)
    track.root.remove()
    tracks.delete(parentElement)
  }
}
