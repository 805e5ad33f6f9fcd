import { parseCaptures } from '../../intake/detect/capture.ts'
import type { CapturedDelivery } from '../../intake/detect/detect-scheme.ts'
import { newestSamples } from '../../store/inbox.ts'
import { newestQuarantined } from '../../store/quarantine.ts'
import { type Context, withDatabase } from '../context.ts'
import { readTextFile } from '../files.ts'
import { wrongUse } from '../options.ts'

/** Enough samples to separate the rule from coincidence. */
export const samplesMax = 500

/**
 * The oldest first.
 * @throws Fault `usage_bad` that lists errors by line
 */
export function readCaptures(context: Context, from: string): Promise<CapturedDelivery[]> {
  if (from === 'quarantine') return withDatabase(context, (db) => newestQuarantined(db, samplesMax))
  if (from === 'inbox')
    return withDatabase(context, (db) => newestSamples(db, 'webhook', { limit: samplesMax }))
  const { captures, faults } = parseCaptures(readTextFile('--from', from))
  if (faults.length > 0) {
    const problem = faults.map((fault) => `${from}, ${fault}`).join('\n  ')
    throw wrongUse(problem, 'see "Captured deliveries" in docs/webhooks.md')
  }
  return Promise.resolve(captures)
}

/** True if it is in the database and not a file. */
export function isPlace(from: string): boolean {
  return from === 'quarantine' || from === 'inbox'
}
