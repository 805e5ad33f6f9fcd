/** Per kind and second: events that metrics count must not fill a disk. */
const linesMax = 10

/**
 * @param reportMore receives the number of suppressed lines, once another second has begun
 * @param now in milliseconds
 * @returns whether this line may be written
 */
export function limitLines(reportMore: (unreported: number) => void, now = Date.now): () => boolean {
  let second = 0
  let lines = 0
  return () => {
    const current = Math.floor(now() / 1000)
    if (current !== second) {
      if (lines > linesMax) reportMore(lines - linesMax)
      second = current
      lines = 0
    }
    return ++lines <= linesMax
  }
}
