import type { SampleColumn } from './columns.ts'
import { isAddress, isSaid, saidAt, timeUnitOf } from './forms.ts'
import { type Hints, isSymbol } from './hints.ts'
import type { LegSide } from './rules.ts'

/** A field in a profile: its path alone, or with options. */
export type FieldDraft = string | Readonly<Record<string, unknown>>

/** Presence that a profile assumes by default. */
export type DefaultPresence = 'required' | 'optional'

export type InferredField = { draft: FieldDraft; doubt: string | null }

type FieldDraftOptions = Readonly<Record<string, unknown>>

export function textDraft(
  column: SampleColumn,
  usual: DefaultPresence,
  options: FieldDraftOptions = {},
): FieldDraft {
  const isEmpty = column.leaves.some((leaf) => leaf?.kind === 'text' && leaf.text === '')
  const all = {
    ...(usual === 'required' && presenceOf(column)),
    ...(isEmpty && { absent: [''] }),
    ...options,
  }
  return Object.keys(all).length === 0 ? column.path : { paths: column.path, ...all }
}

function presenceOf({ leaves }: SampleColumn): { presence?: 'nullable' | 'optional' } {
  if (leaves.includes(null)) return { presence: 'optional' }
  return leaves.some((leaf) => leaf?.kind === 'null' || leaf?.text === '') ? { presence: 'nullable' } : {}
}

export function timeDraft(column: SampleColumn, usual: DefaultPresence): InferredField {
  const unit = timeUnitOf(column)
  const doubt = unit === null ? 'its times are not all of one unit' : null
  return { draft: textDraft(column, usual, unit === null || unit === 'iso' ? {} : { as: unit }), doubt }
}

/**
 * A fraction means units. Whole numbers alone may be either; if they would be large sums in units, they are taken for
 * base units.
 */
export function amountDraft(column: SampleColumn, usual: DefaultPresence): InferredField {
  const said = saidAt(column)
  if (said.some(({ text }) => text.includes('.')))
    return { draft: textDraft(column, usual, { as: 'units' }), doubt: null }
  const draft = textDraft(column, usual)
  if (said.some(({ text }) => text.length >= baseUnitDigits)) return { draft, doubt: null }
  return { draft, doubt: 'small whole numbers: base units, or units?' }
}

/** For most stablecoins, a million units would have one digit less. */
const baseUnitDigits = 8

/** A missing value means the network's native coin, which has no contract. */
export function assetDraft(column: SampleColumn, hints: Hints): InferredField {
  const isSilent = column.leaves.some((leaf) => !isSaid(leaf))
  const otherwise = isSilent ? { otherwise: 'native' } : {}
  const words = saidAt(column).map(({ text }) => text)
  if (words.some(isAddress)) return { draft: textDraft(column, 'required', otherwise), doubt: null }
  const unknown = words.find((word) => !isSymbol(hints, word))
  const doubt = unknown === undefined ? null : `${unknown} is no symbol of the settings: name it under assets`
  return { draft: textDraft(column, 'required', { as: 'symbol', ...otherwise }), doubt }
}

/** If the network of a delivery is missing, a StableWallet was credited. */
export function networkDraft(column: SampleColumn, leg: LegSide): FieldDraft {
  const isCredit = leg === 'settlement' && column.leaves.some((leaf) => !isSaid(leaf))
  return textDraft(column, 'required', isCredit ? { otherwise: 'stable-wallet' } : {})
}
