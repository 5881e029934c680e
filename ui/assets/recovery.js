// Asks for the page anew when the browser has lost it: an error while a page is drawn takes
// everything away, and leaves it white. The work so far is kept and offered there. With other data
// the page is another one under the same address: it begins at its top.

const EVERY = 500 // milliseconds between two looks
const PATIENCE = 3 // looks in a row that find nothing
const REST = 10_000 // milliseconds between two reloads

export default function ({ data }) {
  if (window.hipadArrivals !== undefined && window.hipadArrivals !== data.arrivals) {
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 })
  }
  window.hipadArrivals = data.arrivals
  if (window.hipadRecovery) return
  let lost = 0
  window.hipadRecovery = setInterval(() => {
    lost = document.querySelector("[data-testid=stApp]") ? 0 : lost + 1
    const last = Number(sessionStorage.getItem("hipad-reloaded") ?? 0)
    if (lost < PATIENCE || Date.now() - last < REST) return
    sessionStorage.setItem("hipad-reloaded", String(Date.now()))
    location.reload()
  }, EVERY)
}
