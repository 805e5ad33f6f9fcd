/** A word longer than this is cut in the middle. */
const wordMax = 200

/**
 * The beginning of a text from an external source, for people. A word at the cut is dropped whole: half a secret would
 * not be recognised as one.
 */
export function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const start = text.slice(0, lengthMax)
  const word = Math.max(...[' ', '"', '\n'].map((mark) => start.lastIndexOf(mark) + 1), lengthMax - wordMax)
  return `${start.slice(0, word)}… (${text.length} characters)`
}
