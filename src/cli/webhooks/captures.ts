import { readFileSync } from 'node:fs'
import { Fault, messageOf } from '../../core/errors.ts'
import { parseCaptures } from '../../intake/detect/capture.ts'
import type { CapturedDelivery } from '../../intake/detect/detect-scheme.ts'
import { newestSamples } from '../../store/inbox.ts'
import { newestQuarantined } from '../../store/quarantine.ts'
import { type Context, withDatabase } from '../context.ts'

/** Enough samples to separate the rule from coincidence. */
export const samplesMax = 500

/**
 * The oldest first.
 * @throws Fault `usage_bad` that lists errors by line
 */
export function readCaptures(context: Context, from: string): Promise<CapturedDelivery[]> {
  if (from === 'quarantine') return withDatabase(context, (db) => newestQuarantined(db, samplesMax))
  if (from === 'inbox') return withDatabase(context, (db) => newestSamples(db, 'webhook', samplesMax))
  const { captures, faults } = parseCaptures(readText('from', from))
  if (faults.length > 0) {
    const problem = faults.map((fault) => `${from}, ${fault}`).join('\n  ')
    throw new Fault('usage_bad', { problem, fix: 'see "Captured deliveries" in docs/webhooks.md' })
  }
  return Promise.resolve(captures)
}

/** True if it is in the database and not a file. */
export function isPlace(from: string): boolean {
  return from === 'quarantine' || from === 'inbox'
}

/** @throws Fault `usage_bad` */
export function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Fault('usage_bad', {
      problem: `--${option} cannot be read: ${messageOf(error)}`,
      fix: 'name a file',
    })
  }
}
