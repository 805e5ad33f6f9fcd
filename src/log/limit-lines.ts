/** Per kind and second: events that metrics count must not fill a disk. */
const linesMax = 10

/**
 * @param now in milliseconds
 * @returns how many lines were suppressed since the last one that was written; null to suppress this one too
 */
export function limitLines(now = Date.now): () => number | null {
  let second = 0
  let lines = 0
  return () => {
    const current = Math.floor(now() / 1000)
    const suppressed = current === second ? 0 : Math.max(0, lines - linesMax)
    if (current !== second) lines = 0
    second = current
    return ++lines <= linesMax ? suppressed : null
  }
}
