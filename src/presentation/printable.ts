/**
 * Replaces control and format characters: text from external senders must not control the reader's terminal, or reverse
 * the direction of a line.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\ufffd')
}

/** A duration in seconds, for people: `4 s`, `3 min`, `2 h`, `5 d`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}
