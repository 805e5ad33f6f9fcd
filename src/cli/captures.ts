import { readFileSync } from 'node:fs'
import { Fault, messageOf } from '../core/errors.ts'
import { parseCaptures } from '../intake/detect/capture.ts'
import type { CapturedDelivery } from '../intake/detect/detect-scheme.ts'
import { newestQuarantined, newestSamples } from '../store/samples.ts'
import { type Context, withDatabase } from './context.ts'

/** Enough to tell what is always so from what happened to be. */
export const samplesMax = 500

/**
 * Webhooks from where the option `--from` says, the oldest first.
 * @throws Fault `usage_bad` that names what is wrong with a file, line by line.
 */
export function readCaptures(context: Context, from: string): Promise<CapturedDelivery[]> {
  if (from === 'quarantine') return withDatabase(context, (db) => newestQuarantined(db, samplesMax))
  if (from === 'inbox') return withDatabase(context, (db) => newestSamples(db, 'webhook', samplesMax))
  const { captures, faults } = parseCaptures(readText('from', from))
  if (faults.length > 0) {
    const problem = faults.map((fault) => `${from}, ${fault}`).join('\n  ')
    throw new Fault('usage_bad', { problem, mend: 'see "Captured deliveries" in docs/webhooks.md' })
  }
  return Promise.resolve(captures)
}

/** True where `--from` names a place in the database, not a file. */
export function isPlace(from: string): boolean {
  return from === 'quarantine' || from === 'inbox'
}

/** @throws Fault `usage_bad` that names the option. */
export function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Fault('usage_bad', {
      problem: `--${option} cannot be read: ${messageOf(error)}`,
      mend: 'name a file',
    })
  }
}
