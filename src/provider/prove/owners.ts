import { hasForm, isSaid, type SampleColumn } from '../infer/columns.ts'
import { ownerWords, textDraft } from '../infer/draft-fields.ts'
import type { Hints } from '../infer/hints.ts'
import { candidateOf, countOf, type LineProof, type ProvedField, proveField, unsure } from './proof.ts'
import { agrees, columnsFor, type SampleTable } from './sample-table.ts'
import type { ProvedWords } from './words.ts'

/** By the owner of the paid address, if the address book knows it; otherwise by the ids of owners. */
export function proveOwnerId(table: SampleTable, hints: Hints, drafted: string | undefined): ProvedField {
  const { addressOwners } = hints
  const rows = table.legs.deposit.transfers.flatMap((transfer, place) => {
    const fact = transfer === null ? undefined : addressOwners?.get(transfer.to)
    return fact === undefined ? [] : [{ place, fact }]
  })
  const fitting = columnsFor(table, 'owner.id').filter((column) =>
    agrees(column, rows, (text, fact) => text === fact),
  )
  const candidates = fitting.map((column) => candidateOf(column, textDraft(column, 'required')))
  const kinds = (ids: Iterable<string>) => new Set([...ids].map((id) => hints.owners.get(id))).size
  const isOfOneKind = kinds(rows.map(({ fact }) => fact)) < kinds(hints.owners.keys())
  const without = hints.owners.size === 0 ? 'the address book has no owners' : table.legs.deposit.without
  return proveField(candidates, {
    drafted,
    deposits: rows.length,
    values: new Set(rows.map(({ fact }) => fact)).size,
    by: `the owner of the paid address in the address book; ${countOf(rows.length, 'sample')}`,
    without,
    doubt: isOfOneKind ? 'only owners of one kind were seen' : null,
  })
}

/** A column whose words divide owners as the address book does. */
export function proveOwnerKind(
  table: SampleTable,
  id: SampleColumn,
  { hints, drafted }: { hints: Hints; drafted: string | undefined },
): ProvedField {
  const rows = [...id.leaves.entries()].flatMap(([place, leaf]) => {
    const fact = isSaid(leaf) ? hints.owners.get(leaf.text) : undefined
    return fact === undefined ? [] : [{ place, fact }]
  })
  const fitting = columnsFor(table, 'owner.kind').filter((column) => {
    const kinds = new Map<string, string>()
    const isAgreed = agrees(column, rows, (text, fact) => {
      const known = kinds.get(text) ?? fact
      kinds.set(text, known)
      return known === fact
    })
    return isAgreed && hasForm(column, 'word') && kinds.size === new Set(kinds.values()).size
  })
  return proveField(
    fitting.map((column) => candidateOf(column, textDraft(column, 'required'))),
    {
      drafted,
      deposits: new Set(rows.map(({ place }) => id.leaves[place]?.text)).size,
      values: new Set(rows.map(({ fact }) => fact)).size,
      by: `divides owners as the address book does; ${countOf(rows.length, 'sample')}`,
      without: 'the address book has none of these owners',
    },
  )
}

export function proveOwnerWords(
  kind: SampleColumn,
  id: SampleColumn,
  { hints, network }: { hints: Hints; network: SampleColumn | undefined },
): ProvedWords<'channel' | 'stable_wallet'> {
  const { words } = ownerWords({ kind, id, settlementNetwork: network }, hints)
  const proofs = Object.fromEntries(
    Object.entries(words).map(([word, meaning]): [string, LineProof] => {
      const owners = new Set(
        kind.leaves.flatMap((leaf, place) => (leaf?.text === word ? [id.leaves[place]?.text ?? ''] : [])),
      )
      const known = [...owners].filter((owner) => hints.owners.has(owner))
      const isAgreed = known.length > 0 && known.every((owner) => hints.owners.get(owner) === meaning)
      const other = meaning === 'channel' ? 'stable_wallet' : 'channel'
      return [
        word,
        isAgreed
          ? { kind: 'proved', by: `${countOf(known.length, 'owner')} of the address book` }
          : unsure('the address book has none of these owners', [other]),
      ]
    }),
  )
  return { words, proofs }
}
