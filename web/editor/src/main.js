// The editor of rules: CodeMirror in a component of the app's page.

import { acceptCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { lintKeymap, nextDiagnostic } from "@codemirror/lint";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { apply, besideLines, element, remedies, saidAt, shortest, show } from "./beside.js";
import { colours, vocabulary } from "./colours.js";
import { completing } from "./completing.js";
import { LEAD, Link } from "./link.js";
import { load } from "./names.js";

const EDITORS = new WeakMap();
const fromServer = Annotation.define();

/** Called by the page whenever it has something new to say; the same place keeps its editor. */
export default function draw({ data, parentElement, setTriggerValue }) {
  let editor = EDITORS.get(parentElement);
  if (!editor?.isIn(parentElement)) {
    editor = new Editor(parentElement, data);
    EDITORS.set(parentElement, editor);
  }
  editor.tell = setTriggerValue;
  editor.take(data);
  return () => {
    // Also called for a drawing that a newer one overtook: the editor goes when its place has gone.
    if (parentElement.isConnected) return;
    editor.close();
    EDITORS.delete(parentElement);
  };
}

class Editor {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.names = null;
    this.got = "";
    this.shown = null; // the line that a link led to
    this.link = new Link((edit) => this.tell("edit", { ...edit, names: this.got }));
    this.language = new Compartment();
    this.vocabulary = vocabulary(data.words, data.functions);
    const lost = this.link.begin(data);
    this.box = element("div", "hipad-editor");
    this.status = this.makeStatus();
    this.view = new EditorView({ root, parent: this.box, state: this.begin(data) });
    this.box.append(this.status);
    (root.querySelector(".hipad-place") ?? root).append(this.box);
    this.hold = (event) => this.holdBack(event);
    document.addEventListener("click", this.hold, true);
    if (lost !== null) this.write(lost, false);
  }

  isIn(root) {
    return this.box.isConnected && this.root === root;
  }

  begin(data) {
    return EditorState.create({
      doc: data.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        highlightSpecialChars(),
        EditorView.lineWrapping,
        besideLines(),
        this.language.of(colours(this.vocabulary, null)),
        completing(() => ({ names: this.names, functions: this.data.functions, words: this.data.words })),
        placeholder(data.example),
        keymap.of([
          { key: "Tab", run: acceptCompletion }, // with no list open, Tab leaves the editor
          { key: "F8", run: nextDiagnostic },
          { key: "Mod-Enter", run: () => (this.link.flush(), true) },
          { key: "Alt-Enter", run: (view) => this.repair(view) },
          ...completionKeymap,
          ...historyKeymap,
          ...lintKeymap,
          ...defaultKeymap,
        ]),
        EditorView.contentAttributes.of({
          "aria-label": data.label,
          "aria-describedby": "hipad-status",
          spellcheck: "false",
          autocorrect: "off",
          autocapitalize: "off",
        }),
        EditorView.updateListener.of((update) => this.noticed(update)),
        EditorView.domEventHandlers({ blur: () => this.left() }),
      ],
    });
  }

  makeStatus() {
    const status = element("div", "hipad-status");
    this.said = element("span", "hipad-said");
    this.said.id = "hipad-status";
    this.said.setAttribute("role", "status");
    this.offers = element("span", "hipad-offers");
    const keys = "Ctrl+Space completes · F8 next mistake · Alt+Enter mends it · Esc, Tab leaves";
    status.append(this.said, this.offers, element("span", "hipad-keys", keys));
    return status;
  }

  noticed(update) {
    const isOwn = update.docChanged && !update.transactions.some((each) => each.annotation(fromServer));
    if (isOwn) {
      const isStep = update.transactions.some(
        (each) => each.isUserEvent("undo") || each.isUserEvent("redo") || each.isUserEvent("input.remedy"),
      );
      this.link.typed(() => this.view.state.doc.toString(), isStep);
      if (isStep) this.link.endBurst();
    }
    if (update.docChanged || update.selectionSet || update.transactions.some((each) => each.effects.length)) {
      this.describe();
    }
  }

  left() {
    this.link.flush();
    this.link.endBurst();
  }

  /** Let the text go ahead of a click that leaves the page. */
  holdBack(event) {
    const target = event.composedPath().find((each) => each.tagName === "A" && each.href);
    const isPlain = event.isTrusted && !event.button && !(event.ctrlKey || event.metaKey || event.shiftKey);
    if (!target || target.origin !== location.origin || !isPlain || !this.link.isBusy) return;
    this.link.flush();
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => target.click(), LEAD);
  }

  /** Say below the editor what the line of the cursor means. */
  describe() {
    const { state } = this.view;
    const place = state.selection.main.head;
    const said = saidAt(state, place);
    if (said === this.described) return;
    this.described = said;
    this.status.classList.toggle("hipad-wrong", Boolean(said?.fixes));
    this.said.textContent = said ? `Line ${state.doc.lineAt(place).number}: ${said.words}` : "";
    this.offers.replaceChildren(...(said ? remedies(this.view, said) : []));
  }

  repair(view) {
    const said = saidAt(view.state, view.state.selection.main.head);
    return said?.fixes?.length ? apply(view, said, said.fixes[0]) : false;
  }

  take(data) {
    this.data = data;
    this.takeNames(data.names);
    if (!data.ready) this.tellReady();
    if (!this.link.isUpToDate(data)) return;
    const mine = this.view.state.doc.toString();
    const theirs = this.view.state.toText(data.text).toString();
    if (mine !== theirs) this.write(theirs, true);
    this.link.agreed(data.text);
    show(this.view, data);
    this.box.dataset.edit = String(this.link.edit);
    this.describe();
    this.goTo(data.line);
  }

  /** Go once to the line that a link names; later the cursor is its owner's. */
  goTo(number) {
    if (!number || number === this.shown) return;
    this.shown = number;
    const { doc } = this.view.state;
    const place = doc.line(Math.min(number, doc.lines)).from;
    this.view.dispatch({
      selection: { anchor: place },
      effects: EditorView.scrollIntoView(place, { y: "center" }),
    });
    this.view.focus();
  }

  write(text, isServers) {
    this.view.dispatch({
      changes: shortest(this.view.state.doc.toString(), text),
      annotations: [isolateHistory.of("full"), ...(isServers ? [fromServer.of(true)] : [])],
    });
  }

  takeNames({ key, address }) {
    if (this.key === key) return;
    this.key = key;
    load(key, address)?.then(
      (names) => {
        if (this.key !== key) return;
        this.names = names;
        this.view.dispatch({ effects: this.language.reconfigure(colours(this.vocabulary, names)) });
        this.box.dataset.names = String(names.features.length);
        this.got = key; // said with the next edit: from then on the address is not sent any more
      },
      () => (this.key = null),
    );
  }

  /** The text area that stands in until the editor is there goes when nobody writes in it. */
  tellReady() {
    if (document.activeElement?.tagName !== "TEXTAREA") {
      this.tell("ready", true);
    } else if (!this.isWaiting) {
      const later = () => ((this.isWaiting = false), setTimeout(() => this.tellReady(), 300));
      this.isWaiting = true;
      document.addEventListener("focusout", later, { once: true });
    }
  }

  close() {
    document.removeEventListener("click", this.hold, true);
    this.link.flush();
    this.view.destroy();
    this.box.remove();
  }
}
