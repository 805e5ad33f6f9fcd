export type SecretRedactor = {
  /** From now on these are hidden, too; what was hidden before stays so. */
  add: (secrets: readonly string[]) => void
  /** The text without secrets: those that were added, and whatever has the form of one. */
  hide: (text: string) => string
}

const mark = '[redacted]'

/** A shorter secret stands in texts that have nothing to do with it. */
const lengthMin = 6

/**
 * Hides secrets in lines of JSON, wherever they turn up: in a message, an address, a cause. What is known is hidden in
 * each form in which it may be written; what nobody told of is hidden by its form.
 */
export function createHidden(): SecretRedactor {
  const known = new Set<string>()
  let pattern: RegExp | null = null
  return {
    add(secrets) {
      const long = secrets.filter(({ length }) => length >= lengthMin)
      if (long.every((secret) => known.has(secret))) return
      for (const secret of long) known.add(secret)
      // The longest first: of a secret within another, the rest would be left.
      const forms = [...known].flatMap(formsOf).toSorted((left, right) => right.length - left.length)
      pattern = new RegExp(forms.map(patternOf).join('|'), 'g')
    },
    hide: (text) => hideForms(pattern === null ? text : text.replaceAll(pattern, mark)),
  }
}

/** As it is, as JSON and as an address write it, and as the header of a basic authorisation holds it. */
function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64')
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64]
  return [...new Set([...forms, ...forms.map((form) => JSON.stringify(form).slice(1, -1))])]
}

/** Digits alone may be a number of the line, which stays one. */
function patternOf(form: string): string {
  return /^\d+$/.test(form) ? `(?<![\\d:,[])${form}(?!\\d)` : escaped(form)
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
}

// Each of these has to pass over any text in time that grows with its length alone: what servers say may be of any form.
// A word boundary would miss what stands behind a line break, which is `\n` in JSON.
const address = /(https?|wss?)?:\/\/((?:(?!:\/\/)[^\s"\\?])*)(?:\?(?:\[redacted\]|[^\s"\\)\]])*)?/gi
const userOfAddress = /^[^/#@:]*(?::[^#]*)?@/
const longSegment = /\/[\w~.+%=-]{20,}/g
const webhookSecret = /wh(?:sec|sk)_[\w+/=-]+/g
const authorization = /(Bearer|Basic) +[\w.~+/=-]{8,}/g
const authorizationHeader = /(authorization\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted\])[^"'\\,;}]+/gi
const namedValue = /((?:x-)?api[-_]?key|password)(\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted\])[^\s"'\\,;&}]+/gi

function hideForms(text: string): string {
  return text
    .replaceAll(address, hideInAddress)
    .replaceAll(webhookSecret, mark)
    .replaceAll(authorizationHeader, `$1${mark}`)
    .replaceAll(authorization, `$1 ${mark}`)
    .replaceAll(namedValue, `$1$2${mark}`)
}

/** An address keeps its host and the short words of its path; a long one is a key as those of nodes are. */
function hideInAddress(whole: string, web: string | undefined, place: string): string {
  const known = place.replace(userOfAddress, `${mark}@`)
  const path = web === undefined ? known : known.replaceAll(longSegment, `/${mark}`)
  const query = whole.endsWith(`://${place}`) ? '' : `?${mark}`
  return `${web ?? ''}://${path}${query}`
}
