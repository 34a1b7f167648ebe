// The one dialog: what is about to happen, step by step, and what went wrong.

const dialog = make("dialog", { class: "trade", "aria-labelledby": "trade-title" });

// A title is a text, or { key, name, token } of what is done with a token.
const heading = (title) => (title.key ? [say(title.key), ...(title.token == null ? [] : [": ", ...named(title)])] : [title]);

function open(title, ...content) {
  dialog.replaceChildren(make("h2", { id: "trade-title" }, ...heading(title)), ...content.filter((part) => part != null));
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.open) dialog.showModal();
}

const closing = (label) => make("button", { type: "button", class: "plain", "data-close": true, onclick: () => dialog.close() }, label ?? say("close"));

// Lets the visitor choose one of some; nothing when they close it.
function choose(title, choices) {
  return new Promise((done) => {
    const button = ([name, value]) => make("button", { type: "button", onclick: () => (done(value), dialog.close()) }, name);
    dialog.addEventListener("close", () => done(null), { once: true });
    open(title, make("div", { class: "choices" }, ...choices.map(button)), closing());
  });
}

// Asks for what is needed before there is a plan. `fields` are [name, label, value, kind or choices].
function form(title, fields, lead) {
  return new Promise((done) => {
    const field = ([name, label, value, kind]) => make("label", {}, label, Array.isArray(kind)
      ? make("select", { name }, ...kind.map(([word, text]) => make("option", { value: word }, text)))
      : make("input", { name, value, required: true, inputmode: kind ?? "decimal", autocomplete: "off" }));
    const sent = (event) => {
      event.preventDefault();
      const values = Object.fromEntries(new FormData(event.target));
      done(values);
    };
    dialog.addEventListener("close", () => done(null), { once: true });
    open(title, lead ? make("p", {}, lead) : null, make("form", { onsubmit: sent }, ...fields.map(field),
      make("div", { class: "buttons" }, make("button", {}, say("go_on")), closing())));
  });
}

// Shows what will be moved and signed, and waits for a yes.
function confirm(job, ...warnings) {
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(false), { once: true });
    const yes = make("button", { type: "button", "data-confirm": true, onclick: () => done(true) }, say("confirm"));
    const warn = (text) => make("p", { class: "refused", role: "alert" }, text);
    open(job.title, ...warnings.filter(Boolean).map(warn), facts(job), list(job),
      make("div", { class: "buttons" }, yes, closing()));
  });
}

const facts = (job) => make("dl", { class: "facts" }, ...told(job).map(([name, ...value]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...value))));

// The steps, each with what it is, where it goes, and how far it is.
function list(job) {
  const state = (place) => (place < job.next ? "done" : place === job.next && isHeld(job) ? "now" : "waits");
  const step = (step, place) => make("li", { "data-step": step.id, "data-state": state(place) }, ...toldOf(job, step));
  return make("ol", { class: "steps" }, ...job.steps.map(step));
}

function progress(job, text) {
  open(job.title, facts(job), list(job), make("p", { role: "status", "data-status": job.state ?? "" }, text));
}

function failed(title, error) {
  open(title, make("p", { class: "refused", role: "alert", "data-trouble": error?.key ?? "" }, inWords(error)), closing());
}

function finished(job) {
  open(job.title, make("p", { role: "status", "data-status": "done" }, say("done")),
    make("div", { class: "buttons" }, make("button", { type: "button", "data-reload": true, onclick: () => location.reload() }, say("show_it")), closing()));
}
