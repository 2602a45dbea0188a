// The one script of all pages. Every page works without it: each element below only improves what
// a form or a link does already. Nothing here gives a meaning to attributes of other elements, so
// text that people have written cannot reach it.

const WAIT_WHILE_TYPING = 150;
const COPIED_FOR = 2000;

// Replacing a part of a page by a part of a page of the same server is the one thing that needs
// trust (`require-trusted-types-for 'script'`).
const trusted = window.trustedTypes?.createPolicy("handfast", { createHTML: (text) => text });
const parse = (text) => new DOMParser().parseFromString(trusted ? trusted.createHTML(text) : text, "text/html");

/// Asks this server for a page, and puts the part with the same id in place of the part that is here.
async function replacePart(url, id, signal, form) {
  const how = form ? { method: "POST", body: form } : {};
  const response = await fetch(url, { ...how, signal, headers: { Accept: "text/html" } });
  if (response.redirected && !new URL(response.url).pathname.startsWith(location.pathname)) {
    location.assign(response.url);
    return null;
  }
  const fresh = parse(await response.text()).getElementById(id);
  const here = document.getElementById(id);
  if (!fresh || !here) return null;
  const focused = here.contains(document.activeElement) && document.activeElement.id;
  here.replaceWith(document.adoptNode(fresh));
  if (focused) document.getElementById(focused)?.focus();
  return fresh;
}

/// `<live-form part="ID" url="/…">`: sends its GET form while the person types, and shows the
/// answer's part with this id. With `send="post"` it sends a long form by POST, as a button of the
/// form without a name would: the server shows what would be done, and does nothing.
class LiveForm extends HTMLElement {
  #timer;
  #request;
  connectedCallback() {
    this.addEventListener("input", () => this.#later());
    this.addEventListener("change", () => this.#later());
  }
  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), WAIT_WHILE_TYPING);
  }
  async #send() {
    const form = this.querySelector("form");
    if (!form) return;
    this.#request?.abort();
    this.#request = new AbortController();
    const url = new URL(this.getAttribute("url") ?? form.action, location.href);
    const fields = new URLSearchParams(new FormData(form));
    const isPost = this.getAttribute("send") === "post";
    if (!isPost) url.search = fields.toString();
    try {
      const part = await replacePart(url, this.getAttribute("part"), this.#request.signal, isPost && fields);
      if (!part) return;
      const news = part.querySelector("[data-say]")?.textContent;
      if (news) say(news);
      if (!isPost && !this.hasAttribute("url")) history.replaceState(null, "", url);
      this.dispatchEvent(new Event("replaced"));
    } catch (error) {
      if (error.name !== "AbortError") console.info("the page could not be asked again");
    }
  }
}

/// `<live-part part="ID" seconds="1">`: asks for its page again while the part has `data-running`.
class LivePart extends HTMLElement {
  #timer;
  connectedCallback() {
    const seconds = Number(this.getAttribute("seconds") ?? 1);
    this.#timer = setInterval(() => this.#again(), Math.max(1, seconds) * 1000);
  }
  disconnectedCallback() {
    clearInterval(this.#timer);
  }
  async #again() {
    const id = this.getAttribute("part");
    if (document.hidden) return;
    if (!document.getElementById(id)?.hasAttribute("data-running")) return clearInterval(this.#timer);
    try {
      await replacePart(location.href, id);
    } catch {
      // The server is away for a moment: the next round asks again.
    }
  }
}

/// `<copy-text>`: the button copies the text of its `<code>`.
class CopyText extends HTMLElement {
  connectedCallback() {
    const button = this.querySelector("button");
    if (!button) return;
    button.hidden = false;
    const word = button.querySelector("span") ?? button;
    const usual = word.textContent;
    button.addEventListener("click", async () => {
      const text = this.querySelector("code")?.textContent ?? "";
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const range = document.createRange();
        range.selectNodeContents(this.querySelector("code"));
        const selection = getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
        document.execCommand("copy");
      }
      word.textContent = "Copied";
      say("Copied");
      setTimeout(() => (word.textContent = usual), COPIED_FOR);
    });
  }
}

/// `<order-list>`: rows (`[data-row]`) with a field each are moved by dragging, by their buttons
/// (`value` first, up, down, remove) and by Alt with the arrow keys.
class OrderList extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-move]");
      if (!button) return;
      event.preventDefault();
      this.#move(button.closest("[data-row]"), button.dataset.move, button.dataset.move);
    });
    this.addEventListener("keydown", (event) => {
      const row = event.target.closest("[data-row]");
      const moves = { ArrowUp: "up", ArrowDown: "down", Home: "first" };
      if (!row || !event.altKey || !moves[event.key]) return;
      event.preventDefault();
      this.#move(row, moves[event.key]);
    });
    this.addEventListener("dragstart", (event) => {
      this.dragged = event.target.closest?.("[data-row]");
      event.dataTransfer?.setData("text/plain", "");
    });
    this.addEventListener("dragover", (event) => {
      const over = event.target.closest("[data-row]");
      if (!this.dragged || !over || over === this.dragged) return;
      event.preventDefault();
      const box = over.getBoundingClientRect();
      over.parentNode.insertBefore(this.dragged, event.clientY < box.top + box.height / 2 ? over : over.nextSibling);
    });
    this.addEventListener("dragend", () => {
      if (this.dragged) this.#changed(this.dragged);
      this.dragged = undefined;
    });
    const add = this.querySelector("button[data-add]");
    add?.addEventListener("click", (event) => {
      event.preventDefault();
      const rows = this.#rows();
      const row = rows.at(-1)?.cloneNode(true);
      if (!row) return;
      const field = row.querySelector("input, textarea");
      for (const each of row.querySelectorAll("input, textarea")) each.value = "";
      field.removeAttribute("aria-invalid");
      row.querySelector(".field-error")?.remove();
      rows.at(-1).after(row);
      this.#changed(row);
      field.focus();
    });
  }
  #rows() {
    return [...this.querySelectorAll("[data-row]")];
  }
  #move(row, how, button) {
    const rows = this.#rows();
    const at = rows.indexOf(row);
    if (how === "remove") {
      if (rows.length === 1) row.querySelector("input, textarea").value = "";
      else row.remove();
      this.#changed(rows[at + 1] ?? rows[at - 1] ?? row);
      (rows[at + 1] ?? rows[at - 1] ?? row).querySelector("input, textarea")?.focus();
      return;
    }
    const to = { first: 0, up: at - 1, down: at + 1 }[how];
    if (to < 0 || to >= rows.length) return;
    if (to < at) rows[to].before(row);
    else rows[to].after(row);
    this.#changed(row);
    const again = button && row.querySelector(`button[data-move="${button}"]`);
    if (again && !again.disabled) again.focus();
    else row.querySelector("input, textarea")?.focus();
  }
  #changed(row) {
    const rows = this.#rows();
    const name = this.getAttribute("name") ?? "Address";
    rows.forEach((each, at) => {
      const place = each.querySelector("[data-place]");
      if (place) place.textContent = String(at + 1);
      const field = each.querySelector("input, textarea");
      field?.setAttribute("aria-label", `${name} ${at + 1}`);
      if (field?.id) field.id = field.id.replace(/\d+$/, at + 1);
      for (const button of each.querySelectorAll("button[data-move]")) {
        const words = { first: "first", up: "up", down: "down" }[button.dataset.move];
        const label = words ? `Move ${name.toLowerCase()} ${at + 1} ${words}` : `Remove ${name.toLowerCase()} ${at + 1}`;
        button.setAttribute("aria-label", label);
        if (words) button.disabled = words === "down" ? at === rows.length - 1 : at === 0;
        button.value = `${button.dataset.move}-${at}`;
      }
    });
    say(`${name} ${rows.indexOf(row) + 1} of ${rows.length}`);
    this.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/// Says something to people who do not see the page.
function say(text) {
  let place = document.getElementById("said");
  if (!place) {
    place = document.createElement("p");
    place.id = "said";
    place.className = "only-read";
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  place.textContent = "";
  setTimeout(() => (place.textContent = text), 50);
}

customElements.define("live-form", LiveForm);
customElements.define("live-part", LivePart);
customElements.define("copy-text", CopyText);
customElements.define("order-list", OrderList);

// Ctrl and `/` go to the search field: a single key would act for people who speak their input, and cannot be switched off
// (WCAG 2.1.4). The open state of "the same by command" is remembered.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || !event.ctrlKey) return;
  const find = document.getElementById("find");
  if (!find) return;
  event.preventDefault();
  // On a narrow window it is in the menu.
  if (find.offsetParent === null) location.hash = "menu";
  find.focus();
});
// The menu of the account closes by Escape and by a click beside it.
const account = document.querySelector("details.who");
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !account?.open) return;
  account.open = false;
  account.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  if (account?.open && !account.contains(event.target)) account.open = false;
});
for (const same of document.querySelectorAll("details.same")) {
  try {
    same.open ||= localStorage.getItem("same") === "open";
    same.addEventListener("toggle", () => localStorage.setItem("same", same.open ? "open" : ""));
  } catch {
    // A browser may allow no storage: then it is closed on each page.
  }
}
// The result of the last action is the first thing that is read.
document.querySelector("[data-focus]")?.focus();
