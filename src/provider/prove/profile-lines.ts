import type { FieldDraft } from '../infer/draft-fields.ts'
import type { Doubt, Section } from '../infer/find-records.ts'
import { type FieldProof, type LineProof, type ProvedField, unsure } from './proof.ts'

/** A path without a value, until a person enters one. */
const nowhere = 'not-found'

/** The lines of a profile while they are proved. Lines that no proof reached are unsure. */
export class ProfileLines {
  readonly #profile: Section
  readonly #doubts: readonly Doubt[]
  readonly #proofs = new Map<string, LineProof>()

  constructor({ profile, doubts }: { profile: Section; doubts: readonly Doubt[] }) {
    this.#profile = structuredClone(profile)
    this.#doubts = doubts
  }

  /** Undefined if the draft has no such field, or did not find it. */
  pathOf(path: readonly string[]): string | undefined {
    const field = this.at(path)
    const found = isSection(field) ? field.paths : field
    return typeof found === 'string' && found !== nowhere ? found : undefined
  }

  at(path: readonly string[]): unknown {
    return path.reduce<unknown>((value, name) => (isSection(value) ? value[name] : undefined), this.#profile)
  }

  put(path: readonly string[], value: unknown, proof: LineProof): void {
    const parent = this.#sectionAt(path.slice(0, -1))
    parent[path.at(-1) ?? ''] = value
    this.prove(path, proof)
  }

  prove(path: readonly string[], proof: LineProof): void {
    this.#proofs.set(keyOf(path), proof)
  }

  isProved(path: readonly string[]): boolean {
    return this.#proofs.get(keyOf(path))?.kind === 'proved'
  }

  /** By path of the column: the field of the record that it was proved to be. */
  provedColumns(): Map<string, string> {
    const proved = this.result().proofs.filter(({ path, proof }) => {
      const isField = path[0] === 'record' && !path.includes('words')
      return isField && proof.kind === 'proved'
    })
    return new Map(
      proved.flatMap(({ path }) => {
        const field = path.filter((name) => name !== 'paths')
        const column = this.pathOf(field)
        return column === undefined ? [] : [[column, field.slice(1).join('.')] as const]
      }),
    )
  }

  drop(path: readonly string[]): void {
    const parent = this.at(path.slice(0, -1))
    if (isSection(parent)) delete parent[path.at(-1) ?? '']
  }

  /**
   * An optional field that the facts refute is left out; a needed one stays as drafted, and unsure.
   * @returns the path of the column, if there is one
   */
  settle(path: readonly string[], found: ProvedField, isNeeded = false): string | undefined {
    const { candidate, proof, isRefuted } = found
    if (candidate !== null) {
      this.put(path, candidate.draft, proof)
      return candidate.column.path
    }
    const drafted = this.at(path)
    if (drafted === undefined && !isNeeded) return undefined
    if (isRefuted && !isNeeded) {
      this.drop(path)
      return undefined
    }
    this.put(path, drafted ?? nowhere, proof)
    return this.pathOf(path)
  }

  /** A dictionary field: its column has a proof, and each of its words. */
  settleWords(
    path: readonly string[],
    draft: FieldDraft,
    {
      proof,
      words,
      proofs,
    }: { proof: LineProof; words: object; proofs: Readonly<Record<string, LineProof>> },
  ): void {
    this.put(path, { ...(typeof draft === 'string' ? { paths: draft } : draft), words }, proof)
    this.prove([...path, 'paths'], proof)
    const open = unsure('the field is unsure')
    for (const [word, one] of Object.entries(proofs)) {
      const isOpen = one.kind === 'proved' && proof.kind === 'unsure'
      this.prove([...path, 'words', word], isOpen ? open : one)
    }
  }

  /** In the order of the profile. */
  result(): { profile: Section; proofs: readonly FieldProof[] } {
    const profile = inOrder(this.#profile)
    const proofs = linesOf(profile, []).map((path) => ({ path, proof: this.#proofOf(path) }))
    return { profile, proofs }
  }

  #proofOf(path: readonly string[]): LineProof {
    const doubt = this.#doubts.find((one) => keyOf(one.path) === keyOf(path))
    return this.#proofs.get(keyOf(path)) ?? unsure(doubt?.text ?? 'by its name alone')
  }

  #sectionAt(path: readonly string[]): Section {
    let section = this.#profile
    for (const name of path) {
      const child = section[name]
      const next: Section = isSection(child) ? child : {}
      section[name] = next
      section = next
    }
    return section
  }
}

const sections = ['webhook', 'record', 'networks', 'assets', 'list']

function inOrder(profile: Section): Section {
  const entries = sections.flatMap((name): [string, unknown][] => {
    const section = profile[name]
    const isEmpty = !isSection(section) || Object.keys(section).length === 0
    return isEmpty ? [] : [[name, section]]
  })
  return Object.fromEntries(entries)
}

/** Each field, and each word of a dictionary. */
function linesOf(value: unknown, path: readonly string[]): string[][] {
  if (!isSection(value)) return [[...path]]
  if ('words' in value) {
    const words = isSection(value.words) ? Object.keys(value.words) : []
    return [[...path, 'paths'], ...words.map((word) => [...path, 'words', word])]
  }
  if ('paths' in value || 'otherwise' in value) return [[...path]]
  return Object.entries(value).flatMap(([name, one]) => linesOf(one, [...path, name]))
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path)
}
