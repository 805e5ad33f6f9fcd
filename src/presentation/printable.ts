/** What strangers sent must not steer the terminal, or turn the line around, of who looks at it. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\ufffd')
}

/** A duration in seconds as people say it: `4 s`, `3 min`, `2 h`, `5 d`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}
