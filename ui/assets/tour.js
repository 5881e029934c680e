// The arrows of a talk: right for the next scene, left for the one before. Whatever takes arrows
// itself (fields, sliders, the player when it has the focus or the screen) keeps them.

const TAKES =
  "input, textarea, select, [contenteditable=true], [role=slider], [role=listbox], [role=radiogroup], [role=grid], [role=tab], section.show, dialog"

export default function ({ data, setTriggerValue, parentElement }) {
  const pressed = (event) => {
    const step = { ArrowRight: "on", ArrowLeft: "back" }[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    if (event.composedPath().some((at) => at instanceof Element && at.matches(TAKES))) return
    event.preventDefault()
    setTriggerValue("step", step)
  }
  window.hipadTour?.()
  window.hipadTour = () => document.removeEventListener("keydown", pressed, true)
  document.addEventListener("keydown", pressed, true)
  document.documentElement.dataset.tour = data.scene // from now on its arrows are heard
  return () => {
    if (!parentElement.isConnected) document.removeEventListener("keydown", pressed, true)
  }
}
