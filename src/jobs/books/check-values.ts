import type { Transaction } from 'kysely'
import type { Lot } from '../../ledger/lots.ts'
import { Pools } from '../../ledger/pools.ts'
import type { ValuedJournal } from '../../ledger/valued-journal.ts'
import { allLots, priceFaults, revaluationFaults, ruleOfEach } from '../../store/ledger/value-faults.ts'
import { readValued } from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'
import type { LedgerCheck } from './ledger-checks.ts'
import { readStored } from './replay-values.ts'
import { eachInTime, type FunctionalCurrency, valueJournal } from './value-books.ts'

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
        let [after, journals, held]: [bigint, number, Held] = [0n, 0, null]
        for (;;) {
          const chunk = await readStored(tx, { after, upTo, limit: journalsAtOnce })
          if (chunk.again.length === 0) break
          const again = await valueAgain(tx, chunk, held)
          findings.push(...again.findings)
          ;[after, held, journals] = [again.last, again.held, journals + again.count]
          report(`values: ${journals} journals valued again`)
        }
        findings.push(...lotFindings(await allLots(tx), held?.pools.lots() ?? []))
        return { findings, counted: { journals } }
      }),
}

type Chunk = Awaited<ReturnType<typeof readStored>>

/** Null before the first journal. */
type Held = { rule: FunctionalCurrency; pools: Pools } | null

/** As many of the journals as are valued in time. */
async function valueAgain(tx: Transaction<Tables>, { again: journals, stored }: Chunk, before: Held) {
  const rules = await ruleOfEach(
    tx,
    journals.map(({ journal }) => journal.id),
  )
  const findings: string[] = []
  let held = before
  const count = await eachInTime(journals, ({ journal, rows }) => {
    const rule = rules.get(journal.id)
    if (rule === undefined) {
      findings.push(`journal ${journal.id} has no values`)
      return
    }
    if (held?.rule.id !== rule.id) held = { rule, pools: new Pools(held?.pools.lots() ?? [], rule) }
    const was = stored.get(journal.id) ?? { lines: [], disposals: [] }
    const again = valueJournal(held, { journal, rows }, stored)
    findings.push(...differences(was, again).map((difference) => `journal ${journal.id}: ${difference}`))
  })
  return { findings, held, count, last: journals[count - 1]?.journal.id ?? 0n }
}

function differences(was: ValuedJournal, again: ValuedJournal): string[] {
  return differing(textsOf(was), textsOf(again))
}

function textsOf({ lines, disposals }: ValuedJournal): string[] {
  return [
    ...lines.map(
      ({ account, asset, units, value }, place) =>
        `line ${place + 1}: ${account} ${asset ?? ''} units ${units} value ${value}`,
    ),
    ...disposals.map(
      ({ account, asset, origin, acquiredAt, units, cost, proceeds }, place) =>
        `disposal ${place + 1}: ${account} ${asset} acquired by ${acquiredBy(origin, acquiredAt)} units ${units} cost ${cost} proceeds ${proceeds}`,
    ),
  ]
}

function lotFindings(stored: readonly Lot[], again: readonly Lot[]): string[] {
  return differing(stored.map(lotText), again.map(lotText)).map((difference) => `lots: ${difference}`)
}

function lotText({ account, asset, depositId, origin, acquiredAt, units, cost }: Lot): string {
  return `${account} ${asset} deposit ${depositId ?? 'none'} acquired by ${acquiredBy(origin, acquiredAt)} units ${units} cost ${cost}`
}

function acquiredBy(origin: bigint, at: Date | null): string {
  return at === null ? `${origin}` : `${origin} at ${at.toISOString()}`
}

/** The texts that only one side has. Each text occurs once on its side. */
function differing(stored: readonly string[], again: readonly string[]): string[] {
  const [is, shouldBe] = [new Set(stored), new Set(again)]
  return [
    ...[...is.difference(shouldBe)].map((text) => `stored is ${text}`),
    ...[...shouldBe.difference(is)].map((text) => `its prices give ${text}`),
  ]
}
