/** A section of a profile draft. */
export type Section = { [key: string]: unknown }

/** A line of a profile that a person should check, and why. */
export type Doubt = { path: readonly string[]; text: string }

/** Collects doubts while a profile is drafted. */
export class Doubts {
  readonly all: Doubt[] = []

  /** Does nothing if there is no doubt. */
  note(path: readonly string[], text: string | null | undefined): void {
    if (text !== null && text !== undefined) this.all.push({ path, text })
  }

  noteEach(path: readonly string[], texts: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(texts)) this.note([...path, name], text)
  }
}

/** Removes keys without a value. */
export function present(section: Section): Section {
  return Object.fromEntries(Object.entries(section).filter(([, value]) => value !== undefined))
}
