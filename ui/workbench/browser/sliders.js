// The rules with their sliders: a switch for each rule, a range input for each number, and under each
// threshold the histogram of its expression by class. Everything is a native input, so keys work.

const THUMB = 16 // width of a thumb: the track ends half a thumb before the input does

class RuleSliders {
  /** `moved(name, value)` is called at each move, `switched(position, on)` at each switch. */
  constructor(parent, moved, switched) {
    this.root = make("div", "rules", parent)
    this.moved = moved
    this.switched = switched
    this.rows = new Map()
  }

  /** Rules from the server; rows are made anew only when other rules or sliders come. */
  take(rules, look, keepValues) {
    this.look = look
    const shape = JSON.stringify(rules.map((rule) => [rule.position, rule.label, rule.sliders.map((s) => [s.name, s.low, s.high, s.step])]))
    if (shape !== this.shape) {
      this.shape = shape
      this.rows.clear()
      this.root.replaceChildren(...rules.map((rule) => this.build(rule)))
    }
    for (const rule of rules) {
      const { box, boxOn, note } = this.rows.get(rule.position)
      if (!keepValues) boxOn.checked = rule.on
      box.classList.toggle("off", !boxOn.checked)
      note.textContent = rule.note
      for (const slider of rule.sliders) {
        const row = this.rows.get(slider.name)
        row.histogram = slider.histogram
        row.inputs.forEach((input, i) => {
          input.disabled = !boxOn.checked
          if (!keepValues) input.value = slider.value[i]
        })
        if (!keepValues) this.tell(row)
      }
    }
    this.draw()
  }

  build(rule) {
    const box = make("fieldset", "rule")
    const head = make("legend", "", box)
    const label = make("label", "", head)
    const boxOn = make("input", "", label)
    boxOn.type = "checkbox"
    boxOn.setAttribute("aria-label", `Use the rule ${rule.label}`)
    boxOn.addEventListener("change", () => this.switched(rule.position, boxOn.checked))
    make("b", "", label, rule.label)
    make("span", "", label, ` ⇒ ${rule.outcome}`)
    for (const slider of rule.sliders) this.buildSlider(slider, rule, box)
    const note = make("p", "note", box)
    this.rows.set(rule.position, { box, boxOn, note })
    return box
  }

  buildSlider(slider, rule, box) {
    const part = make("div", "slider", box)
    const words = make("div", "label", part)
    make("span", "", words, slider.label)
    const output = make("output", "", words)
    const row = { ...slider, output, inputs: [] }
    slider.value.forEach((_, i) => {
      const input = make("input", "", part)
      Object.assign(input, { type: "range", min: slider.low, max: slider.high, step: slider.step })
      const end = slider.value.length === 2 ? [", from", ", to"][i] : ""
      input.setAttribute("aria-label", `${rule.label}: ${slider.label}${end}`)
      input.dataset.name = slider.name
      input.addEventListener("input", () => this.move(row, i))
      row.inputs.push(input)
    })
    if (slider.histogram.length) {
      row.canvas = make("canvas", "histogram", part)
      row.canvas.setAttribute("role", "img")
      row.canvas.setAttribute("aria-label", `Histogram of ${slider.label.replace(/ (at least|at most|between|equal to)$/, "")} by class, on the training data.`)
    }
    this.rows.set(slider.name, row)
  }

  move(row, i) {
    const numbers = row.inputs.map((input) => Number(input.value))
    if (numbers.length === 2 && numbers[0] > numbers[1]) row.inputs[i].value = numbers[i] = numbers[1 - i]
    this.tell(row)
    this.drawHistogram(row)
    this.moved(row.name, numbers.length === 2 ? numbers : numbers[0])
  }

  tell(row) {
    const text = row.inputs.map((input) => short(Number(input.value))).join(" and ")
    if (row.output.textContent !== text) row.output.textContent = text
    for (const input of row.inputs) input.setAttribute("aria-valuetext", short(Number(input.value)))
  }

  draw() {
    for (const row of this.rows.values()) if (row.canvas) this.drawHistogram(row)
  }

  /** Bars of both classes over the track; where the condition is met they are strong, else pale. */
  drawHistogram(row) {
    if (!row.canvas || !row.canvas.clientWidth) return
    const { pen, width, height } = fitted(row.canvas)
    const { look } = this
    const [negative, positive] = row.histogram
    const most = Math.max(1, ...negative.map((n, i) => n + positive[i]))
    const [left, right] = [THUMB / 2, width - THUMB / 2]
    const wide = (right - left) / negative.length
    const at = row.inputs.map((input) => left + ((Number(input.value) - row.low) / (row.high - row.low)) * (right - left))
    const met = row.label.endsWith("at most") ? [left, at[0]] : at.length === 2 ? at : row.label.endsWith("at least") ? [at[0], right] : [at[0], at[0]]
    pen.fillStyle = css(mixed(look.ground, look.text, 0.07))
    pen.fillRect(met[0], 0, met[1] - met[0], height)
    for (let i = 0; i < negative.length; i++) {
      const x = left + i * wide
      const middle = x + wide / 2
      pen.globalAlpha = middle >= met[0] && middle <= met[1] ? 1 : 0.38
      let y = height
      for (const [which, bars] of [[0, negative], [1, positive]]) {
        if (!bars[i]) continue
        const tall = Math.max(1, (bars[i] / most) * (height - 2))
        pen.fillStyle = look.side(which)
        pen.fillRect(x, y - tall, Math.max(1, wide - 0.5), tall)
        y -= tall
      }
    }
    pen.globalAlpha = 1
    pen.fillStyle = css(look.text)
    for (const x of at) pen.fillRect(Math.round(x) - 1, 0, 2, height)
  }
}
