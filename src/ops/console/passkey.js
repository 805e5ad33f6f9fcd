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
