type TemplateField = 'id' | 'timestamp' | 'body'

/** What a signature may have been made over, the plainest first. */
const orders: readonly (readonly TemplateField[])[] = [
  ['body'],
  ['timestamp', 'body'],
  ['body', 'timestamp'],
  ['id', 'timestamp', 'body'],
  ['timestamp', 'id', 'body'],
  ['id', 'body'],
  ['body', 'id'],
  ['id', 'body', 'timestamp'],
  ['timestamp', 'body', 'id'],
  ['body', 'id', 'timestamp'],
  ['body', 'timestamp', 'id'],
]

const separators = ['.', '', ':', '|', '-', '_', ',', ';', '/', '&', '\n', ' ', '+']

export type Template = { text: string; signsId: boolean; signsTimestamp: boolean }

/** @param version stands before the rest in some senders' templates, as the `v0` of `v0:{timestamp}:{body}`. */
export function templates(version: string | null): Template[] {
  return orders.flatMap((order) => {
    const signs = { signsId: order.includes('id'), signsTimestamp: order.includes('timestamp') }
    const places = order.map((place) => `{${place}}`)
    const plain = order.length === 1 ? ['{body}'] : separators.map((separator) => places.join(separator))
    const versioned =
      version === null ? [] : separators.map((separator) => [version, ...places].join(separator))
    return [...plain, ...versioned].map((text) => ({ text, ...signs }))
  })
}
