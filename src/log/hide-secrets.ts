export type SecretRedactor = {
  add: (secrets: readonly string[]) => void
  /** Hides added secrets, and any text in the form of one. */
  hide: (text: string) => string
}

const mark = '[redacted]'

/** A shorter secret occurs in unrelated text. */
const lengthMin = 6

/** Known secrets are redacted in every encoding in which they can occur; unknown ones are recognised by their form. */
export function createHidden(): SecretRedactor {
  const known = new Set<string>()
  let pattern: RegExp | null = null
  return {
    add(secrets) {
      const long = secrets.filter(({ length }) => length >= lengthMin)
      if (long.every((secret) => known.has(secret))) return
      for (const secret of long) known.add(secret)
      // Longest first: if one contains another, its rest would stay visible.
      const forms = [...known].flatMap(formsOf).toSorted((left, right) => right.length - left.length)
      pattern = new RegExp(forms.map(patternOf).join('|'), 'g')
    },
    hide: (text) => hideForms(pattern === null ? text : text.replaceAll(pattern, mark)),
  }
}

/** Plain, JSON, URL-encoded, and base64 as in basic authorization. */
function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64')
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64]
  return [...new Set([...forms, ...forms.map((form) => JSON.stringify(form).slice(1, -1))])]
}

/** Digits can be a number in the line, which must stay one. */
function patternOf(form: string): string {
  return /^\d+$/.test(form) ? `(?<![\\d:,[])${form}(?!\\d)` : escaped(form)
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
}

// Each pattern must run in linear time, since servers can send anything. A word boundary would miss text after a line
// break, which is `\n` in JSON.
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

/** A long path segment is a key, as in the URLs of nodes. */
function hideInAddress(whole: string, web: string | undefined, place: string): string {
  const known = place.replace(userOfAddress, `${mark}@`)
  const path = web === undefined ? known : known.replaceAll(longSegment, `/${mark}`)
  const query = whole.endsWith(`://${place}`) ? '' : `?${mark}`
  return `${web ?? ''}://${path}${query}`
}
