/** Lines of one kind in one second. What is counted by metrics must not fill a disk. */
const linesMax = 10

/**
 * Lets a few lines a second through.
 * @param tellMore told of how many were held back, once another second has begun
 * @param now milliseconds
 * @returns whether this line may be written
 */
export function limitLines(tellMore: (untold: number) => void, now = Date.now): () => boolean {
  let second = 0
  let lines = 0
  return () => {
    const current = Math.floor(now() / 1000)
    if (current !== second) {
      if (lines > linesMax) tellMore(lines - linesMax)
      second = current
      lines = 0
    }
    return ++lines <= linesMax
  }
}
