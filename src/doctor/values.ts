import type { Settings } from '../config/settings.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { countUnvalued } from '../store/ledger/show-values.ts'
import { nextUnvalued, priceGaps, readValued } from '../store/ledger/values.ts'
import { examined, ok, openExaminedDatabase, warning } from './finding.ts'

/** Whether the books are valued. Nothing if the settings name no currency. */
export function valueFindings({
  databaseUrl,
  valuation,
}: Pick<Settings, 'databaseUrl' | 'valuation'>): Promise<readonly DoctorFinding[]> {
  return examined('values', 'see the check of the database', async () => {
    if (valuation === null) return []
    await using db = openExaminedDatabase(databaseUrl)
    const { lastJournal: after, currency } = await readValued(db)
    if (currency !== null && currency !== valuation.currency)
      return warning('values', `the books are valued in ${currency}`, `set valuation.currency to ${currency}`)
    const unvalued = await countUnvalued(db, null)
    const next = await nextUnvalued(db, after)
    const [gap] = await priceGaps(db, { after, upTo: next ?? after, limit: 1 })
    if (gap === undefined) return ok('values', `${unvalued} journals wait for the next audit`)
    const { asset, assetSymbol, at } = gap
    const problem = `${unvalued} journals have no value: no price in ${valuation.currency} of ${assetSymbol} (${asset}) at ${at.toISOString()}`
    return warning('values', problem, 'bin/depositd ledger value; docs/accounting.md#values-in-a-currency')
  })
}
