import type { Loss, Mismatch, MismatchKind } from '../mismatch.ts'

/** A mismatch where the sources that speak do not all say the same: what it is about, then what each of them says. */
export function contradiction(
  kind: MismatchKind,
  said: Record<string, string | undefined>,
  { about = {}, loss = null }: { about?: Record<string, string>; loss?: Loss | null } = {},
): Mismatch | null {
  const words = Object.entries(said).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const isOne = new Set(words.map(([, word]) => word)).size < 2
  return isOne ? null : { kind, detail: { ...about, ...Object.fromEntries(words) }, loss }
}
