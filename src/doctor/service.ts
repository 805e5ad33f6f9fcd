import { authSettingOf, type ServiceSettings, type Settings, urlSettingOf } from '../config/settings.ts'
import { isFault, lineOf } from '../core/errors.ts'
import type { QueueEvent } from '../jobs/queue/bullmq.ts'
import { createQueue, queueLimits } from '../jobs/queue/queue.ts'
import {
  lookAtQueueSchema,
  type QueueSchemaLook,
  schemaProblem,
  schemaWarning,
} from '../jobs/queue/schema.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { createDepositClient } from '../provider/deposit-client.ts'
import type { Profile } from '../provider/profile/profile-schema.ts'
import { createServiceCall, type KeyScope, probeScope } from '../provider/service-call.ts'
import { countWallets } from '../store/books/withdrawals.ts'
import {
  adviceFor,
  examined,
  fault,
  type IsMade,
  ok,
  openExaminedDatabase,
  requestMaxMs,
  warning,
} from './finding.ts'

const keepAll =
  'on the server: redis-cli config set maxmemory-policy noeviction, and the same in its configuration'

/** Wake-ups can be sent and the server does not drop them. */
export async function queueFindings(
  { queueUrl: url }: Settings,
  isMade: IsMade,
): Promise<readonly DoctorFinding[]> {
  const check = 'queue'
  const queueFix = (problem: string) =>
    isMade('QUEUE_URL')
      ? adviceFor(problem, { setting: 'QUEUE_URL', credential: 'the user and password in QUEUE_URL' })
      : 'fix what the check database reports: without QUEUE_URL, the queue is in the database'
  const events: QueueEvent[] = []
  return examined(check, queueFix, async () => {
    try {
      const report = (event: QueueEvent) => void events.push(event)
      const schema = url.startsWith('postgres') ? schemaFinding(await lookAtQueueSchema(url)) : null
      if (schema !== null) return schema
      const queue = await createQueue({ url, name: 'depositd', limits: queueLimits, report })
      try {
        const { waiting, active } = await queue.counts()
        if (events.some(({ kind }) => kind === 'eviction_policy_unknown'))
          return warning(check, 'answers, but does not report its maxmemory-policy', keepAll)
        return ok(check, `${waiting} jobs waiting, ${active} running`)
      } finally {
        await queue.stop()
      }
    } catch (error) {
      if (!isFault(error, 'settings_bad')) throw error
      const says = lineOf(error)
      return fault(check, says, says.includes('maxmemory-policy') ? keepAll : queueFix(says))
    }
  })
}

/** Null if the queue can use the schema. */
function schemaFinding({ schema, mayMake }: QueueSchemaLook): DoctorFinding | null {
  const says = schemaProblem(schema) ?? schemaWarning(schema)
  if (says === null) return null
  if (schema.kind === 'unusable') return fault('queue', says, newerVersion)
  if (schemaProblem(schema) === null) return warning('queue', says, newerVersion)
  return mayMake
    ? warning('queue', says, 'run bin/depositd migrate; a start or a running worker also migrates')
    : fault('queue', says, 'run bin/depositd migrate with the DATABASE_URL of the owner')
}

const newerVersion = 'upgrade this depositd as well'

const serviceFix = (problem: string, { name, auth: { credential } }: ServiceSettings) =>
  problem.includes('the token file')
    ? `let the program that renews the token write it there, or correct ${authSettingOf(name)}.path`
    : adviceFor(problem, { setting: urlSettingOf(name), credential })

export async function serviceFindings({
  profile,
  ...service
}: ServiceSettings & { profile: Profile }): Promise<readonly DoctorFinding[]> {
  if (service.isPaused) return [ok('service', 'paused: it is not called, and its webhooks are applied')]
  const [found, scope] = await Promise.all([
    examined(
      'service',
      (problem) => serviceFix(problem, service),
      async () => {
        const call = createServiceCall({ ...service, timeoutMs: requestMaxMs, attemptsMax: 1 })
        const client = createDepositClient({ ...service, call }, profile)
        const page = await client.listDeposits({ mark: null, since: null })
        return ok('service', `lists deposits: ${page?.records.length ?? 0} on the first page`)
      },
    ),
    probeScope({ ...service, timeoutMs: requestMaxMs }, profile.owners.channels.create.path),
  ])
  return [...found, scope === 'refused' ? refusedFinding(service) : scopeFindings[scope]]
}

function refusedFinding({ name, auth: { credential, proof } }: ServiceSettings): DoctorFinding {
  const revoked = `${credential} is refused: wrong or revoked`
  if (proof.kind === 'token-file')
    return fault('key', revoked, 'let the program that renews the token write one of scope read')
  if (proof.kind === 'signature')
    return fault(
      'key',
      `${revoked}, or the service expects another signature`,
      `compare ${authSettingOf(name)} with the service's documentation, and the clocks of both; or create a key of scope read there`,
    )
  return fault('key', revoked, `create a key of scope read at the service, and set ${credential} to it`)
}

const scopeFindings: Record<Exclude<KeyScope, 'refused'>, DoctorFinding> = {
  read: ok('key', 'may read, not create'),
  write: warning(
    'key',
    'may read and create',
    'give the daemon a key of scope read; use this one only for channels create and wallets create',
  ),
  unasked: warning(
    'key',
    'scope unknown: the service did not answer',
    'fix what the check service reports, and try again',
  ),
  unknown: ok('key', 'scope unknown: it cannot be checked without creating something'),
}

/** Whether the balances of the StableWallets are compared with the books. Nothing if there are no wallets. */
export function walletFindings(
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
  { name, profile }: ServiceSettings & { profile: Profile },
): Promise<readonly DoctorFinding[]> {
  return examined('wallets', 'see the check of the database', async () => {
    await using db = openExaminedDatabase(databaseUrl)
    const { wallets, tied, differing } = await countWallets(db, name)
    if (wallets === 0) return []
    const { balance, withdrawals } = profile.owners.wallets
    const missing = [
      ...(balance === undefined ? ['balances, so they are not compared with the books'] : []),
      ...(withdrawals === undefined ? ['withdrawals, so people have to book them'] : []),
    ]
    if (missing.length > 0)
      return missing.map((what) => warning('wallets', `the profile names no call for ${what}`, profileFix))
    if (differing > 0)
      return warning('wallets', `${differing} of ${wallets} balances differ from the books`, differingFix)
    if (tied === 0) return ok('wallets', `${wallets} in the address book; no balance was read yet`)
    return ok('wallets', `${tied} of ${wallets} balances agree with the books`)
  })
}

const profileFix =
  'if the service has such a call, add it to owners.wallets of the profile; docs/mapping.md#balances-and-withdrawals'
const differingFix =
  'bin/depositd mismatches list --kind wallet_balance_mismatch; docs/runbook.md#wallet_balance_mismatch'
