/** A section of a profile, as it is written. */
export type Section = { [key: string]: unknown }

/** A line of a profile that a person should look at: where it stands, and why. */
export type Doubt = { path: readonly string[]; text: string }

/** Gathers what is unsure while a profile is drafted. */
export class Doubts {
  readonly all: Doubt[] = []

  /** Nothing is noted where there is no doubt. */
  note(path: readonly string[], text: string | null | undefined): void {
    if (text !== null && text !== undefined) this.all.push({ path, text })
  }

  noteEach(path: readonly string[], texts: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(texts)) this.note([...path, name], text)
  }
}

/** Without the keys that have no value. */
export function present(section: Section): Section {
  return Object.fromEntries(Object.entries(section).filter(([, value]) => value !== undefined))
}
