import type { SampleColumn } from './columns.ts'
import { hasForm, isAddress, saidAt } from './forms.ts'
import { comparable, type Hints, isSymbol, networkOfWord, networksOfContract } from './hints.ts'
import type { EnvelopeField, RecordField } from './rules.ts'
import { statusOfWord } from './words.ts'

const proof = 12
const strong = 8
const some = 3
const statusesMax = 20
const kindsMax = 30

/** Weighs a column of the record by its values. */
export function weighRecord(hints: Hints, columns: readonly SampleColumn[]) {
  const payments = columns.filter((column) => hasForm(column, 'transaction')).map(distinct)
  const asset = (column: SampleColumn) => assetWeight(hints, column)
  const network = (column: SampleColumn) => networkWeight(hints, column)
  const weights: Partial<Record<RecordField, (column: SampleColumn) => number>> = {
    id: (column) => {
      const isOther = (['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))
      if (isOther || every(column, (text) => hints.owners.has(text))) return -proof
      // There are as many deposits as transactions across all samples.
      return payments.includes(distinct(column)) ? strong : 0
    },
    'owner.id': (column) => (every(column, (text) => hints.owners.has(text)) ? proof : 0),
    'owner.kind': (column) => (distinct(column) > 2 ? -proof : 0),
    status: (column) => {
      if (distinct(column) > statusesMax) return -proof
      return every(column, (text) => statusOfWord(text) !== null) ? strong : 0
    },
    'deposit.address': (column) => addressWeight(hints, column, (text) => hints.depositAddresses.has(text)),
    'settlement.address': (column) =>
      saidAt(column).some(({ text }) => isAddress(text))
        ? addressWeight(hints, column, (text) => hints.recipients.has(text) || hints.owners.has(text))
        : -proof,
    'deposit.asset': asset,
    'settlement.asset': asset,
    'deposit.network': network,
    'settlement.network': network,
  }
  return (field: RecordField, column: SampleColumn) => weights[field]?.(column) ?? 0
}

function addressWeight(hints: Hints, column: SampleColumn, isKnown: (text: string) => boolean): number {
  if (every(column, (text) => isKnown(comparable(text)))) return proof
  const isOther = (text: string) =>
    networksOfContract(hints, text).length > 0 || isKnownAddress(hints, comparable(text))
  return every(column, isOther) ? -proof : 0
}

/** Contracts weigh more than symbols: a symbol is only a label. */
function assetWeight(hints: Hints, column: SampleColumn): number {
  if (every(column, (text) => networksOfContract(hints, text).length > 0)) return strong + some
  if (every(column, (text) => isSymbol(hints, text))) return strong - some
  const isNone =
    every(column, isUuid) ||
    hasForm(column, 'transaction') ||
    every(column, (text) => isKnownAddress(hints, text))
  return isNone ? -proof : 0
}

function networkWeight(hints: Hints, column: SampleColumn): number {
  return every(column, (text) => networkOfWord(hints, text) !== null) ? strong : 0
}

function isKnownAddress({ depositAddresses, recipients }: Hints, text: string): boolean {
  return depositAddresses.has(comparable(text)) || recipients.has(comparable(text))
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text)
}

function every(column: SampleColumn, test: (text: string) => boolean): boolean {
  return saidAt(column).every(({ text }) => test(text))
}

/** Weighs a column around the record by its values. */
export function weighEnvelope(field: EnvelopeField, column: SampleColumn): number {
  if (field === 'kind') return distinct(column) > kindsMax ? -proof : 0
  if (field === 'occurredAt') return 0
  if (hasForm(column, 'time')) return -proof
  const said = saidAt(column).length
  return said > 1 && distinct(column) === said ? some : 0
}

export function distinct(column: SampleColumn): number {
  return new Set(saidAt(column).map(({ text }) => text)).size
}
