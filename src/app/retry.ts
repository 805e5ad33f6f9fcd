import { type ServiceSettings, type Settings, webhooksSettingOf } from '../config/settings.ts'
import { Fault } from '../core/errors.ts'
import type { ServiceName } from '../core/evidence.ts'
import { type AdmissionDeps, admitDelivery } from '../intake/admit-delivery.ts'
import { restoreSecrets } from '../intake/detect/detect-scheme.ts'
import { createInboxWriter, type InboxOutcome, writerLimits } from '../intake/inbox-writer.ts'
import { createScheme } from '../intake/signature/create-scheme.ts'
import { createEventIdReader } from '../provider/read-claim.ts'
import type { Database } from '../store/database.ts'
import { dropQuarantined, type QuarantinedRow, readQuarantine, retryAlone } from '../store/quarantine.ts'
import type { Tables } from '../store/tables.ts'
import { storeWebhooks } from '../store/webhooks.ts'
import { loadServiceProfile } from './service-profile.ts'

/** A result in the inbox, or the reason why the delivery stays in the quarantine. */
export type QuarantineRetryOutcome = Pick<QuarantinedRow, 'id' | 'receivedAt' | 'source'> & {
  outcome: string
}

/** Bodies in memory at a time. */
const pageRows = 50

/**
 * Waits until no other process retries.
 * @param ids null for all
 * @throws Fault `usage_bad` for all if a service has no scheme, and `settings_bad` as `retryQuarantine` does
 */
export function retryAtOnce(
  db: Database<Tables>,
  settings: Settings,
  { ids, report = () => undefined }: { ids: readonly bigint[] | null; report?: (count: number) => void },
): Promise<QuarantineRetryOutcome[]> {
  const open = settings.services.find(({ webhooks }) => webhooks.signing.scheme === 'none')
  if (ids === null && open !== undefined) throw nothingProved(open)
  return retryAlone(db, async () => {
    const all: QuarantineRetryOutcome[] = []
    for await (const page of retryQuarantine(db, settings, ids)) {
      all.push(...page)
      report(all.length)
    }
    return all
  })
}

/** Without a signature, every delivery would pass, including forged ones. */
function nothingProved({ name }: ServiceSettings): Fault<'usage_bad'> {
  const problem = `${webhooksSettingOf(name)}.scheme is none, which would accept every delivery`
  const fix = 'set the scheme and its secret, or give the numbers of genuine deliveries'
  return new Fault('usage_bad', { problem, fix })
}

/**
 * Verifies with the current settings, as of the time of receipt. Deliveries leave the quarantine only once the inbox
 * has them, so an interrupted run can be repeated.
 * @param which null for all, or those of one service
 * @throws Fault `settings_bad` if the webhook settings or the profile cannot be used
 */
export async function* retryQuarantine(
  db: Database<Tables>,
  settings: Settings,
  which: readonly bigint[] | ServiceName | null,
): AsyncGenerator<readonly QuarantineRetryOutcome[]> {
  const chosen = typeof which === 'string' ? { ids: null, service: which } : { ids: which }
  const admitting = new Map(settings.services.map((service) => [service.name, retryOf(settings, service)]))
  const writer = createInboxWriter({
    store: async (rows) => (await storeWebhooks(db, rows)).outcomes,
    ...writerLimits,
  })
  for (let after = 0n; ; ) {
    const page = await readQuarantine(db, { ...chosen, after, limit: pageRows })
    const last = page.at(-1)
    if (last === undefined) return
    const retried = await Promise.all(
      page.map(async (row) => {
        const { id, receivedAt, source } = row
        const from = admitting.get(row.service)
        // The service is no longer in the settings.
        if (from === undefined) return { id, receivedAt, source, outcome: 'service_unknown' }
        const admission = admitDelivery(from, restoreSecrets(row, from.sent))
        const kept = admission.kind === 'refused' ? admission.reason : 'not_json'
        const outcome = admission.kind === 'admitted' ? await writer.write(admission.row) : kept
        return { id, receivedAt, source, outcome }
      }),
    )
    const taken = retried.flatMap(({ id, outcome }) => (isTaken(outcome) ? [id] : []))
    await dropQuarantined(db, taken)
    yield retried
    after = last.id
  }
}

const takenOutcomes: readonly string[] = ['stored', 'duplicate', 'conflicting'] satisfies InboxOutcome[]

export function isTaken(outcome: string): boolean {
  return takenOutcomes.includes(outcome)
}

function retryOf(settings: Settings, service: ServiceSettings): AdmissionDeps & { sent: string[] } {
  const { signing, keys } = service.webhooks
  return {
    service: service.name,
    sent: secretsSent(service),
    verify: createScheme(signing, keys),
    signing,
    secrets: keys.secrets,
    readEventId: createEventIdReader(loadServiceProfile(settings, service)),
  }
}

/** In the quarantine, a hash replaces a header that holds the secret. The header is restored before verification. */
function secretsSent({ webhooks: { signing, keys } }: ServiceSettings): string[] {
  if (signing.scheme !== 'shared-secret') return []
  return keys.secrets.map(({ text }) => signing.prefix + text)
}
