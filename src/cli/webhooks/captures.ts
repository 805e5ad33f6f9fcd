import { parseSettingsFile } from '../../config/settings-file.ts'
import { defaultService, type ServiceName } from '../../core/evidence.ts'
import { parseCaptures } from '../../intake/detect/capture.ts'
import type { CapturedDelivery } from '../../intake/detect/detect-scheme.ts'
import { newestSamples } from '../../store/inbox.ts'
import { newestQuarantined } from '../../store/quarantine.ts'
import { type Context, withDatabase } from '../context.ts'
import { readTextFile } from '../files.ts'
import { checkFilters } from '../filters.ts'
import { wrongUse } from '../options.ts'

/** Enough samples to separate the rule from coincidence. */
export const samplesMax = 500

/** From which place or file, and of which service if from a place. */
export type CaptureOptions = { from: string; service: ServiceName }

/** Of several services, one must be named: their schemes, secrets and owners differ. @throws Fault `usage_bad` */
export function serviceNamed({ environment }: Context, given: string | undefined): ServiceName {
  if (given !== undefined) return given as ServiceName
  const path = environment.DEPOSITD_CONFIG
  const { file } = parseSettingsFile(path === undefined ? '' : readTextFile('DEPOSITD_CONFIG', path))
  const others = Object.keys(file?.services ?? {})
  if (others.length === 0) return defaultService
  const names = [defaultService, ...others].join(', ')
  throw wrongUse(`there are several services: ${names}`, 'name one of them with --service')
}

/**
 * The oldest first.
 * @throws Fault `usage_bad` that lists errors by line, or for a service that does not exist
 */
export async function readCaptures(
  context: Context,
  { from, service }: CaptureOptions,
): Promise<CapturedDelivery[]> {
  if (isPlace(from))
    return withDatabase(context, async (db) => {
      await checkFilters(context, db, { service })
      return from === 'inbox'
        ? newestSamples(db, 'webhook', { limit: samplesMax, service })
        : newestQuarantined(db, samplesMax, service)
    })
  const { captures, faults } = parseCaptures(readTextFile('--from', from))
  if (faults.length > 0) {
    const problem = faults.map((fault) => `${from}, ${fault}`).join('\n  ')
    throw wrongUse(problem, 'see "Captured deliveries" in docs/webhooks.md')
  }
  return captures
}

/** True if it is in the database and not a file. */
export function isPlace(from: string): boolean {
  return from === 'quarantine' || from === 'inbox'
}
