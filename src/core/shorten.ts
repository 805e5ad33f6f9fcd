/** A longer word is cut within, whatever it is. */
const wordMax = 200

/**
 * The beginning of a text that somebody else wrote, for people. The word at the cut goes whole: half a secret is one
 * that nobody recognises.
 */
export function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const start = text.slice(0, lengthMax)
  const word = Math.max(...[' ', '"', '\n'].map((mark) => start.lastIndexOf(mark) + 1), lengthMax - wordMax)
  return `${start.slice(0, word)}… (${text.length} characters)`
}
