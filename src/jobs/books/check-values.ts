import type { Transaction } from 'kysely'
import type { ValuedJournal } from '../../ledger/carry-values.ts'
import type { Lot } from '../../ledger/lots.ts'
import { allLots, priceFaults, revaluationFaults, ruleOfEach } from '../../store/ledger/value-faults.ts'
import {
  type PricedLine,
  readUnvalued,
  readValued,
  readValuedJournals,
  type UnvaluedJournal,
} from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'
import type { LedgerCheck } from './ledger-checks.ts'
import { Batch, type FunctionalCurrency } from './value-books.ts'

const journalsAtOnce = 500
/** Of each kind. */
const faultsMax = 100

/**
 * The values of each journal are those that its stored prices give by the cost basis of their time; each price was
 * imported; revaluations bring assets and debts to their market values.
 */
export const checkValues: LedgerCheck = {
  name: 'values',
  run: (db, report) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const findings = [...(await priceFaults(tx, faultsMax)), ...(await revaluationFaults(tx, faultsMax))]
        const { lastJournal: upTo } = await readValued(tx)
        let [after, journals, lots]: [bigint, number, readonly Lot[]] = [0n, 0, []]
        for (;;) {
          const chunk = await readUnvalued(tx, { after, upTo, limit: journalsAtOnce })
          const last = chunk.journals.at(-1)
          if (last === undefined) break
          const again = await valueAgain(tx, chunk, lots)
          findings.push(...again.findings)
          ;[after, lots, journals] = [last.id, again.lots, journals + chunk.journals.length]
          report(`values: ${journals} journals valued again`)
        }
        findings.push(...lotFindings(await allLots(tx), lots))
        return { findings, counted: { journals } }
      }),
}

type Chunk = Awaited<ReturnType<typeof readUnvalued>>

async function valueAgain(
  tx: Transaction<Tables>,
  { journals, changes }: Chunk,
  before: readonly Lot[],
): Promise<{ findings: string[]; lots: readonly Lot[] }> {
  const ids = journals.map(({ id }) => id)
  const rules = await ruleOfEach(tx, ids)
  const stored = await readValuedJournals(tx, [...ids, ...journals.flatMap(({ reverses }) => reverses ?? [])])
  const byJournal = Map.groupBy(changes, ({ journal }) => journal)
  const findings = journals.filter(({ id }) => !rules.has(id)).map(({ id }) => `journal ${id} has no values`)
  let lots = before
  for (const [rule, same] of runsOf(journals, rules)) {
    const batch = new Batch(rule, lots, stored)
    for (const journal of same) {
      const was = stored.get(journal.id) ?? { lines: [], disposals: [] }
      const priceOf = pricesIn(was.lines)
      batch.value(
        journal,
        (byJournal.get(journal.id) ?? []).map((row) => ({ ...row, ...priceOf(row.asset) })),
      )
      const again = batch.valuations.at(-1) ?? was
      findings.push(...differences(was, again).map((difference) => `journal ${journal.id}: ${difference}`))
    }
    lots = batch.held()
  }
  return { findings, lots }
}

/** Journals one after the other by the same rule. */
function runsOf(
  journals: readonly UnvaluedJournal[],
  rules: ReadonlyMap<bigint, FunctionalCurrency>,
): [FunctionalCurrency, UnvaluedJournal[]][] {
  const runs: [FunctionalCurrency, UnvaluedJournal[]][] = []
  for (const journal of journals) {
    const rule = rules.get(journal.id)
    const last = runs.at(-1)
    if (rule !== undefined && last?.[0].id === rule.id) last[1].push(journal)
    else if (rule !== undefined) runs.push([rule, [journal]])
  }
  return runs
}

function pricesIn(lines: readonly PricedLine[]) {
  const prices = new Map(
    lines.map(({ asset, price, priceAt, source }) => [asset, { price, priceAt, source }]),
  )
  return (asset: string) => prices.get(asset) ?? { price: null, priceAt: null, source: null }
}

function differences(was: ValuedJournal, again: ValuedJournal): string[] {
  return differing(textsOf(was), textsOf(again))
}

function textsOf({ lines, disposals }: ValuedJournal): string[] {
  return [
    ...lines.map(
      ({ account, asset, units, value }) => `${account} ${asset ?? ''} units ${units} value ${value}`,
    ),
    ...disposals.map(
      ({ account, asset, origin, units, cost, proceeds }) =>
        `disposal of ${account} ${asset} acquired by ${origin} units ${units} cost ${cost} proceeds ${proceeds}`,
    ),
  ]
}

function lotFindings(stored: readonly Lot[], again: readonly Lot[]): string[] {
  return differing(stored.map(lotText), again.map(lotText)).map((difference) => `lots: ${difference}`)
}

function lotText({ account, asset, depositId, origin, units, cost }: Lot): string {
  return `${account} ${asset} deposit ${depositId ?? 'none'} acquired by ${origin} units ${units} cost ${cost}`
}

/** Each on one side only. */
function differing(stored: readonly string[], again: readonly string[]): string[] {
  const [is, shouldBe] = [new Set(stored), new Set(again)]
  return [
    ...[...is.difference(shouldBe)].map((text) => `stored is ${text}`),
    ...[...shouldBe.difference(is)].map((text) => `its prices give ${text}`),
  ]
}
