import {
  compareLeaves,
  createTree,
  isOfRoot,
  type LeafById,
  listOf,
  readLeaves,
} from '../../ledger/merkle-tree.ts'
import { faultOfSeal, leafOf, type Seal } from '../../ledger/seal.ts'
import type { Database } from '../../store/database.ts'
import { countUnsealed, leavesOfSeal, readSealedJournals, sealsAfter } from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'
import type { LedgerCheck } from './ledger-checks.ts'

export type Anchors = ReadonlyMap<string, Seal>

export function sealsCheck(anchors: Anchors): LedgerCheck {
  return {
    name: 'seals',
    async run(db, report) {
      const findings: string[] = []
      const counted = { seals: 0, journals: 0, 'not sealed yet': 0 }
      const missing = new Map(anchors)
      const matching: Seal[] = []
      let isAltered = false
      for await (const { seal, journals, faults } of checkSeals(db, null)) {
        const published = missing.get(seal.number)
        missing.delete(seal.number)
        const isOther = published !== undefined && published.hash !== seal.hash
        const other = isOther ? [`differs from the published seal, whose hash is ${published.hash}`] : []
        findings.push(...[...faults, ...other].map((fault) => `seal ${seal.number}: ${fault}`))
        if (published?.hash === seal.hash) matching.push(published)
        isAltered ||= faults.length > 0
        counted.seals++
        counted.journals += journals
        report(`seals: ${counted.journals} journals of ${counted.seals} seals checked`)
      }
      findings.push(...[...missing.values()].map(missingLine))
      if (!isAltered) findings.push(...divergenceLines(anchors, matching))
      counted['not sealed yet'] = await countUnsealed(db)
      return { findings, counted }
    },
  }
}

function missingLine({ number, after, last, journals, hash }: Seal): string {
  const range = `${journals} journals from ${BigInt(after) + 1n} to ${last}`
  return `seal ${number}: missing; it covered ${range} and was published as ${hash}`
}

/**
 * If seals match only up to one of them, the books were truncated there or continued differently, as in a restored
 * copy. They are intact up to that seal.
 */
function divergenceLines(anchors: Anchors, matching: readonly Seal[]): string[] {
  const last = matching.at(-1)
  if (last === undefined || matching.length === anchors.size) return []
  const isWhole = [...anchors.values()].every(
    (anchor) => matching.includes(anchor) || BigInt(anchor.number) > BigInt(last.number),
  )
  const line = `the books match the published seals up to seal ${last.number} (journal ${last.last}) and differ after it. This also happens after a restore: see "Backup" in docs/operations.md`
  return isWhole ? [line] : []
}

export type CheckedSeal = { seal: Seal; journals: number; faults: string[] }

const sealsOfPage = 200

/** Starts after `behind`. */
export async function* checkSeals(db: Database<Tables>, behind: Seal | null): AsyncGenerator<CheckedSeal> {
  let before = behind
  for (;;) {
    const seals = await sealsAfter(db, before?.number ?? '0', sealsOfPage)
    if (seals.length === 0) return
    for (const seal of seals) {
      const fault = faultOfSeal(seal, before)
      const { journals, faults } = await checkJournals(db, seal)
      yield { seal, journals, faults: fault === null ? faults : [fault, ...faults] }
      before = seal
    }
  }
}

async function checkJournals(db: Database<Tables>, seal: Seal): Promise<Omit<CheckedSeal, 'seal'>> {
  const { journals, root, found, doubled, withoutJournal } = await readSealedRange(db, seal)
  const others: string[] = []
  if (doubled.length > 0) others.push(`several journals have the number ${listOf(doubled)}`)
  if (withoutJournal.length > 0) others.push(`transfers refer to missing journals: ${listOf(withoutJournal)}`)
  if (journals > 0 && root === seal.root && journals.toString() === seal.journals)
    return { journals, faults: others }
  const named = await nameJournals(db, seal, found)
  const isReported = named.length > 0 || doubled.length > 0
  const unreported = isReported ? [] : [`${notAsSealed(seal)}; ${journals} are stored, each as it was sealed`]
  return { journals, faults: [...named, ...unreported, ...others] }
}

async function readSealedRange(db: Database<Tables>, seal: Seal) {
  const tree = createTree()
  const found = new Map<bigint, string>()
  const doubled = new Set<bigint>()
  const withoutJournal: bigint[] = []
  let journals = 0
  // Without a lower bound, journals inserted before the first one are found too.
  const after = seal.number === '1' ? null : seal.after
  for await (const page of readSealedJournals(db, { after, last: seal.last })) {
    for (const rows of page.journals) {
      const leaf = leafOf(rows)
      const id = BigInt(rows.journal.id ?? 0)
      tree.add(leaf)
      if (found.has(id)) doubled.add(id)
      found.set(id, leaf.toString('hex'))
      journals++
    }
    withoutJournal.push(...page.withoutJournal)
  }
  const root = journals === 0 ? '' : tree.root().toString('hex')
  return { journals, root, found, doubled: [...doubled], withoutJournal }
}

async function nameJournals(db: Database<Tables>, seal: Seal, found: LeafById): Promise<string[]> {
  const sealed = readLeaves((await leavesOfSeal(db, seal.number)) ?? Buffer.of())
  if (isOfRoot(sealed, seal.root)) return compareLeaves(sealed, found)
  return [`${notAsSealed(seal)}; its leaves were altered too, so the journals cannot be named`]
}

function notAsSealed({ journals, after, last }: Seal): string {
  return `its ${journals} journals, from ${BigInt(after) + 1n} to ${last}, differ from the sealed ones`
}
