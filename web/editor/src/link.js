// Text between this editor and the server: nothing typed is lost, and neither side is outrun.
//
// Every edit here has a number. The server says up to which number it has seen; its own text is taken
// only when it has seen all, so it can never overwrite what it does not know.

const PAUSE = 400; // milliseconds after the last key before the text is sent
const BURST = 4000; // a longer pause begins a new version in the app's history
export const LEAD = 150; // the text must be on its way before a page is left, or it calls the page back
let kept = null; // text that may not have reached the server when the editor was taken down

export class Link {
  constructor(send) {
    this.send = send;
    this.client = crypto.randomUUID?.() ?? String(Math.random());
    this.edit = 0; // number of the last edit here
    this.sent = 0; // number of the last edit that was sent
    this.burst = 0;
    this.last = 0; // when the last edit was made
    this.base = ""; // the last text that both sides had
    this.timer = null;
    this.sentAt = 0;
  }

  /** Whether text is waiting to be sent, or was sent only now. */
  get isBusy() {
    return this.sent !== this.edit || Date.now() - this.sentAt < LEAD;
  }

  /** What to begin with: the server's text, or what was typed last and never arrived. */
  begin({ text, seen }) {
    this.base = text;
    const lost = kept;
    kept = null;
    if (!lost || lost.base !== text) return null;
    const hasArrived = seen?.client === lost.client && seen.edit >= lost.edit;
    return hasArrived || lost.text === text ? null : lost.text;
  }

  typed(read, isNewBurst) {
    const now = Date.now();
    if (isNewBurst || now - this.last > BURST) this.burst += 1;
    this.last = now;
    this.edit += 1;
    this.read = read;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
    kept = { client: this.client, edit: this.edit, base: this.base, text: read() };
  }

  /** Send what was not sent yet. */
  flush() {
    clearTimeout(this.timer);
    if (this.sent === this.edit) return;
    this.sent = this.edit;
    this.sentAt = Date.now();
    this.send({ client: this.client, edit: this.edit, burst: this.burst, text: this.read() });
  }

  /** The next edit makes a version of its own. */
  endBurst() {
    this.last = 0;
  }

  /** Whether the server has seen every edit made here. */
  isUpToDate({ seen }) {
    const number = seen?.client === this.client ? seen.edit : 0;
    return number >= this.edit;
  }

  agreed(text) {
    this.base = text;
    kept = null;
  }
}
