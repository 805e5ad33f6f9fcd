/** A form with a passkey: the browser asks for it, and the form is sent with what it returned. */
for (const form of document.querySelectorAll('form[data-passkey]')) form.addEventListener('submit', (event) => void usePasskey(event))

/** @param {Event} event */
async function usePasskey(event) {
  event.preventDefault()
  const form = /** @type {HTMLFormElement} */ (event.currentTarget)
  const problem = /** @type {HTMLElement} */ (form.querySelector('[role=alert]'))
  problem.textContent = ''
  try {
    const options = JSON.parse(form.dataset.passkey ?? '')
    const credential = await (form.dataset.step === 'create'
      ? navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
        })
      : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }))
    const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('passkey'))
    field.value = JSON.stringify(credential)
    form.submit()
  } catch (error) {
    problem.textContent = `The passkey was not used: ${String(error)}`
  }
}

/** Times in the zone of the reader; the exact one on hover. Swedish dates are those of ISO 8601. */
const clock = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })
const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'short' })
for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime)
  const name = zone.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  time.title = time.dateTime
  time.textContent = `${clock.format(at)} ${name}`
}

/** Buttons that copy a command, or a transaction or address: hexadecimal, or base58 on Solana. */
for (const element of document.querySelectorAll('pre code, dd')) {
  const text = element.textContent ?? ''
  const copied = element.matches('code') ? text : /\b(?:0x[\da-fA-F]{40,}|[1-9A-HJ-NP-Za-km-z]{32,88})\b/.exec(text)?.[0]
  if (copied === undefined) continue
  const button = document.createElement('button')
  button.className = 'copy'
  button.type = 'button'
  button.textContent = 'Copy'
  button.title = copied
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(copied).then(
      () => (button.textContent = 'Copied'),
      () => (button.textContent = 'Not copied'),
    )
  })
  element.append(' ', button)
}

const pages = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('.top nav a')])
const entries = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('tbody tr')].flatMap((row) => row.querySelector('a') ?? []))
const help = /** @type {HTMLDialogElement} */ (document.querySelector('#keys'))

/** What a key does, beside the elements that name their own in `aria-keyshortcuts`. @type {Record<string, () => void>} */
const keys = {
  j: () => move(1),
  k: () => move(-1),
  '?': () => help.showModal(),
  ...Object.fromEntries(pages.slice(0, 10).map((page, place) => [`${(place + 1) % 10}`, () => page.click()])),
}

document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea')
  if (isTyping || help.open || event.ctrlKey || event.metaKey || event.altKey) return
  /** @type {HTMLElement | null} */
  const named = document.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`)
  const act = named === null ? keys[event.key] : () => (named instanceof HTMLButtonElement ? named.click() : named.focus())
  if (act === undefined) return
  event.preventDefault()
  act()
})

/** To another line of the tables. @param {number} by */
function move(by) {
  const place = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement))
  entries[Math.min(Math.max(place + by, 0), entries.length - 1)]?.focus()
}
