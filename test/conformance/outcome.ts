/** A fact does not hold. */
export class Broken extends Error {}

/** A fact could not be looked at; that is never counted as holding. */
export class NotChecked extends Error {}

/** @throws Broken with the problem, where the condition does not hold */
export function must(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Broken(problem)
}

/** Shortens what a service answered, so that a report stays readable. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
