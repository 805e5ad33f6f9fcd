import type { Settings } from '../config/settings.ts'
import { type AdmissionDeps, admitDelivery } from '../intake/admit-delivery.ts'
import { restoreSecrets } from '../intake/detect/restore-secrets.ts'
import { createInboxWriter, type InboxOutcome, writerLimits } from '../intake/inbox-writer.ts'
import { createScheme } from '../intake/signature/create-scheme.ts'
import { createEventIdReader } from '../provider/read-event-id.ts'
import type { Database } from '../store/database.ts'
import { dropQuarantined, type QuarantinedRow, readQuarantine } from '../store/quarantine.ts'
import { storeWebhooks } from '../store/store-webhooks.ts'
import type { Tables } from '../store/tables.ts'
import { loadServiceProfile } from './service-profile.ts'

/** How each delivery ended: in the inbox, or why it stays in the quarantine. */
export type QuarantineRetryOutcome = Pick<QuarantinedRow, 'id' | 'receivedAt' | 'source'> & {
  outcome: string
}

/** Bodies of this many deliveries are in memory at one time. */
const pageRows = 50

/**
 * Verifies quarantined deliveries anew, by the settings as they are now and the time at which each was received. What
 * is genuine goes the way of every webhook into the inbox, and leaves the quarantine after that: run again after it
 * was cut off, it comes to the same.
 * @param ids which; null for all.
 * @throws Fault `settings_bad` where the settings of webhooks or the profile cannot be used.
 */
export async function* retryQuarantine(
  db: Database<Tables>,
  settings: Settings,
  ids: readonly bigint[] | null,
): AsyncGenerator<readonly QuarantineRetryOutcome[]> {
  const admitting = admittingOf(settings)
  const writer = createInboxWriter({
    store: async (rows) => (await storeWebhooks(db, rows)).outcomes,
    ...writerLimits,
  })
  const secrets = secretsOf(settings)
  for (let after = 0n; ; ) {
    const page = await readQuarantine(db, { ids, after, limit: pageRows })
    const last = page.at(-1)
    if (last === undefined) return
    const retried = await Promise.all(
      page.map(async (row) => {
        const { id, receivedAt, source } = row
        const admission = admitDelivery(admitting, restoreSecrets(row, secrets))
        if (admission.kind !== 'admitted')
          return {
            id,
            receivedAt,
            source,
            outcome: admission.kind === 'refused' ? admission.reason : 'not_json',
          }
        return { id, receivedAt, source, outcome: await writer.write(admission.row) }
      }),
    )
    const taken = retried.filter(({ outcome }) => isTaken(outcome))
    await dropQuarantined(
      db,
      taken.map(({ id }) => id),
    )
    yield retried
    after = last.id
  }
}

const takenOutcomes: readonly string[] = ['stored', 'duplicate', 'conflicting'] satisfies InboxOutcome[]

/** Whether a delivery is in the inbox now. */
export function isTaken(outcome: string): boolean {
  return takenOutcomes.includes(outcome)
}

function admittingOf(settings: Settings): AdmissionDeps {
  const { signing, keys } = settings.webhooks
  return {
    verify: createScheme(signing, keys),
    signing: () => signing,
    secrets: () => keys.secrets,
    readEventId: createEventIdReader(loadServiceProfile(settings)),
  }
}

/** A header that holds the secret was kept as its hash; by the secret it is recognised, and put back to be verified. */
function secretsOf({ webhooks: { signing, keys } }: Settings): string[] {
  if (signing.scheme !== 'shared-secret') return []
  return keys.secrets.map(({ text }) => signing.prefix + text)
}
